import { serverPerSuite } from '../testing/servers.js';

const realm = 'lear';
const owner = { realm, externalId: 'ann' };

let session: { readonly realm: string; readonly externalId: string } = owner;

const { server } = serverPerSuite({ authenticate: async () => session });
beforeAll(async () => {
  const { realms, users } = server.parley;
  await realms.ensure({ name: realm, title: 'King Lear', isStarted: true });
  for (const [externalId, role] of [
    ['ann', 'owner'],
    ['bob', 'member'],
    ['cid', 'owner'],
  ] as const) {
    await users.upsert({ realm, externalId, name: externalId, role });
  }
  await realms.ensure({ name: 'plain', title: 'Plain' });
  await users.upsert({ realm: 'plain', externalId: 'ann', name: 'Ann', role: 'owner' });
});

async function call(caller: typeof session, method: string, path: string, params: object = {}) {
  session = caller;
  const { body } = await server.request(method, path, { realm: caller.realm, params: { ...params } });
  return body;
}

const register = (caller: typeof session) =>
  call(caller, 'POST', '/register', {
    fetch_event_types: ['onboarding_steps', 'message', 'subscription', 'update_message_flags'],
  });
const FIRST_STEPS = { type: 'one_time_notice', name: 'first_steps' };

describe('started organization', () => {
  it('subscribes everybody to general and sandbox, which are default channels', async () => {
    for (const externalId of ['ann', 'bob', 'cid']) {
      const { subscriptions } = await call({ realm, externalId }, 'GET', '/users/me/subscriptions');
      expect(subscriptions.map(({ name }: { name: string }) => name).sort()).toEqual(['general', 'sandbox']);
    }
    const { streams } = await call(owner, 'GET', '/streams', { include_default: true });
    expect(streams).toMatchObject([{ is_default: true }, { is_default: true }]);
  });

  it('gives the first owner unread messages by the welcome bot, and no other user', async () => {
    const { unread_msgs } = await register(owner);
    expect(unread_msgs.count).toBe(4);
    expect(unread_msgs.streams.map(({ topic }: { topic: string }) => topic).sort()).toEqual(['experiments', 'welcome']);
    const { messages } = await call(owner, 'GET', '/messages', { anchor: 'newest', num_before: 10, num_after: 0 });
    expect(new Set(messages.map((message: Record<string, string>) => message.sender_full_name))).toEqual(
      new Set(['Welcome Bot']),
    );
    for (const externalId of ['bob', 'cid']) {
      expect((await register({ realm, externalId })).unread_msgs.count).toBe(0);
    }
  });

  it('offers first steps to the first owner until they are done', async () => {
    expect((await register({ realm, externalId: 'cid' })).onboarding_steps).not.toContainEqual(FIRST_STEPS);
    expect((await register(owner)).onboarding_steps).toContainEqual(FIRST_STEPS);
    await call(owner, 'POST', '/users/me/onboarding_steps', { onboarding_step: 'first_steps' });
    expect((await register(owner)).onboarding_steps).not.toContainEqual(FIRST_STEPS);
  });
});

it('an organization of the host has no channels and messages by default', async () => {
  const plain = { realm: 'plain', externalId: 'ann' };
  expect(await register(plain)).toMatchObject({ subscriptions: [], unread_msgs: { count: 0 } });
  expect((await register(plain)).onboarding_steps).not.toContainEqual(FIRST_STEPS);
});

it('rejects an isStarted that is not a boolean', async () => {
  const realms = server.parley.realms as unknown as Record<string, (realm: object) => Promise<unknown>>;
  await expect(realms.ensure!({ name: 'other', isStarted: 'yes' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});
