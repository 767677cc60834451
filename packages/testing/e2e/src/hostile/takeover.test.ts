import { membersOfDto, type Route } from '@parley/http';
import { SeededRandomness } from '@parley/testkit';
import type { ParleyProcess } from '../testing/parley-process.js';
import { type Person, TestOrganization } from '../testing/test-organization.js';
import { type Credentials, callApi } from './caller.js';
import { type Fields, nameOf, ROUTES, signsOut } from './routes.js';
import { SEED, size } from './scale.js';

const ROUNDS = size(1, 12);
const JOINS = size(100, 1000);
const ROLE_NUMBERS = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const;

/** Attempts to gain rights through bots and invitations, in random order. */
describe(`people who want more rights, with seed ${SEED}`, () => {
  let organization: TestOrganization;
  let server: ParleyProcess;
  let chance: SeededRandomness;
  let owner: Person;

  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    owner = await organization.addPerson('Desdemona', 'owner');
    server = await organization.serve();
    chance = new SeededRandomness(SEED);
  });
  afterAll(() => organization.close());

  const call = (as: Credentials | null, method: string, path: string, fields: Fields = {}) =>
    callApi(server.url, as, method, path, fields);
  const must = async (as: Credentials | null, method: string, path: string, fields: Fields = {}) => {
    const { status, body } = await call(as, method, path, fields);
    expect([method, path, status, body]).toEqual([method, path, 200, expect.objectContaining({ result: 'success' })]);
    return body;
  };
  const pick = <T>(items: readonly T[]): T => items[Math.floor(chance.fraction() * items.length)]!;

  it('get neither the key nor the administration of a bot with more rights, by any operation', async () => {
    const attackers: (Credentials & { readonly id: number; readonly role: number })[] = [];
    for (const role of ['administrator', 'moderator', 'member', 'guest'] as const) {
      const person = await organization.addPerson(`Some${role}`, role);
      attackers.push({ ...person, role: ROLE_NUMBERS[role] });
      if (role === 'guest') continue;
      const made = await must(person, 'POST', '/bots', { full_name: `Bot of ${role}`, short_name: `own${role}` });
      const { user } = await must(owner, 'GET', `/users/${made.user_id}`);
      attackers.push({ id: made.user_id, email: user.email, apiKey: made.api_key, role: ROLE_NUMBERS.member });
    }
    const [administrator] = attackers;
    const { id: secret } = await must(owner, 'POST', '/channels/create', {
      ...{ name: 'secret', subscribers: [owner.id], invite_only: true },
    });
    // Owned by an attacker, who could administer a bot with member role.
    const target = await must(administrator!, 'POST', '/bots', {
      ...{
        full_name: 'Powerful',
        short_name: 'powerful',
        bot_type: 3,
        payload_url: JSON.stringify('https://example.com/a'),
      },
    });
    const botId: number = target.user_id;
    await must(owner, 'PATCH', `/bots/${botId}`, { role: ROLE_NUMBERS.owner });
    const stateOf = async () => {
      const { user } = await must(owner, 'GET', `/users/${botId}`);
      const { realm_bots } = await must(owner, 'POST', '/register', { fetch_event_types: ['realm_bot'] });
      const { api_key } = await must(owner, 'GET', `/bots/${botId}/api_key`);
      return { user, api_key, bot: realm_bots.find(({ user_id }: { readonly user_id: number }) => user_id === botId) };
    };
    const before = await stateOf();
    const values: Readonly<Record<string, readonly unknown[]>> = {
      bot_id: [botId],
      user_id: [botId],
      user_id_or_email: [botId, before.user.email],
      email: [before.user.email],
      role: Object.values(ROLE_NUMBERS),
      bot_owner_id: attackers.map(({ id }) => id),
      full_name: ['Mine'],
      short_name: ['mine'],
      service_payload_url: ['"https://attacker.example/"'],
      service_interface: [1],
      default_sending_stream: ['secret'],
      default_events_register_stream: ['secret'],
      default_all_public_streams: [true],
      new_email: ['mine@elsinore.example'],
      actions: [{ delete_profile: true, delete_public_channel_messages: true }],
      data: [[{ id: 1, value: 'mine' }]],
      members: [[botId]],
      principals: [[botId]],
      stream_id: [secret],
      users: [[botId]],
    };
    const names = (route: Route) => [...new Set(membersOfDto(route.dto).map(({ name }) => name))];
    const isAbout = (route: Route) => /:(bot_id|user_id|user_id_or_email|email)\b/.test(route.path);
    const routes = ROUTES.filter((route) => isAbout(route) && !signsOut(route));
    expect(routes.length).toBeGreaterThan(10);
    const attempts: Promise<void>[] = [];
    const attempt = async (as: (typeof attackers)[number], route: Route) => {
      const fields: Record<string, unknown> = {};
      for (const name of names(route)) {
        const choices = values[name];
        if (choices && (chance.fraction() < 0.6 || route.path.includes(`:${name}`))) fields[name] = pick(choices);
      }
      const path = route.path.replace(/:(\w+)/g, (_, name: string) =>
        encodeURIComponent(String(pick(values[name] ?? [botId]))),
      );
      const { status, body } = await call(as, route.method, path, fields);
      expect([nameOf(route), status < 500]).toEqual([nameOf(route), true]);
      expect(JSON.stringify(body)).not.toContain(before.api_key);
    };
    for (let round = 0; round < ROUNDS; round++) {
      for (const route of routes) for (const as of attackers) attempts.push(attempt(as, route));
      await Promise.all(attempts.splice(0));
    }
    // Lists that could contain keys.
    for (const as of attackers) {
      for (const [method, path] of [
        ['GET', '/bots'],
        ['GET', '/users'],
        ['POST', '/register'],
      ] as const) {
        expect(JSON.stringify((await call(as, method, path)).body)).not.toContain(before.api_key);
      }
    }
    expect(await stateOf()).toEqual(before);
    for (const { id, role } of attackers) {
      expect([id, (await must(owner, 'GET', `/users/${id}`)).user.role]).toEqual([id, role]);
    }
    expect(server.output).not.toContain('"level":"error"');
  });

  it('cannot use an old invitation to grant roles after losing the right to do so', async () => {
    const inviter = await organization.addPerson('Inviter', 'administrator');
    const { id: secret } = await must(inviter, 'POST', '/channels/create', {
      ...{ name: 'hidden', subscribers: [inviter.id, owner.id], invite_only: true },
    });
    const setRole = (role: number) => must(owner, 'PATCH', `/users/${inviter.id}`, { role });
    const rightsOf = async () => {
      const { user } = await must(owner, 'GET', `/users/${inviter.id}`);
      const subscription = await call(owner, 'GET', `/users/${inviter.id}/subscriptions/${secret}`);
      const isSubscribed: boolean = subscription.body.is_subscribed ?? false;
      return { role: user.role as number, isActive: user.is_active as boolean, isSubscribed };
    };
    const links: { readonly key: string; readonly role: number }[] = [];
    const counts = { joined: 0, refused: 0 };
    for (let n = 0; n < JOINS; n++) {
      const what = chance.fraction();
      const now = await rightsOf();
      if (what < 0.35 && now.isActive) {
        const role = pick(Object.values(ROLE_NUMBERS));
        const fields = { invite_as: role, stream_ids: [secret] };
        const { status, body } = await call(inviter, 'POST', '/invites/multiuse', fields);
        const key = status === 200 ? new URL(body.invite_link).pathname.split('/').filter(Boolean).at(-1)! : null;
        if (key !== null) links.push({ key, role });
        expect([role, key === null || role >= now.role]).toEqual([role, true]);
      } else if (what < 0.5 && now.isActive) {
        await setRole(pick([200, 300, 400]));
      } else if (what < 0.6 && now.isActive) {
        const params = { subscriptions: ['hidden'], principals: [inviter.id] };
        if (now.isSubscribed) await must(owner, 'DELETE', '/users/me/subscriptions', params);
        else {
          await must(owner, 'POST', '/users/me/subscriptions', {
            ...{ subscriptions: [{ name: 'hidden' }], principals: [inviter.id] },
          });
        }
      } else if (what < 0.65) {
        if (now.isActive) await must(owner, 'DELETE', `/users/${inviter.id}`);
        else await must(owner, 'POST', `/users/${inviter.id}/reactivate`);
      } else if (links.length > 0) {
        const { key, role } = pick(links);
        const { status, body } = await call(null, 'POST', '/invites/accept', {
          ...{ key, email: `joiner${n}@elsinore.example`, full_name: `Joiner ${n}`, password: 'a quite long password' },
        });
        if (status === 200) counts.joined++;
        else counts.refused++;
        if (status !== 200) continue;
        const { user } = await must(owner, 'GET', `/users/${body.user_id}`);
        expect(user.role).toBe(role);
        expect(now.isActive).toBe(true);
        // By default, only administrators may create links.
        expect(now.role).toBeLessThanOrEqual(200);
        const { is_subscribed } = await must(owner, 'GET', `/users/${body.user_id}/subscriptions/${secret}`);
        expect([is_subscribed, now.isSubscribed]).toEqual([is_subscribed && now.isSubscribed, now.isSubscribed]);
      }
    }
    expect(Math.min(counts.joined, counts.refused)).toBeGreaterThan(0);
    expect(server.output).not.toContain('"level":"error"');
  });
});
