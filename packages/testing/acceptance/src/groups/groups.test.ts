import { SendGroupMembershipNotices } from '@parley/domain/writing';
import { eventsAfter, openQueue, type TestQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestPerson, TestServer, TestUser } from '../testing/test-server.js';

let system: Awaited<ReturnType<TestServer['systemGroups']>>;
const { server, people } = organizationPerTest();
beforeEach(async () => {
  system = await server.systemGroups();
});

const ids = (...users: readonly TestUser[]) => users.map(({ id }) => id);
/** Creates an empty group as Iago unless specified otherwise. */
async function create(name: string, params: object = {}, as = people.iago): Promise<number> {
  const fields = { name, description: '', members: [], ...params };
  return fieldsOf(await server.post('/user_groups/create', as, fields)).group_id;
}
const update = (as: TestUser, id: number, params: object) => server.patch(`/user_groups/${id}`, as, { ...params });
const change = (as: TestUser, id: number, params: object) =>
  server.post(`/user_groups/${id}/members`, as, { ...params });
const deactivate = (as: TestUser, id: number) => server.post(`/user_groups/${id}/deactivate`, as);
const list = async (params = {}, as = people.hamlet): Promise<Wire[]> =>
  fieldsOf(await server.get('/user_groups', as, params)).user_groups as Wire;
const groupOf = async (id: number): Promise<Wire> =>
  (await list({ include_deactivated_groups: true })).find((group) => group.id === id);
const membersOf = async (id: number, params = {}): Promise<number[]> =>
  fieldsOf(await server.get(`/user_groups/${id}/members`, people.hamlet, params)).members as Wire;
const watch = (as: TestUser, capabilities = {}): Promise<TestQueue> =>
  openQueue(server, as, {
    event_types: ['user_group'],
    client_capabilities: { notification_settings_null: true, ...capabilities },
  });
const INSUFFICIENT = 'Insufficient permission';
const UNKNOWN = 99_999;
async function inAnotherRealm(): Promise<{ user: TestUser; group: number }> {
  const realmId = await server.addRealm('other');
  const user = await server.addUser({ email: 'theirs@other.com', fullName: 'Theirs', realmId });
  const params = { name: 'theirs', description: '', members: [] };
  const created = await server.request('POST', '/user_groups/create', { as: user, params, realm: 'other' });
  return { user, group: fieldsOf(created).group_id };
}

/** Permission for 5,001 nonexistent users. */
const half = (from: number) => ({
  direct_members: Array.from({ length: 5001 }, (_, n) => 1_000_000 + from + n),
  direct_subgroups: [],
});

describe('group creation', () => {
  it('shows the full group to everyone and lets its creator manage it', async () => {
    const { hamlet, cordelia, polonius } = people;
    const queue = await watch(polonius);
    const inner = await create('inner');
    const id = await create('outer', {
      description: 'Outside',
      members: ids(cordelia, hamlet, cordelia),
      subgroups: [inner],
    });
    const creator = { direct_members: [people.iago.id], direct_subgroups: [] };
    const group = {
      id,
      name: 'outer',
      description: 'Outside',
      creator_id: people.iago.id,
      date_created: server.clock.now(),
      members: ids(hamlet, cordelia),
      direct_subgroup_ids: [inner],
      is_system_group: false,
      deactivated: false,
      can_add_members_group: creator,
      can_join_group: system.nobody,
      can_leave_group: system.everyone,
      can_manage_group: creator,
      can_mention_group: system.everyone,
      can_remove_members_group: system.nobody,
    };
    const groups = await list();
    expect(groups.at(-1)).toEqual(group);
    expect(groups.map((each) => each.id)).toEqual([...groups.map((each) => each.id)].sort((a, b) => a - b));
    expect((await eventsAfter(server, queue)).slice(1)).toEqual([
      { type: 'user_group', op: 'add', group },
      { type: 'user_group', op: 'add_subgroups', group_id: id, direct_subgroup_ids: [inner] },
    ]);
  });

  it('accepts permissions in both forms', async () => {
    const id = await create('cast', {
      can_mention_group: { direct_members: ids(people.hamlet), direct_subgroups: [] },
      can_join_group: system.members,
      can_leave_group: { direct_members: [], direct_subgroups: [system.moderators] },
      can_manage_group: { direct_members: [], direct_subgroups: [] },
    });
    expect(await groupOf(id)).toMatchObject({
      can_mention_group: { direct_members: ids(people.hamlet), direct_subgroups: [] },
      can_join_group: system.members,
      can_leave_group: system.moderators,
      can_manage_group: system.nobody,
    });
  });

  it("requires the organization's permission and rejects guests", async () => {
    fieldsOf(await server.patch('/realm', people.desdemona, { can_create_groups: { new: system.administrators } }));
    const params = { name: 'cast', description: '', members: [] };
    expectRefusal(await server.post('/user_groups/create', people.hamlet, params), INSUFFICIENT);
    for (const fields of [params, {}]) {
      expectRefusal(await server.post('/user_groups/create', people.polonius, fields), 'Not allowed for guest users');
    }
    await create('cast', {}, people.iago);
  });

  it.each<[string, (taken: number) => object, string]>([
    ['an empty name', () => ({ name: ' ' }), "User group name can't be empty!"],
    ['a long name', () => ({ name: 'x'.repeat(101) }), 'User group name cannot exceed 100 characters.'],
    ['a mention', () => ({ name: '@x' }), "User group name cannot start with '@'."],
    ['a role', () => ({ name: 'role:x' }), "User group name cannot start with 'role:'."],
    ['a channel', () => ({ name: 'channel:1' }), "User group name cannot start with 'channel:'."],
    ['a name in use', () => ({ name: 'TAKEN' }), "User group 'TAKEN' already exists."],
    ['somebody unknown', () => ({ members: [UNKNOWN] }), `Invalid user ID: ${UNKNOWN}`],
    ['an unknown subgroup', () => ({ subgroups: [UNKNOWN] }), `Invalid user group ID: ${UNKNOWN}`],
    ['a deactivated subgroup', (taken) => ({ subgroups: [taken] }), 'User group is deactivated.'],
    ['a permission for an unknown group', () => ({ can_mention_group: UNKNOWN }), 'Invalid user group'],
    [
      'permissions that together name too many users',
      () => ({ can_mention_group: half(0), can_join_group: half(5001) }),
      'Too many people in the permissions of one request: times new channels they may be 10000 at most.',
    ],
    [
      'a permission for everyone on the Internet',
      () => ({ can_mention_group: system.internet }),
      "'can_mention_group' setting cannot be set to 'role:internet' group.",
    ],
    [
      'a permission for everyone if guests are excluded',
      () => ({ can_join_group: system.everyone }),
      "'can_join_group' setting cannot be set to 'role:everyone' group.",
    ],
    [
      'a permission for an unknown user',
      () => ({ can_join_group: { direct_members: [UNKNOWN], direct_subgroups: [] } }),
      `Invalid user ID: ${UNKNOWN}`,
    ],
    ['no description', () => ({ description: undefined }), "Missing 'description' argument"],
    [
      'a long description',
      () => ({ description: 'x'.repeat(1025) }),
      'description is too long (limit: 1024 characters)',
    ],
  ])('rejects %s', async (_, params, text) => {
    const taken = await create('taken');
    fieldsOf(await deactivate(people.iago, taken));
    const fields = JSON.parse(JSON.stringify({ name: 'cast', description: '', members: [], ...params(taken) }));
    const reply = await server.post('/user_groups/create', people.iago, fields);
    expect([reply.status, reply.body.msg]).toEqual([400, text]);
    expect((await list({ include_deactivated_groups: true })).at(-1).id).toBe(taken);
  });
});

describe('group membership request', () => {
  it('changes members, notifies everyone and messages each affected human except the caller', async () => {
    const { iago, hamlet, cordelia, polonius } = people;
    const id = await create('cast');
    const queue = await watch(polonius);
    const messages = await openQueue(server, hamlet, { event_types: ['message'], apply_markdown: true });
    fieldsOf(await change(iago, id, { add: ids(hamlet, iago, cordelia, hamlet) }));
    expect(await membersOf(id)).toEqual(ids(iago, hamlet, cordelia));
    fieldsOf(await change(iago, id, { delete: ids(hamlet, iago) }));
    expect(await membersOf(id)).toEqual(ids(cordelia));
    expect(await eventsAfter(server, queue)).toEqual([
      { type: 'user_group', op: 'add_members', group_id: id, user_ids: ids(iago, hamlet, cordelia) },
      { type: 'user_group', op: 'remove_members', group_id: id, user_ids: ids(iago, hamlet) },
    ]);
    const told = (await eventsAfter(server, messages)).map(({ message }) => message);
    expect(
      told.map(({ sender_email, content }) => [sender_email.split('@')[0], content.replace(/<[^>]+>/g, '')]),
    ).toEqual([
      ['notification-bot', 'Iago added you to the group cast.'],
      ['notification-bot', 'Iago removed you from the group cast.'],
    ]);
    expect(told[0].content).toContain(`class="user-mention silent" data-user-id="${iago.id}"`);
    expect(told[0].content).toContain(`class="user-group-mention silent" data-user-group-id="${id}"`);
  });

  it('sends notifications of a large change afterwards in batches', async () => {
    const { iago } = people;
    const id = await create('crowd');
    const crowd: TestUser[] = [];
    for (let n = 0; n < 101; n++) {
      crowd.push(await server.addUser({ email: `crowd${n}@zulip.com`, fullName: `Crowd ${n}` }));
    }
    const [first, last] = [crowd[0]!, crowd.at(-1)!];
    const newest = async (user: TestUser) => {
      const narrow = [['is', 'dm']];
      const messages = await server.messagesFor(user, { narrow, num_before: 10, apply_markdown: false });
      return messages.map(({ content }: Wire) => content);
    };
    fieldsOf(await change(iago, id, { add: ids(...crowd) }));
    const tell = () => runJobs(server, server.parley.useCase(SendGroupMembershipNotices));
    const told = [`@_**Iago|${iago.id}** added you to the group @_*crowd*.`];
    expect(await newest(last)).toEqual([]);
    await tell();
    expect([await newest(first), await newest(last)]).toEqual([told, told]);
    fieldsOf(await change(iago, id, { delete: ids(...crowd) }));
    await tell();
    expect(await newest(last)).toEqual([...told, `@_**Iago|${iago.id}** removed you from the group @_*crowd*.`]);
  });

  it('adds and removes members atomically', async () => {
    const { iago, hamlet, cordelia } = people;
    const [id, inner] = [await create('cast', { members: ids(cordelia) }), await create('inner')];
    const queue = await watch(hamlet);
    const messages = await openQueue(server, hamlet, { event_types: ['message'] });
    const before = await groupOf(id);
    for (const [params, text] of [
      [{ add: ids(hamlet), delete: [UNKNOWN] }, `Invalid user ID: ${UNKNOWN}`],
      [{ add: ids(hamlet), delete: ids(iago) }, `There is no member '${iago.id}' in this user group`],
      [{ add: ids(hamlet), delete: ids(cordelia), add_subgroups: [inner, id] }, CYCLE(id)],
      [{ add: ids(hamlet), delete_subgroups: [inner] }, `User group ${inner} is not a subgroup of this group.`],
    ] as const) {
      expectRefusal(await change(iago, id, params), text);
    }
    expect(await groupOf(id)).toEqual(before);
    expect([await eventsAfter(server, queue), await eventsAfter(server, messages)]).toEqual([[], []]);
    fieldsOf(await change(iago, id, { delete: ids(cordelia), add: ids(hamlet), add_subgroups: [inner] }));
    expect((await eventsAfter(server, queue)).map(({ op }) => op)).toEqual([
      'add_members',
      'remove_members',
      'add_subgroups',
    ]);
  });

  it('updates access to channels that the group grants', async () => {
    const { iago, hamlet, cordelia } = people;
    const [id, inner] = [await create('cast'), await create('inner', { members: ids(cordelia) })];
    const params = { invite_only: true, can_add_subscribers_group: id };
    const channel = await server.createChannel('stage', [iago], params, iago);
    const queues = await Promise.all(
      [hamlet, cordelia].map((who) => openQueue(server, who, { event_types: ['stream', 'subscription'] })),
    );
    const told = [
      { type: 'stream', op: 'create' },
      { type: 'subscription', op: 'peer_add', stream_ids: [channel], user_ids: ids(iago) },
    ];
    fieldsOf(await change(iago, id, { add: ids(hamlet), add_subgroups: [inner] }));
    for (const queue of queues) expect(await eventsAfter(server, queue)).toMatchObject(told);
    fieldsOf(await change(iago, id, { delete: ids(hamlet), delete_subgroups: [inner] }));
    for (const queue of queues) {
      const after = (await eventsAfter(server, queue)).slice(2);
      expect(after).toMatchObject([{ type: 'stream', op: 'delete', stream_ids: [channel] }]);
    }
  });

  const CYCLE = (id: number) => `User group ${id} is already a subgroup of one of the passed subgroups.`;

  it('validates in the order of the contract', async () => {
    const { iago, hamlet, cordelia, polonius } = people;
    const gone = await server.addUser({ email: 'gone@zulip.com', fullName: 'Gone' });
    await server.changeUser(gone, { isActive: false });
    const other = await inAnotherRealm();
    const bot = await server.storage.uow.read(server.realmId, ({ users }) =>
      users.findSystemBot(server.realmId, 'welcome'),
    );
    const outer = await create('outer');
    const id = await create('cast', { members: ids(cordelia) });
    const unused = await create('unused');
    fieldsOf(await change(iago, outer, { add_subgroups: [id] }));
    fieldsOf(await deactivate(iago, unused));
    const nothing = 'Nothing to do. Specify at least one of "add", "delete", "add_subgroups" or "delete_subgroups".';
    const rows: [TestUser, number, object, string][] = [
      [iago, id, {}, nothing],
      [iago, UNKNOWN, { add: [], delete: [], add_subgroups: [], delete_subgroups: [] }, nothing],
      [polonius, id, {}, 'Not allowed for guest users'],
      [polonius, id, { add: ids(polonius) }, 'Not allowed for guest users'],
      [iago, UNKNOWN, { add: ids(hamlet) }, 'Invalid user group'],
      [iago, other.group, { add: ids(hamlet) }, 'Invalid user group'],
      [hamlet, id, { add: [UNKNOWN] }, INSUFFICIENT],
      [iago, id, { add: [hamlet.id, UNKNOWN, gone.id] }, `Invalid user ID: ${UNKNOWN}`],
      [iago, id, { add: [gone.id] }, `Invalid user ID: ${gone.id}`],
      [iago, id, { add: ids(other.user) }, `Invalid user ID: ${other.user.id}`],
      [iago, id, { add: [bot.id] }, `Invalid user ID: ${bot.id}`],
      [iago, id, { add: ids(hamlet, cordelia) }, `User ${cordelia.id} is already a member of this group`],
      // Deliberate: the reference server validates ids before the caller's permission.
      [hamlet, id, { delete: [UNKNOWN] }, `Invalid user ID: ${UNKNOWN}`],
      [hamlet, UNKNOWN, { delete: [UNKNOWN] }, `Invalid user ID: ${UNKNOWN}`],
      [hamlet, id, { delete: ids(cordelia) }, INSUFFICIENT],
      [iago, id, { delete: ids(hamlet) }, `There is no member '${hamlet.id}' in this user group`],
      [iago, outer, { delete: ids(cordelia) }, `There is no member '${cordelia.id}' in this user group`],
      [hamlet, id, { add_subgroups: [UNKNOWN] }, INSUFFICIENT],
      [iago, id, { add_subgroups: [UNKNOWN] }, `Invalid user group ID: ${UNKNOWN}`],
      [iago, id, { add_subgroups: [other.group] }, `Invalid user group ID: ${other.group}`],
      [iago, id, { add_subgroups: [unused] }, 'User group is deactivated.'],
      [iago, outer, { add_subgroups: [id] }, `User group ${id} is already a subgroup of this group.`],
      [iago, id, { add_subgroups: [id] }, CYCLE(id)],
      [iago, id, { add_subgroups: [outer] }, CYCLE(id)],
      [hamlet, id, { delete_subgroups: [UNKNOWN] }, INSUFFICIENT],
      [iago, id, { delete_subgroups: [UNKNOWN] }, `Invalid user group ID: ${UNKNOWN}`],
      [iago, id, { delete_subgroups: [unused] }, 'User group is deactivated.'],
      [iago, id, { delete_subgroups: [outer] }, `User group ${outer} is not a subgroup of this group.`],
    ];
    for (const [as, group, params, text] of rows) expectRefusal(await change(as, group, params), text);
    for (const name of Object.keys(system) as (keyof typeof system)[]) {
      for (const params of [{ add: ids(hamlet) }, { add_subgroups: [id] }, { delete: ids(people.desdemona) }]) {
        expectRefusal(await change(people.desdemona, system[name], params), INSUFFICIENT);
      }
    }
    expectRefusal(
      await server.post(`/user_groups/${id}/subgroups`, iago),
      'Nothing to do. Specify at least one of "add" or "delete".',
    );
    expect((await change(iago, id, { add: 'x' })).body.msg).toBe('add is not valid JSON');
    expect((await change(iago, id, { add: ['x'] })).body.msg).toBe('add[0] is not an integer');
  });

  it('changes members of a deactivated group but rejects reading them', async () => {
    const id = await create('cast');
    fieldsOf(await deactivate(people.iago, id));
    fieldsOf(await change(people.iago, id, { add: ids(people.hamlet) }));
    expectRefusal(await server.get(`/user_groups/${id}/members`, people.hamlet), 'User group is deactivated.');
    expect((await groupOf(id)).members).toEqual(ids(people.hamlet));
  });

  it('accepts bots as members and as callers', async () => {
    const helper = await server.addUser({ email: 'helper@zulip.com', fullName: 'Helper' });
    const bot = { kind: 'generic', ownerId: people.hamlet.id, isSystem: false, defaultSendingChannelId: null } as const;
    await server.changeUser(helper, { bot });
    const id = await create('cast', {}, helper);
    fieldsOf(await change(helper, id, { add: ids(helper, people.cordelia) }));
    expect(await membersOf(id)).toEqual(ids(people.cordelia, helper));
  });

  it('lists members directly and at any depth', async () => {
    const { iago, hamlet, cordelia, polonius } = people;
    const inner = await create('inner', { members: ids(hamlet) });
    const middle = await create('middle', { subgroups: [inner] });
    const outer = await create('outer', { members: ids(cordelia), subgroups: [middle] });
    expect(await membersOf(outer)).toEqual(ids(hamlet, cordelia));
    expect(await membersOf(outer, { direct_member_only: true })).toEqual(ids(cordelia));
    const isMember = async (group: number, who: TestUser, params = {}) =>
      fieldsOf(await server.get(`/user_groups/${group}/members/${who.id}`, people.shiva, params)).is_user_group_member;
    expect(await isMember(outer, hamlet)).toBe(true);
    expect(await isMember(outer, hamlet, { direct_member_only: true })).toBe(false);
    expect(await isMember(outer, iago)).toBe(false);
    expect(await isMember(system.members, iago)).toBe(true);
    expect(await isMember(system.members, iago, { direct_member_only: true })).toBe(false);
    const subgroups = async (params = {}) =>
      fieldsOf(await server.get(`/user_groups/${outer}/subgroups`, hamlet, params)).subgroups;
    expect(await subgroups()).toEqual([inner, middle]);
    expect(await subgroups({ direct_subgroup_only: true })).toEqual([middle]);

    await server.changeUser(cordelia, { isActive: false });
    expect(await membersOf(outer)).toEqual(ids(hamlet));
    const paths = [`/user_groups/${UNKNOWN}/members`, `/user_groups/${UNKNOWN}/members/${iago.id}`];
    for (const path of [...paths, `/user_groups/${UNKNOWN}/subgroups`]) {
      expectRefusal(await server.get(path, hamlet), 'Invalid user group');
      expectRefusal(await server.get(path, polonius), 'Not allowed for guest users');
    }
    expectRefusal(await server.get(`/user_groups/${outer}/members/${UNKNOWN}`, hamlet), 'No such user');
    expectRefusal(await server.get(`/user_groups/${outer}/members/${cordelia.id}`, hamlet), 'User is deactivated');
    expectRefusal(await server.get('/user_groups', polonius), 'Not allowed for guest users');
  });
});

/** Permissions on groups: group-rights.test.ts. */
describe('group permission (users §12.2)', () => {
  it('counts membership at any depth', async () => {
    const { hamlet, cordelia } = people;
    const inner = await create('inner', { members: ids(hamlet) });
    const outer = await create('outer', { subgroups: [inner] });
    const id = await create('cast', { can_manage_group: outer });
    fieldsOf(await change(hamlet, id, { add: ids(cordelia) }));
    fieldsOf(await change(people.iago, inner, { delete: ids(hamlet) }));
    expectRefusal(await change(hamlet, id, { delete: ids(cordelia) }), INSUFFICIENT);
  });
});

describe('PATCH /user_groups/{id}', () => {
  it('changes each property and notifies everyone', async () => {
    const id = await create('cast');
    const queue = await watch(people.polonius);
    fieldsOf(
      await update(people.iago, id, {
        name: ' crew ',
        description: 'Behind the stage',
        can_mention_group: { new: { direct_members: [], direct_subgroups: [system.moderators] } },
        can_join_group: { new: { direct_members: ids(people.hamlet), direct_subgroups: [] }, old: system.nobody },
      }),
    );
    const join = { direct_members: ids(people.hamlet), direct_subgroups: [] };
    expect(await groupOf(id)).toMatchObject({
      name: 'crew',
      description: 'Behind the stage',
      can_mention_group: system.moderators,
      can_join_group: join,
    });
    expect(await eventsAfter(server, queue)).toEqual(
      [
        { name: 'crew' },
        { description: 'Behind the stage' },
        { can_join_group: join },
        { can_mention_group: system.moderators },
      ].map((data) => ({ type: 'user_group', op: 'update', group_id: id, data })),
    );
  });

  it('changes nothing without differences', async () => {
    const id = await create('cast', { description: 'x' });
    const queue = await watch(people.polonius);
    fieldsOf(
      await update(people.iago, id, {
        name: 'cast',
        description: 'x',
        deactivated: true,
        can_mention_group: { new: system.everyone },
        can_manage_group: { new: { direct_members: ids(people.iago), direct_subgroups: [] } },
      }),
    );
    expect(await eventsAfter(server, queue)).toEqual([]);
    expect((await groupOf(id)).deactivated).toBe(false);
  });

  it('rejects invalid changes and changes nothing', async () => {
    const { iago, hamlet, polonius } = people;
    await create('taken');
    const id = await create('cast');
    const other = await inAnotherRealm();
    const before = await groupOf(id);
    const stale = "'old' value does not match the expected value.";
    const rows: [TestUser, number, object, string, object?][] = [
      [iago, id, {}, 'No new data supplied'],
      [iago, UNKNOWN, {}, 'No new data supplied'],
      [polonius, id, {}, 'Not allowed for guest users'],
      [iago, UNKNOWN, { name: 'x' }, 'Invalid user group'],
      [iago, other.group, { name: 'x' }, 'Invalid user group'],
      [iago, system.members, { name: 'x' }, INSUFFICIENT],
      [people.desdemona, system.members, { can_mention_group: { new: system.everyone } }, INSUFFICIENT],
      [hamlet, id, { name: '' }, INSUFFICIENT],
      [iago, id, { name: '' }, "User group name can't be empty!"],
      [iago, id, { name: 'Taken' }, "User group 'Taken' already exists."],
      [
        iago,
        id,
        { description: 'new', can_mention_group: { new: system.members, old: system.nobody } },
        stale,
        { code: 'EXPECTATION_MISMATCH' },
      ],
      [
        iago,
        id,
        { can_mention_group: { new: system.internet } },
        "'can_mention_group' setting cannot be set to 'role:internet' group.",
      ],
      [iago, id, { can_mention_group: { new: other.group } }, 'Invalid user group'],
    ];
    for (const [as, group, params, text, more] of rows) {
      expectRefusal(await update(as, group, params), text, { ...more });
    }
    expect(await groupOf(id)).toEqual(before);
    fieldsOf(await update(iago, id, { name: 'CAST' }));
  });
});

describe('group deactivation', () => {
  it('removes the group for older clients and restores it', async () => {
    const id = await create('cast', { members: ids(people.hamlet) });
    const [old, modern] = [
      await watch(people.polonius),
      await watch(people.polonius, { include_deactivated_groups: true }),
    ];
    fieldsOf(await deactivate(people.iago, id));
    expect((await list()).some((group) => group.id === id)).toBe(false);
    expect(await groupOf(id)).toMatchObject({ deactivated: true, members: ids(people.hamlet) });
    expectRefusal(await deactivate(people.iago, id), 'User group is deactivated.');
    fieldsOf(await update(people.iago, id, { name: 'gone' }));
    fieldsOf(await update(people.iago, id, { deactivated: false, description: 'back' }));
    const group = await groupOf(id);
    expect(group).toMatchObject({ deactivated: false, name: 'gone', description: 'back' });
    const all = { type: 'user_group', group_id: id };
    expect(await eventsAfter(server, modern)).toEqual([
      { ...all, op: 'update', data: { deactivated: true } },
      { ...all, op: 'update', data: { name: 'gone' } },
      { ...all, op: 'update', data: { deactivated: false } },
      { ...all, op: 'update', data: { description: 'back' } },
    ]);
    expect(await eventsAfter(server, old)).toEqual([
      { ...all, op: 'remove' },
      { type: 'user_group', op: 'add', group: { ...group, description: '' } },
      { ...all, op: 'update', data: { description: 'back' } },
    ]);
  });

  it('rejects groups in use and lists their uses', async () => {
    const { iago, desdemona } = people;
    const id = await create('cast');
    const outer = await create('outer', { subgroups: [id] });
    const managed = await create('managed', {
      can_join_group: { direct_members: ids(people.hamlet), direct_subgroups: [id] },
      can_mention_group: id,
    });
    const channel = await server.createChannel('stage', [], { can_send_message_group: id }, iago);
    fieldsOf(await server.patch('/realm', desdemona, { can_create_groups: { new: id } }));
    expectRefusal(await deactivate(iago, id), 'Cannot deactivate user group in use.', {
      code: 'CANNOT_DEACTIVATE_GROUP_IN_USE',
      objections: [
        { type: 'subgroup', supergroup_ids: [outer] },
        { type: 'channel', channel_id: channel, settings: ['can_send_message_group'] },
        { type: 'user_group', group_id: managed, settings: ['can_join_group', 'can_mention_group'] },
        { type: 'realm', settings: ['can_create_groups'] },
      ],
    });
    expectRefusal(await deactivate(desdemona, system.owners), INSUFFICIENT);
    expectRefusal(await deactivate(people.hamlet, id), INSUFFICIENT);
    expectRefusal(await deactivate(iago, UNKNOWN), 'Invalid user group');
    expectRefusal(await deactivate(people.polonius, id), 'Not allowed for guest users');
    expect((await groupOf(id)).deactivated).toBe(false);
  });

  it('keeps the name of a deactivated group reserved', async () => {
    const id = await create('cast');
    fieldsOf(await deactivate(people.iago, id));
    const params = { name: 'cast', description: '', members: [] };
    expectRefusal(await server.post('/user_groups/create', people.iago, params), "User group 'cast' already exists.");
  });
});

it.each<TestPerson>(['shiva', 'cordelia'])('%s cannot do what the group allows only its members', async (name) => {
  const id = await create('cast', { members: ids(people.hamlet) });
  for (const params of [
    { add: ids(people[name]) },
    { delete: ids(people.hamlet) },
    { add_subgroups: [system.owners] },
  ]) {
    expectRefusal(await change(people[name], id, params), INSUFFICIENT);
  }
});
