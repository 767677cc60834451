import type { Role } from '@parley/domain/access';
import { GrantSpecialPermission } from '@parley/domain/users';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, notListed, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import { basic, type TestUser } from '../testing/test-server.js';

const { server, people } = organizationPerTest();

const update = (as: TestUser, who: { id: number | string }, params: object) =>
  server.patch(`/users/${who.id}`, as, { ...params });
const shown = async (who: { id: number }): Promise<Wire> =>
  (fieldsOf(await server.get(`/users/${who.id}`, people.desdemona)) as Wire).user;
const roleOf = async (who: { id: number }): Promise<number> => (await shown(who)).role;
const userEvents = { event_types: ['realm_user', 'user_group'] };
const MUST_BE_ADMIN = 'Must be an organization administrator';
const MUST_BE_OWNER = 'Must be an organization owner';
const UNAUTHORIZED = { code: 'UNAUTHORIZED_PRINCIPAL' };

async function make(role: Role, name: string): Promise<TestUser> {
  return server.addUser({ email: `${name}@zulip.com`, fullName: name, role });
}
const makeBot = ({ user }: TestUser, owner: TestUser) =>
  server.storage.uow.write(user.realmId, (tx) =>
    tx.users.update({
      ...user,
      bot: { kind: 'generic', ownerId: owner.id, isSystem: false, defaultSendingChannelId: null },
    }),
  );

it('PATCH /users/{id} ignores a blank or unchanged name', async () => {
  const { iago, hamlet } = people;
  const queue = await openQueue(server, iago, userEvents);
  const before = await shown(hamlet);
  for (const full_name of ['', '  ', hamlet.user.fullName]) fieldsOf(await update(iago, hamlet, { full_name }));
  expect(await shown(hamlet)).toEqual(before);
  expect(await eventsAfter(server, queue)).toEqual([]);
});

describe('permission to change users', () => {
  it.each(['shiva', 'hamlet', 'polonius'] as const)('rejects %s before validating parameters', async (name) => {
    for (const params of [{ full_name: 'New Name' }, { role: 'x' }, {}]) {
      expectRefusal(await update(people[name], people[name], params), MUST_BE_ADMIN, UNAUTHORIZED);
      expectRefusal(await server.patch('/users/cordelia@zulip.com', people[name], params), MUST_BE_ADMIN, UNAUTHORIZED);
    }
    expect((await shown(people[name])).full_name).toBe(people[name].user.fullName);
  });

  it('rejects the owner of a bot', async () => {
    const helper = await make('member', 'helper');
    await makeBot(helper, people.hamlet);
    expectRefusal(await update(people.hamlet, helper, { full_name: 'Aide' }), MUST_BE_ADMIN, UNAUTHORIZED);
    fieldsOf(await update(people.iago, helper, { full_name: 'Aide', role: 300 }));
    expect(await shown(helper)).toMatchObject({ full_name: 'Aide', role: 300 });
  });

  it('finds users of the same realm only and no system bots', async () => {
    const realmId = await server.addRealm('other');
    const theirs = await server.addUser({ email: 'theirs@other.com', fullName: 'Theirs', realmId });
    const bot = await server.storage.uow.read(server.realmId, ({ users }) =>
      users.findSystemBot(server.realmId, 'welcome'),
    );
    for (const id of [theirs.id, bot.id, 99_999, -1, 'theirs@other.com', bot.email]) {
      expectRefusal(await update(people.desdemona, { id }, { role: 600 }), 'No such user');
    }
  });

  it('accepts an empty request', async () => {
    expect(fieldsOf(await update(people.iago, people.hamlet, {}))).toEqual({});
    expect(fieldsOf(await update(people.iago, people.hamlet, { nickname: 'H' }))).toEqual({
      ignored_parameters_unsupported: ['nickname'],
    });
  });
});

/** Permissions for role changes: see rank-rules.test.ts. */
describe('role (users §3.2)', () => {
  it.each([
    [500, notListed('role')],
    ['"400"', 'role is not an integer'],
    ['x', 'role is not valid JSON'],
  ])('rejects the role %j', async (role, text) => {
    const reply = await update(people.iago, people.hamlet, { role });
    expect(reply.body.msg).toBe(text);
    expect(reply.status).toBe(400);
  });

  it('must remain owner for at least one user', async () => {
    const { desdemona, iago } = people;
    const last = 'The owner permission cannot be removed from the only organization owner.';
    expectRefusal(await update(desdemona, desdemona, { role: 200 }), last);
    // Bots and deactivated owners do not count.
    const bot = await make('owner', 'bot');
    await makeBot(bot, desdemona);
    const gone = await make('owner', 'gone');
    await server.changeUser(gone, { isActive: false });
    expectRefusal(await update(desdemona, desdemona, { role: 200 }), last);
    fieldsOf(await update(desdemona, bot, { role: 400 }));
    fieldsOf(await update(desdemona, iago, { role: 100 }));
    fieldsOf(await update(desdemona, desdemona, { role: 200 }));
    expect([await roleOf(desdemona), await roleOf(iago)]).toEqual([200, 100]);
    expectRefusal(await update(iago, iago, { role: 400 }), last);
  });

  it('is published to users with access, and group changes to everyone', async () => {
    const { iago, hamlet, polonius } = people;
    const { members, fullMembers, moderators } = await server.systemGroups();
    const queues = await Promise.all([iago, hamlet, polonius].map((who) => openQueue(server, who, userEvents)));
    fieldsOf(await update(iago, hamlet, { role: 300 }));
    fieldsOf(await update(iago, hamlet, { role: 300 }));
    const told = [
      { type: 'realm_user', op: 'update', person: { user_id: hamlet.id, role: 300 } },
      { type: 'user_group', op: 'remove_members', group_id: members, user_ids: [hamlet.id] },
      { type: 'user_group', op: 'add_members', group_id: moderators, user_ids: [hamlet.id] },
      { type: 'user_group', op: 'remove_members', group_id: fullMembers, user_ids: [hamlet.id] },
    ];
    for (const queue of queues) expect(await eventsAfter(server, queue)).toEqual(told);
  });

  it('adds and removes member channels for a former guest', async () => {
    const { iago, hamlet, polonius } = people;
    const create = (name: string, params = {}) => server.createChannel(name, [hamlet], params);
    const ids = [await create('open'), await create('plaza')].sort();
    await create('secret', { invite_only: true });
    const queue = await openQueue(server, polonius, { event_types: ['stream', 'subscription'] });
    fieldsOf(await update(iago, polonius, { role: 400 }));
    const before = await eventsAfter(server, queue);
    const [created, ...more] = before;
    expect(created).toMatchObject({ type: 'stream', op: 'create' });
    expect(created.streams.map(({ stream_id }: Wire) => stream_id).sort()).toEqual(ids);
    const peers = more.slice(0, 2).sort((a, b) => a.stream_ids[0] - b.stream_ids[0]);
    expect(peers).toEqual(
      ids.map((id) => ({ type: 'subscription', op: 'peer_add', stream_ids: [id], user_ids: [hamlet.id] })),
    );
    expect(more).toHaveLength(2);
    fieldsOf(await update(iago, polonius, { role: 600 }));
    const [hidden, ...rest] = (await eventsAfter(server, queue)).slice(before.length);
    expect(hidden).toMatchObject({ type: 'stream', op: 'delete' });
    expect([...hidden.stream_ids].sort()).toEqual(ids);
    expect(rest).toEqual([]);
  });

  it('publishes users who become accessible or inaccessible to limited guests', async () => {
    const { desdemona, iago, hamlet, polonius, cordelia } = people;
    await server.limitGuests();
    await server.createChannel('den', [hamlet, polonius]);
    const queue = await openQueue(server, polonius, {
      event_types: ['realm_user'],
      client_capabilities: { notification_settings_null: true, user_list_incomplete: true },
    });
    const known = async () =>
      (fieldsOf(await server.get('/users', polonius)).members as Wire).map(({ user_id }: Wire) => user_id);
    expect(await known()).toEqual([hamlet.id, polonius.id]);
    fieldsOf(await update(iago, polonius, { role: 400 }));
    expect(await known()).toHaveLength(6);
    const gained = (await eventsAfter(server, queue)).filter(({ op }) => op === 'add');
    expect(gained.map(({ person }) => person.user_id)).toEqual(
      [desdemona, iago, people.shiva, cordelia].map(({ id }) => id),
    );
    fieldsOf(await update(iago, polonius, { role: 600 }));
    expect(await known()).toEqual([hamlet.id, polonius.id]);
    const lost = (await eventsAfter(server, queue)).filter(({ op }) => op === 'remove');
    expect(lost.map(({ person }) => person.user_id)).toEqual(
      [desdemona, iago, people.shiva, cordelia].map(({ id }) => id),
    );
    expect(lost[0].person.full_name).toBe('Unknown user');
  });

  it('publishes emails that the user can or can no longer see', async () => {
    const { iago, hamlet, cordelia, shiva } = people;
    const avatar = { source: 'gravatar', version: 1 } as const;
    await server.changeUser(cordelia, { avatar });
    fieldsOf(await server.patch('/settings', cordelia, { email_address_visibility: 5 }));
    fieldsOf(await server.patch('/settings', shiva, { email_address_visibility: 2 }));
    const queue = await openQueue(server, hamlet, { event_types: ['realm_user'] });
    const told = async () =>
      (await eventsAfter(server, queue)).map(({ person }) => person).filter(({ role }) => role === undefined);
    fieldsOf(await update(iago, hamlet, { role: 300 }));
    const seen = await told();
    expect(seen).toMatchObject([
      { user_id: cordelia.id, delivery_email: cordelia.email },
      { user_id: cordelia.id, avatar_url: expect.stringContaining('gravatar') },
    ]);
    fieldsOf(await update(iago, hamlet, { role: 600 }));
    const hidden = (await told()).slice(-3);
    expect(hidden.map(({ user_id, delivery_email }) => [user_id, delivery_email])).toEqual([
      [shiva.id, null],
      [cordelia.id, null],
      [cordelia.id, undefined],
    ]);
    expect(hidden[2].avatar_url).not.toContain('gravatar');
  });

  it('changes for deactivated users without group events', async () => {
    const { iago, hamlet, cordelia } = people;
    await server.changeUser(hamlet, { isActive: false });
    const queue = await openQueue(server, cordelia, userEvents);
    fieldsOf(await update(iago, hamlet, { role: 300, full_name: 'Ghost' }));
    expect(await eventsAfter(server, queue)).toMatchObject([
      { type: 'realm_user', person: { role: 300 } },
      { type: 'realm_user', person: { full_name: 'Ghost' } },
    ]);
    expect(await shown(hamlet)).toMatchObject({ role: 300, full_name: 'Ghost', is_active: false });
  });
});

describe('name', () => {
  it.each([
    ['a', 'Name too short!'],
    ['iago|72', 'Invalid format!'],
    ['some * body', 'Invalid characters in name!'],
    ['x'.repeat(101), 'Name too long!'],
  ])('rejects the name %j', async (full_name, text) => {
    expectRefusal(await update(people.iago, people.hamlet, { full_name, role: 300 }), text);
    expect(await shown(people.hamlet)).toMatchObject({ full_name: 'King Hamlet', role: 400 });
  });

  it('stays unchanged for blank or equal values', async () => {
    const queue = await openQueue(server, people.cordelia, userEvents);
    for (const full_name of ['   ', '', 'King Hamlet']) {
      fieldsOf(await update(people.iago, people.hamlet, { full_name }));
    }
    expect(await eventsAfter(server, queue)).toEqual([]);
    fieldsOf(await update(people.iago, people.hamlet, { full_name: ' iago|72k ' }));
    expect((await shown(people.hamlet)).full_name).toBe('iago|72k');
    expect(await eventsAfter(server, queue)).toMatchObject([{ person: { full_name: 'iago|72k' } }]);
  });

  it('must be unique if the organization requires it', async () => {
    fieldsOf(await server.patch('/realm', people.desdemona, { require_unique_names: true }));
    const { iago, hamlet } = people;
    expectRefusal(
      await update(iago, hamlet, { full_name: 'Ｐolonius' }),
      'Unique names required in this organization.',
    );
    fieldsOf(await update(iago, hamlet, { full_name: 'KING hamlet' }));
  });
});

describe('email', () => {
  const grant = () =>
    server.parley.useCase(GrantSpecialPermission).execute({
      realmId: server.realmId,
      email: people.desdemona.email,
      permission: 'canChangeUserEmails',
    });
  const showGravatar = () =>
    server.storage.uow.write(people.hamlet.user.realmId, (tx) =>
      tx.users.update({ ...people.hamlet.user, avatar: { source: 'gravatar', version: 1 } }),
    );
  const move = (new_email: string, as = people.desdemona) => update(as, people.hamlet, { new_email });

  it('requires an owner with operator permission (decision 8)', async () => {
    expectRefusal(await move('prince@zulip.com', people.iago), MUST_BE_OWNER, UNAUTHORIZED);
    expectRefusal(await move('prince@zulip.com'), 'User not authorized to change user emails');
    await grant();
    expectRefusal(await move('prince@zulip.com', people.iago), MUST_BE_OWNER, UNAUTHORIZED);
    fieldsOf(await move(' prince@zulip.com '));
    expect((await shown(people.hamlet)).delivery_email).toBe('prince@zulip.com');
  });

  it.each([
    ['prince', 'Invalid new email address.'],
    ['CORDELIA@zulip.com', 'New email value error: Already has an account.'],
    ['gone@zulip.com', 'New email value error: Account has been deactivated.'],
  ])('rejects the email %j', async (new_email, text) => {
    await grant();
    const gone = await make('member', 'gone');
    await server.changeUser(gone, { isActive: false });
    expectRefusal(await move(new_email), text);
  });

  it('stays unchanged for equal values', async () => {
    await grant();
    const queue = await openQueue(server, people.cordelia, userEvents);
    fieldsOf(await move('hamlet@zulip.com'));
    expect(await eventsAfter(server, queue)).toEqual([]);
    fieldsOf(await move('HAMLET@zulip.com'));
    expect(await eventsAfter(server, queue)).toHaveLength(2);
  });

  it('applies immediately to fetching API keys', async () => {
    await grant();
    const { hamlet } = people;
    fieldsOf(await server.get('/users/me', hamlet));
    fieldsOf(await move('prince@zulip.com'));
    expect((await server.get('/users/me', hamlet)).status).toBe(401);
    const Authorization = basic({ ...hamlet, email: 'prince@zulip.com' });
    fieldsOf(await server.request('GET', '/users/me', { headers: { Authorization } }));
  });

  it('is published to users who can see it, and to everyone if the dummy email equals it', async () => {
    await grant();
    await showGravatar();
    const { iago, hamlet, cordelia } = people;
    const queue = await openQueue(server, cordelia, userEvents);
    fieldsOf(await move('prince@zulip.com'));
    expect(await eventsAfter(server, queue)).toMatchObject([
      { person: { user_id: hamlet.id, delivery_email: 'prince@zulip.com' } },
      { person: { user_id: hamlet.id, new_email: 'prince@zulip.com' } },
      { person: { user_id: hamlet.id, avatar_source: 'G', avatar_url: expect.stringContaining('gravatar') } },
    ]);
    fieldsOf(
      await server.patch('/settings', { ...hamlet, email: 'prince@zulip.com' }, { email_address_visibility: 3 }),
    );
    const queues = [await openQueue(server, cordelia, userEvents), await openQueue(server, iago, userEvents)];
    fieldsOf(await move('king@zulip.com'));
    expect(await eventsAfter(server, queues[0]!)).toEqual([]);
    expect((await eventsAfter(server, queues[1]!)).map(({ person }) => Object.keys(person).sort())).toEqual([
      ['delivery_email', 'user_id'],
      ['avatar_source', 'avatar_url', 'avatar_url_medium', 'avatar_version', 'user_id'],
    ]);
  });
});

describe('PATCH /users/{email}', () => {
  it('finds users by visible email, ignoring case, and by dummy email', async () => {
    const { iago, hamlet, desdemona } = people;
    fieldsOf(await server.patch('/settings', hamlet, { email_address_visibility: 3 }));
    fieldsOf(await server.patch('/users/HAMLET@zulip.com', iago, { role: 300 }));
    expect(await roleOf(hamlet)).toBe(300);
    fieldsOf(await server.patch(`/users/user${hamlet.id}@parley.invalid`, iago, { role: 400 }));
    expect(await roleOf(hamlet)).toBe(400);
    fieldsOf(await server.patch('/settings', hamlet, { email_address_visibility: 4 }));
    expectRefusal(await server.patch('/users/hamlet@zulip.com', desdemona, { role: 300 }), 'No such user');
  });
});
