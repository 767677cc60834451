import type { SystemGroupName } from '@parley/domain/access';
import type { Channel } from '@parley/domain/channels';
import type { GroupId } from '@parley/domain/kernel';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { ChannelParams, TestUser } from '../testing/test-server.js';

let system: Readonly<Record<SystemGroupName, GroupId>>;
const { server, people } = organizationPerTest();
beforeEach(async () => {
  system = await server.systemGroups();
});

const create = (params: object, as: TestUser = people.hamlet) =>
  server.post('/channels/create', as, { subscribers: [], ...params });
const created = ({ name, ...params }: ChannelParams, as: TestUser = people.hamlet) =>
  server.createChannel(name, [], params, as);
const list = async (as: TestUser, params = {}): Promise<Wire[]> =>
  fieldsOf(await server.get('/streams', as, params)).streams as Wire;
const namesOf = (channels: Wire[]): string[] => channels.map(({ name }) => name);
const one = async (name: string, as: TestUser = people.desdemona): Promise<Wire> =>
  (await list(as, { include_all: true, exclude_archived: false })).find((channel) => channel.name === name);
const change = (name: string, changes: Partial<Channel>) => server.changeChannel(name, changes);

describe('GET /streams', () => {
  beforeEach(async () => {
    const { hamlet, polonius, desdemona } = people;
    await server.changeRealm({ settings: { enableSpectatorAccess: true } });
    await created({ name: 'public', subscribers: [hamlet.id] });
    await created({ name: 'followed by a guest', subscribers: [polonius.id] });
    await created({ name: 'private', subscribers: [hamlet.id], invite_only: true });
    await created({ name: 'web', is_web_public: true }, desdemona);
    await created({ name: 'default', is_default_stream: true }, desdemona);
    await created({ name: 'archived', subscribers: [hamlet.id] });
    await change('archived', { isArchived: true });
  });

  it.each`
    who            | params                                                  | names
    ${'hamlet'}    | ${{}}                                                   | ${'default, followed by a guest, private, public, web'}
    ${'cordelia'}  | ${{}}                                                   | ${'default, followed by a guest, public, web'}
    ${'cordelia'}  | ${{ include_public: false }}                            | ${''}
    ${'cordelia'}  | ${{ include_public: false, include_web_public: true }}  | ${'web'}
    ${'cordelia'}  | ${{ include_public: false, include_default: true }}     | ${'default'}
    ${'hamlet'}    | ${{ include_public: false }}                            | ${'private, public'}
    ${'hamlet'}    | ${{ include_public: false, include_subscribed: false }} | ${''}
    ${'hamlet'}    | ${{ exclude_archived: false }}                          | ${'archived, default, followed by a guest, private, public, web'}
    ${'polonius'}  | ${{}}                                                   | ${'followed by a guest'}
    ${'polonius'}  | ${{ include_web_public: true }}                         | ${'followed by a guest, web'}
    ${'polonius'}  | ${{ include_all: true }}                                | ${'followed by a guest, web'}
    ${'polonius'}  | ${{ include_default: true }}                            | ${'followed by a guest'}
    ${'cordelia'}  | ${{ include_all: true }}                                | ${'default, followed by a guest, public, web'}
    ${'desdemona'} | ${{ include_all: true }}                                | ${'default, followed by a guest, private, public, web'}
    ${'desdemona'} | ${{ include_can_access_content: true }}                 | ${'default, followed by a guest, public, web'}
    ${'iago'}      | ${{ include_all_active: true }}                         | ${'default, followed by a guest, private, public, web'}
  `('returns to $who with $params: $names', async ({ who, params, names }) => {
    expect(namesOf(await list(people[who as keyof typeof people], params)).join(', ')).toBe(names);
  });

  it('marks default channels only on request', async () => {
    for (const channel of await list(people.hamlet)) expect(channel).not.toHaveProperty('is_default');
    const marked = await list(people.hamlet, { include_default: true });
    expect(marked.filter(({ is_default }) => is_default).map(({ name }) => name)).toEqual(['default']);
    expect(marked.every(({ is_default }) => typeof is_default === 'boolean')).toBe(true);
  });

  it("adds the owner's subscriptions for a bot", async () => {
    const { hamlet } = people;
    const bot = await server.addUser({ email: 'helper@zulip.com', fullName: 'Helper' });
    await server.storage.uow.write(bot.user.realmId, (tx) =>
      tx.users.update({
        ...bot.user,
        bot: { kind: 'generic', ownerId: hamlet.id, isSystem: false, defaultSendingChannelId: null },
      }),
    );
    const params = { include_public: false, include_owner_subscribed: true, include_subscribed: false };
    expect(namesOf(await list(bot, params))).toEqual(['private', 'public']);
    expect(namesOf(await list(hamlet, params))).toEqual([]);
  });

  it('rejects unreadable and forbidden parameters', async () => {
    const refused = async (params: object, msg: string, more = {}) =>
      expectRefusal(await server.get('/streams', people.hamlet, { ...params }), msg, more);
    await refused({ include_public: 'maybe', include_default: 1 }, 'include_public is not valid JSON');
    await refused({ include_default: 1 }, 'include_default is not a boolean');
    await refused({ include_all_active: true }, 'Must be an organization administrator', {
      code: 'UNAUTHORIZED_PRINCIPAL',
    });
  });
});

describe('POST /channels/create', () => {
  it('creates a channel with given properties and defaults', async () => {
    const { hamlet, cordelia } = people;
    const id = await created({
      name: '  lunch  ',
      description: 'a\nb',
      subscribers: [cordelia.id],
      can_subscribe_group: { direct_members: [], direct_subgroups: [system.moderators] },
      can_send_message_group: { direct_members: [cordelia.id, hamlet.id], direct_subgroups: [] },
    });
    expect(await one('lunch')).toEqual({
      stream_id: id,
      name: 'lunch',
      is_archived: false,
      description: 'a b',
      rendered_description: '<p>a b</p>',
      date_created: server.clock.now(),
      creator_id: hamlet.id,
      invite_only: false,
      is_web_public: false,
      history_public_to_subscribers: true,
      stream_post_policy: 1,
      is_announcement_only: false,
      message_retention_days: null,
      topics_policy: 'inherit',
      first_message_id: expect.any(Number),
      folder_id: null,
      is_recently_active: true,
      can_add_subscribers_group: system.nobody,
      can_administer_channel_group: { direct_members: [hamlet.id], direct_subgroups: [] },
      can_create_topic_group: system.everyone,
      can_delete_any_message_group: system.nobody,
      can_delete_own_message_group: system.nobody,
      can_move_messages_out_of_channel_group: system.nobody,
      can_move_messages_within_channel_group: system.nobody,
      can_remove_subscribers_group: system.administrators,
      can_resolve_topics_group: system.nobody,
      can_send_message_group: { direct_members: [hamlet.id, cordelia.id], direct_subgroups: [] },
      can_subscribe_group: system.moderators,
      subscriber_count: 1,
      stream_weekly_traffic: null,
    });
  });

  it('renders formulas in the description and in the creation notice', async () => {
    const id = await created({ name: 'maths', description: 'of $$x$$', subscribers: [people.hamlet.id] });
    expect((await one('maths')).rendered_description).toMatch(/^<p>of <span class="katex">/);
    const narrow = [{ operator: 'channel', operand: id }];
    const page = { anchor: 'newest', num_before: 1, num_after: 0, narrow };
    const { messages } = (await server.get('/messages', people.hamlet, page)).body;
    expect(messages[0].content).toMatch(/<p>of <span class="katex">/);
  });

  it('accepts both forms of an empty list', async () => {
    await created({ name: 'x', can_subscribe_group: { direct_members: [], direct_subgroups: [] } });
    expect((await one('x')).can_subscribe_group).toBe(system.nobody);
  });

  it.each`
    params                                                               | expected
    ${{ invite_only: true }}                                             | ${{ invite_only: true, history_public_to_subscribers: false }}
    ${{ invite_only: true, history_public_to_subscribers: true }}        | ${{ invite_only: true, history_public_to_subscribers: true }}
    ${{ history_public_to_subscribers: false }}                          | ${{ invite_only: false, history_public_to_subscribers: true }}
    ${{ topics_policy: '"empty_topic_only"' }}                           | ${{ topics_policy: 'empty_topic_only' }}
    ${{ message_retention_days: 30 }}                                    | ${{ message_retention_days: 30 }}
    ${{ message_retention_days: 'unlimited' }}                           | ${{ message_retention_days: -1 }}
    ${{ message_retention_days: 'realm_default', folder_id: null }}      | ${{ message_retention_days: null }}
    ${{ is_default_stream: true, send_new_subscription_messages: true }} | ${{ subscriber_count: 0 }}
  `('creates a channel from $params with $expected', async ({ params, expected }) => {
    await created({ name: 'x', ...params }, people.desdemona);
    expect(await one('x')).toMatchObject(expected);
  });

  it('creates a channel without an announcement', async () => {
    expect(fieldsOf(await create({ name: 'x', announce: true }))).toEqual({ id: expect.any(Number) });
  });

  describe('rejected channel request', () => {
    const refused = async (params: object, msg: string, more: object = {}, as?: TestUser) => {
      const { commits } = server.storage;
      expectRefusal(await create({ name: 'x', ...params }, as), msg, { ...more });
      expect(server.storage.commits).toBe(commits);
    };
    const owner = { code: 'UNAUTHORIZED_PRINCIPAL' };

    it('precedes parameter validation for guests', async () => {
      const reply = await server.post('/channels/create', people.polonius);
      expectRefusal(reply, 'Not allowed for guest users');
    });

    it('reports invalid and taken names', async () => {
      await created({ name: 'Basketball' });
      await change('Basketball', { isArchived: true });
      const missing = await server.post('/channels/create', people.hamlet, { subscribers: [] });
      expectRefusal(missing, "Missing 'name' argument", { code: 'REQUEST_VARIABLE_MISSING', var_name: 'name' });
      await refused({ name: '  ' }, 'name cannot be blank');
      await refused({ name: 'n'.repeat(61) }, 'Channel name too long (limit: 60 characters).');
      await refused({ name: 'ab\u0007c' }, 'Invalid character in channel name, at position 3.');
      await refused({ name: 'basketball' }, "Channel 'basketball' already exists", {
        status: 409,
        code: 'CHANNEL_ALREADY_EXISTS',
        channel_name: 'basketball',
      });
    });

    it('reports invalid combinations in the order of the contract', async () => {
      await refused({ folder_id: 7, message_retention_days: 5 }, 'Invalid channel folder ID');
      for (const bad of [0, 'sometimes']) {
        await refused(
          { message_retention_days: bad, topics_policy: 'disable_empty_topic' },
          `Bad value for 'message_retention_days': ${bad}`,
          { code: 'REQUEST_VARIABLE_INVALID', var_name: 'message_retention_days', bad_value: bad },
        );
      }
      await refused({ topics_policy: 'sometimes' }, 'Invalid topics_policy');
      await refused({ invite_only: true, is_web_public: true }, 'Invalid parameters');
      await refused({ is_default_stream: true }, 'Insufficient permission');
      await refused(
        { is_default_stream: true, invite_only: true },
        'A default channel cannot be private.',
        {},
        people.iago,
      );
      await refused({ is_web_public: true }, 'Web-public channels are not enabled.', {}, people.desdemona);
      await server.changeRealm({ settings: { enableSpectatorAccess: true } });
      await refused({ is_web_public: true }, 'Insufficient permission');
      await refused({ message_retention_days: 5 }, 'Must be an organization owner', owner, people.iago);
      await server.changeRealm({
        permissions: { canCreatePublicChannel: system.nobody, canCreatePrivateChannel: system.nobody },
      });
      await refused({}, 'Insufficient permission', {}, people.desdemona);
      await refused({ invite_only: true }, 'Insufficient permission', {}, people.desdemona);
    });

    it('reports invalid permissions', async () => {
      const combination = 'history_public_to_subscribers, can_create_topic_group';
      await refused(
        { invite_only: true, can_create_topic_group: system.moderators },
        `Unsupported parameter combination: ${combination}`,
        { parameters: combination },
      );
      expect((await create({ name: 'fine', invite_only: true, can_create_topic_group: system.everyone })).status).toBe(
        200,
      );
      await refused({ can_subscribe_group: 99_999 }, 'Invalid user group');
      await refused(
        { can_subscribe_group: system.everyone },
        "'can_subscribe_group' setting cannot be set to 'role:everyone' group.",
      );
      await refused(
        { can_subscribe_group: { direct_members: [99_999], direct_subgroups: [] } },
        'Invalid user ID: 99999',
      );
      await refused(
        { can_subscribe_group: { direct_members: [], direct_subgroups: [system.everyone, 99_999] } },
        'Invalid user group ID: 99999',
      );
      await refused({ can_delete_any_message_group: system.administrators }, 'Insufficient permission');
    });

    it('reports invalid subscribers', async () => {
      await refused({ subscribers: [99_999] }, 'No such user');
      await server.storage.uow.write(people.cordelia.user.realmId, (tx) =>
        tx.users.update({ ...people.cordelia.user, isActive: false }),
      );
      await refused({ subscribers: [people.cordelia.id] }, 'User is deactivated');
      await refused({ subscribers: ['hamlet@zulip.com'] }, 'subscribers[0] is not an integer');
    });
  });
});

describe('GET /get_stream_id', () => {
  const find = (stream: string, as: TestUser = people.hamlet) => server.get('/get_stream_id', as, { stream });

  it('finds a channel by name, ignoring case', async () => {
    const id = await created({ name: 'Lunch' });
    expect(fieldsOf(await find(' lunch '))).toEqual({ stream_id: id });
  });

  it('does not find hidden, archived or unknown channels', async () => {
    await created({ name: 'secret', invite_only: true, subscribers: [people.hamlet.id] });
    await created({ name: 'old' });
    await change('old', { isArchived: true });
    for (const [name, who] of [
      ['nowhere', people.hamlet],
      ['old', people.hamlet],
      ['secret', people.cordelia],
      ['secret', people.desdemona],
      ['secret', people.polonius],
    ] as const) {
      expectRefusal(await find(name, who), `Invalid channel name '${name}'`);
    }
    expect((await find('secret')).status).toBe(200);
    expectRefusal(await server.get('/get_stream_id', people.hamlet), "Missing 'stream' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'stream',
    });
  });
});

describe('GET /users/me/{stream_id}/topics', () => {
  const topics = (id: number, as: TestUser = people.hamlet, params = {}) =>
    server.get(`/users/me/${id}/topics`, as, params);
  const say = (to: string, topic: string) => server.sendMessage(people.hamlet, to, { topic });

  it('lists topics newest first in their latest spelling', async () => {
    const id = await created({ name: 'lunch', subscribers: [people.hamlet.id] });
    await say('lunch', 'Foo');
    const [empty, foo] = [await say('lunch', ''), await say('lunch', 'foo')];
    const named = fieldsOf(await topics(id)).topics;
    expect(named.slice(0, 2)).toEqual([
      { name: 'foo', max_id: foo },
      { name: 'general chat', max_id: empty },
    ]);
    expect(named.map(({ name }: Wire) => name)).not.toContain('Foo');
    const nameless = (await topics(id, people.hamlet, { allow_empty_topic_name: true })).body.topics;
    expect(nameless[1].name).toBe('');
  });

  it('requires read access to the channel', async () => {
    const open = await created({ name: 'open' });
    const secret = await created({ name: 'secret', invite_only: true, subscribers: [people.hamlet.id] });
    for (const [id, who] of [
      [99_999, people.hamlet],
      [open, people.polonius],
      [secret, people.cordelia],
      [secret, people.desdemona],
    ] as const) {
      expectRefusal(await topics(id, who), 'Invalid channel ID');
    }
    await change('open', { isArchived: true });
    expect((await topics(open, people.cordelia)).status).toBe(200);
    expectRefusal(
      await topics(open, people.hamlet, { allow_empty_topic_name: 'x' }),
      'allow_empty_topic_name is not valid JSON',
    );
    expect((await server.get(`/users/me/${open}/topics`, null)).status).toBe(401);
  });

  it('lists only received topics of a protected history', async () => {
    const params = { name: 'secret', invite_only: true, subscribers: [people.hamlet.id] };
    const id = await created(params);
    await say('secret', 'before');
    await server.post('/users/me/subscriptions', people.hamlet, {
      subscriptions: [{ name: 'secret' }],
      principals: [people.cordelia.id],
    });
    const after = await say('secret', 'after');
    expect((await topics(id, people.cordelia)).body.topics).toEqual([{ name: 'after', max_id: after }]);
  });
});
