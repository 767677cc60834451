import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import { basic, type TestUser } from '../testing/test-server.js';

const ALWAYS = [
  'idle_queue_timeout_secs',
  'last_event_id',
  'queue_id',
  'zulip_feature_level',
  'zulip_merge_base',
  'zulip_version',
];

describe('POST /register', () => {
  const { server, people } = organizationPerTest();

  const register = (params: object = {}, as: TestUser = people.hamlet, headers = {}) =>
    server.request('POST', '/register', { as, params: { ...params }, headers });
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect by their assertions.
  const registered = async (...call: Parameters<typeof register>): Promise<any> => fieldsOf(await register(...call));
  const channel = (name: string, subscribers: readonly TestUser[], params = {}) =>
    server.createChannel(name, subscribers, params, people.iago);
  const send = (as: TestUser, params: object) => server.post('/messages', as, { topic: 't', content: 'c', ...params });

  describe('event queue', () => {
    it('creates a new queue with last_event_id -1 each time', async () => {
      const [one, two] = [await registered(), await registered()];
      expect(one.queue_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(two.queue_id).not.toBe(one.queue_id);
      expect([one.last_event_id, two.last_event_id]).toEqual([-1, -1]);
    });

    it.each([
      [undefined, 600],
      ['"mobile"', 43_200],
      [120, 120],
      [9_999_999, 604_800],
    ])(
      'gives a queue requested with lifespan %s a lifetime of %d seconds without polls',
      async (idle_queue_timeout, seconds) => {
        const params = idle_queue_timeout === undefined ? {} : { idle_queue_timeout };
        expect((await registered(params)).idle_queue_timeout_secs).toBe(seconds);
      },
    );
  });

  describe('response', () => {
    it('contains only the requested fields and the constant fields', async () => {
      const fields = await registered({ fetch_event_types: ['message'] });
      expect(Object.keys(fields).sort()).toEqual([...ALWAYS, 'max_message_id'].sort());
    });

    it('contains each field once', async () => {
      const params = new URLSearchParams({ include_subscribers: 'true' });
      const { host } = new URL(server.url);
      const headers = { Host: host, Authorization: basic(people.hamlet), 'User-Agent': 'ZulipTerminal/0.7.0 (Linux)' };
      const reply = await fetch(`http://localhost:${server.port}/api/v1/register`, {
        method: 'POST',
        body: params,
        headers,
      });
      const text = (await reply.text()).trim();
      // Parsing would drop duplicate names.
      expect(JSON.stringify(JSON.parse(text))).toBe(text);
    });

    it('uses event_types as the default of fetch_event_types', async () => {
      const fields = await registered({ event_types: ['starred_messages', 'no_such_type'] });
      expect(Object.keys(fields).sort()).toEqual([...ALWAYS, 'starred_messages'].sort());
    });

    it('contains only constant fields for an empty list of types', async () => {
      expect(Object.keys(await registered({ event_types: [] })).sort()).toEqual(ALWAYS);
    });

    it('contains unread messages only for subscribers of message and flag events', async () => {
      expect(await registered({ fetch_event_types: ['message'] })).not.toHaveProperty('unread_msgs');
      const types = ['message', 'update_message_flags'];
      expect(await registered({ fetch_event_types: types })).toHaveProperty('unread_msgs');
    });

    it('contains the older list of muted topics only for clients without user_topic events', async () => {
      expect(await registered({ fetch_event_types: ['muted_topics'] })).toMatchObject({ muted_topics: [] });
      const both = await registered({ fetch_event_types: ['muted_topics', 'user_topic'] });
      expect(both).toMatchObject({ user_topics: [] });
      expect(both).not.toHaveProperty('muted_topics');
    });

    it('contains the legacy settings of the terminal client at the top level', async () => {
      const params = { fetch_event_types: ['user_settings'] };
      const terminal = { 'User-Agent': 'ZulipTerminal/0.7.0' };
      expect(await registered(params, people.hamlet, terminal)).toHaveProperty('twenty_four_hour_time', false);
      expect(await registered(params)).not.toHaveProperty('twenty_four_hour_time');
    });

    it('lists users without is_active and cross-realm bots separately', async () => {
      const { realm_users, realm_non_active_users, cross_realm_bots, ...own } = await registered({
        fetch_event_types: ['realm_user'],
      });
      expect(realm_users.map((user: { user_id: number }) => user.user_id)).toContain(people.iago.id);
      expect(realm_users[0]).not.toHaveProperty('is_active');
      expect(realm_non_active_users).toEqual([]);
      expect(cross_realm_bots[0]).toMatchObject({ is_system_bot: true, is_active: true });
      expect(own).toMatchObject({ user_id: people.hamlet.id, is_owner: false, is_admin: false, is_moderator: false });
    });

    it('contains role-dependent fields', async () => {
      const own = (as: TestUser) => registered({ fetch_event_types: ['realm_user'] }, as);
      expect(await own(people.desdemona)).toMatchObject({ is_owner: true, is_admin: true, is_moderator: true });
      expect(await own(people.polonius)).toMatchObject({ is_guest: true, can_create_streams: false });
    });

    it('contains the eight system groups, each including the next smaller group', async () => {
      const { realm_user_groups: groups } = await registered({ fetch_event_types: ['realm_user_groups'] });
      expect(groups.map((group: { name: string }) => group.name)).toEqual([
        'role:nobody',
        'role:owners',
        'role:administrators',
        'role:moderators',
        'role:fullmembers',
        'role:members',
        'role:everyone',
        'role:internet',
      ]);
      expect(groups[2].direct_subgroup_ids).toEqual([groups[1].id]);
      expect(groups[1].members).toEqual([people.desdemona.id]);
    });
  });

  describe('channels section', () => {
    const lists = (as: TestUser, more = {}) =>
      registered({ fetch_event_types: ['subscription'], include_subscribers: 'true', ...more }, as);
    const names = (channels: { name: string }[]) => channels.map(({ name }) => name);

    it('splits into subscribed, unsubscribed and never subscribed channels', async () => {
      await channel('b followed', [people.hamlet]);
      await channel('a followed', [people.hamlet]);
      await channel('left', [people.hamlet]);
      await channel('never', [people.cordelia]);
      await channel('hidden', [people.cordelia], { invite_only: true });
      await server.delete('/users/me/subscriptions', people.hamlet, { subscriptions: ['left'] });
      const mine = await lists(people.hamlet);
      expect(names(mine.subscriptions)).toEqual(['a followed', 'b followed']);
      expect(names(mine.unsubscribed)).toEqual(['left']);
      expect(names(mine.never_subscribed)).toEqual(['never']);
      expect(mine.never_subscribed[0]).toMatchObject({ subscribers: [people.cordelia.id] });
      expect(mine.never_subscribed[0]).not.toHaveProperty('color');
      expect(names((await lists(people.iago)).never_subscribed)).toContain('hidden');
      expect((await lists(people.polonius)).never_subscribed).toEqual([]);
    });

    it('contains inherited settings for clients without inheritance', async () => {
      await channel('general', [people.hamlet]);
      const [old] = (await lists(people.hamlet)).subscriptions;
      expect(old).toMatchObject({ push_notifications: false, wildcard_mentions_notify: true });
      const [modern] = (await lists(people.hamlet, { client_capabilities: { notification_settings_null: true } }))
        .subscriptions;
      expect(modern).toMatchObject({ push_notifications: null, wildcard_mentions_notify: null });
    });
  });

  it('groups unread messages by sender, direct group and topic', async () => {
    const { hamlet, cordelia, iago } = people;
    const id = await channel('general', [hamlet, cordelia]);
    await server.post('/mark_all_as_read', hamlet, {});
    const ids: number[] = [];
    const note = async (reply: ReturnType<typeof send>) => ids.push(fieldsOf(await reply).id! as number);
    await note(send(cordelia, { type: 'channel', to: 'general', topic: 'b' }));
    await note(send(cordelia, { type: 'channel', to: 'general', topic: '' }));
    await note(send(cordelia, { type: 'channel', to: 'general', topic: 'B', content: 'hi @**King Hamlet**' }));
    await note(send(cordelia, { type: 'direct', to: [hamlet.id] }));
    await note(send(iago, { type: 'direct', to: [hamlet.id, cordelia.id] }));
    await note(send(hamlet, { type: 'direct', to: [hamlet.id] }));
    const [b1, empty, b2, pair, group, self] = ids as [number, number, number, number, number, number];

    const { unread_msgs } = await registered({ fetch_event_types: ['message', 'update_message_flags'] });
    expect(unread_msgs).toEqual({
      count: 6,
      pms: [
        { other_user_id: hamlet.id, sender_id: hamlet.id, unread_message_ids: [self] },
        { other_user_id: cordelia.id, sender_id: cordelia.id, unread_message_ids: [pair] },
      ].sort((a, b) => a.other_user_id - b.other_user_id),
      streams: [
        { stream_id: id, topic: 'b', unread_message_ids: [b1, b2] },
        { stream_id: id, topic: 'general chat', unread_message_ids: [empty] },
      ],
      huddles: [
        {
          user_ids_string: [hamlet.id, cordelia.id, iago.id].sort((a, b) => a - b).join(','),
          unread_message_ids: [group],
        },
      ],
      mentions: [b2],
      old_unreads_missing: false,
    });
    const { recent_private_conversations: recent } = await registered({
      fetch_event_types: ['recent_private_conversations'],
    });
    expect(recent).toEqual([
      { user_ids: [], max_message_id: self },
      { user_ids: [cordelia.id, iago.id].sort((a, b) => a - b), max_message_id: group },
      { user_ids: [cordelia.id], max_message_id: pair },
    ]);
  });

  it('counts unread messages of archived channels only for clients that support archived channels', async () => {
    const { hamlet, cordelia } = people;
    const id = await channel('general', [hamlet, cordelia]);
    const old = await channel('old', [hamlet, cordelia]);
    await server.post('/mark_all_as_read', hamlet, {});
    const mention = (to: string) => server.sendMessage(cordelia, to, { topic: 't', content: 'hi @**King Hamlet**' });
    const [kept, hidden] = [await mention('general'), await mention('old')];
    fieldsOf(await server.delete(`/streams/${old}`, people.iago));
    const unreadWith = async (archived_channels: boolean) =>
      (await registered({ client_capabilities: { notification_settings_null: true, archived_channels } })).unread_msgs;
    const inGeneral = { stream_id: id, topic: 't', unread_message_ids: [kept] };
    expect(await unreadWith(false)).toMatchObject({ count: 1, streams: [inGeneral], mentions: [kept] });
    expect(await unreadWith(true)).toMatchObject({
      count: 2,
      streams: [inGeneral, { stream_id: old, topic: 't', unread_message_ids: [hidden] }],
      mentions: [kept, hidden],
    });
  });

  it('lists archived channels only for clients that support them', async () => {
    const { hamlet, iago } = people;
    const old = await channel('old', [hamlet]);
    fieldsOf(await server.delete(`/streams/${old}`, iago));
    const listedWith = async (archived_channels: boolean, as: TestUser) => {
      const client_capabilities = { notification_settings_null: true, archived_channels };
      const { subscriptions, never_subscribed } = await registered({ client_capabilities }, as);
      return [...subscriptions, ...never_subscribed].some(({ stream_id }: Wire) => stream_id === old);
    };
    for (const who of [hamlet, iago]) {
      expect(await listedWith(true, who)).toBe(true);
      expect(await listedWith(false, who)).toBe(false);
    }
  });

  it('omits topics of channels that the caller can no longer access', async () => {
    const { hamlet, iago } = people;
    const vault = await channel('vault', [hamlet, iago], { invite_only: true });
    for (const as of [hamlet, iago]) {
      fieldsOf(await server.post('/user_topics', as, { stream_id: vault, topic: 'x', visibility_policy: 1 }));
      fieldsOf(await server.delete('/users/me/subscriptions', as, { subscriptions: ['vault'] }));
    }
    const params = { fetch_event_types: ['user_topic', 'stream'] };
    expect((await registered(params)).user_topics).toEqual([]);
    expect((await registered(params, iago)).user_topics).toMatchObject([{ stream_id: vault, topic_name: 'x' }]);
  });

  describe('rejected request', () => {
    it.each([
      [{ include_subscribers: '"true"' }, 'Invalid include_subscribers'],
      [{ client_capabilities: {} }, 'notification_settings_null key is missing from client_capabilities'],
      [
        { client_capabilities: { notification_settings_null: 1 } },
        'client_capabilities["notification_settings_null"] is not a boolean',
      ],
      [{ client_capabilities: [] }, 'client_capabilities is not a dict'],
      [{ event_types: 'message' }, 'event_types is not valid JSON'],
      [{ event_types: [1] }, 'event_types[0] is not a string'],
      [{ narrow: [['channel']] }, 'narrow[0] should have exactly 2 items'],
      [{ narrow: [['near', '5']] }, 'Operator near not supported.'],
      [{ idle_queue_timeout: 'mobile' }, 'idle_queue_timeout is not valid JSON'],
    ])('reports the parameters %j', async (params, msg) => {
      const { commits } = server.storage;
      expectRefusal(await register(params), msg);
      expect(server.storage.commits).toBe(commits);
    });

    it('forbids guests to request all public channels', async () => {
      const reply = await register({ all_public_streams: true }, people.polonius);
      expectRefusal(reply, 'User not authorized for this query');
    });

    it('forbids anonymous callers', async () => {
      const reply = await server.request('POST', '/register', { as: null });
      expect(reply.status).toBe(401);
    });
  });

  it('accepts unknown capabilities', async () => {
    const reply = await register({ client_capabilities: { notification_settings_null: true, x: 1 } });
    expect(reply.status).toBe(200);
  });
});
