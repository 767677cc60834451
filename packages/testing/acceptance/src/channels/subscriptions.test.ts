import type { SystemGroupName } from '@parley/domain/access';
import type { Channel } from '@parley/domain/channels';
import type { GroupId } from '@parley/domain/kernel';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let system: Readonly<Record<SystemGroupName, GroupId>>;
const { server, people } = organizationPerTest();
beforeEach(async () => {
  system = await server.systemGroups();
});

const PATH = '/users/me/subscriptions';
const named = (...names: string[]) => names.map((name) => ({ name }));
const subscribe = (names: readonly string[], as: TestUser = people.hamlet, more = {}) =>
  server.post(PATH, as, { subscriptions: named(...names), ...more });
const unsubscribe = (names: readonly string[], as: TestUser = people.hamlet, more = {}) =>
  server.delete(PATH, as, { subscriptions: names, ...more });
const subscribed = async (as: TestUser): Promise<string[]> =>
  (await server.get(PATH, as)).body.subscriptions.map(({ name }: Wire) => name);
const deactivate = ({ user }: TestUser) =>
  server.storage.uow.write(user.realmId, (tx) => tx.users.update({ ...user, isActive: false }));

describe('POST /users/me/subscriptions', () => {
  const nothing = { subscribed: {}, already_subscribed: {}, new_subscription_messages_sent: true };

  it('creates missing channels and returns the new subscriptions', async () => {
    const { hamlet, cordelia } = people;
    const key = String(hamlet.id);
    expect(fieldsOf(await subscribe(['lunch'], hamlet))).toEqual({ ...nothing, subscribed: { [key]: ['lunch'] } });
    expect(fieldsOf(await subscribe(['LUNCH'], hamlet))).toEqual({
      ...nothing,
      already_subscribed: { [key]: ['lunch'] },
    });
    expect(fieldsOf(await subscribe(['  dinner ', 'lunch'], hamlet))).toEqual({
      ...nothing,
      subscribed: { [key]: ['dinner'] },
      already_subscribed: { [key]: ['lunch'] },
    });
    expect(fieldsOf(await subscribe([], hamlet))).toEqual(nothing);
    expect(await subscribed(hamlet)).toEqual(['dinner', 'lunch']);
    expect(await subscribed(cordelia)).toEqual([]);
  });

  it('sets colors and descriptions', async () => {
    const { hamlet } = people;
    await server.post(PATH, hamlet, {
      subscriptions: [{ name: 'a', color: '#ABC', description: 'x\ny' }, { name: 'b' }],
    });
    const [a, b] = (await server.get(PATH, hamlet)).body.subscriptions;
    expect(a).toMatchObject({ color: '#aabbcc', description: 'x y' });
    expect(b.color).toBe('#76ce90');
  });

  it('subscribes other users by id or visible email', async () => {
    const { hamlet, cordelia, iago, polonius } = people;
    const reply = await subscribe(['lunch'], hamlet, { principals: [cordelia.id, iago.id, polonius.id] });
    expect(Object.keys(fieldsOf(reply).subscribed!)).toEqual([iago, cordelia, polonius].map(({ id }) => String(id)));
    expect(await subscribed(hamlet)).toEqual([]);
    await subscribe(['dinner'], hamlet, { principals: [cordelia.email, `user${iago.id}@parley.invalid`] });
    expect(await subscribed(cordelia)).toEqual(['dinner', 'lunch']);
  });

  it('notifies users subscribed by another user unless disabled', async () => {
    const { hamlet, cordelia, iago } = people;
    await server.createChannel('lunch', [hamlet]);
    const told = async (as: TestUser) => {
      const { messages } = (await server.get('/messages', as, { anchor: 'newest', num_before: 9, num_after: 0 })).body;
      return messages.filter(({ type }: Wire) => type === 'private').length;
    };
    await subscribe(['lunch'], hamlet, { principals: [cordelia.id] });
    expect(await told(cordelia)).toBe(1);
    const silent = await subscribe(['lunch'], hamlet, { principals: [iago.id], send_new_subscription_messages: false });
    expect(fieldsOf(silent)).toEqual({ subscribed: { [iago.id]: ['lunch'] }, already_subscribed: {} });
    expect(await told(iago)).toBe(0);
  });

  it('skips inaccessible channels if authorization errors are not fatal', async () => {
    const { hamlet, cordelia } = people;
    await server.createChannel('secret', [hamlet], { invite_only: true });
    await server.createChannel('open', []);
    expect(fieldsOf(await subscribe(['secret', 'open'], cordelia, { authorization_errors_fatal: false }))).toEqual({
      ...nothing,
      subscribed: { [cordelia.id]: ['open'] },
      unauthorized: ['secret'],
    });
    expectRefusal(await subscribe(['secret'], cordelia), 'Unable to access channel (secret).');
  });

  it('subscribes to a private channel with permission', async () => {
    const { hamlet, cordelia, iago } = people;
    const grant = { direct_members: [cordelia.id], direct_subgroups: [] };
    await server.createChannel('by grant', [hamlet], { invite_only: true, can_subscribe_group: grant });
    expect((await subscribe(['by grant'], cordelia)).status).toBe(200);
    await server.createChannel('to bring', [hamlet], { invite_only: true, can_add_subscribers_group: grant });
    expect((await subscribe(['to bring'], cordelia, { principals: [iago.id] })).status).toBe(200);
    await server.createChannel('to run', [hamlet], { invite_only: true, can_administer_channel_group: grant });
    const reply = await subscribe(['to run'], cordelia, { principals: [iago.id] });
    expectRefusal(reply, 'Unable to access channel (to run).');
  });

  it('applies options to new channels', async () => {
    const { hamlet, desdemona } = people;
    await subscribe(['p'], hamlet, { invite_only: true, history_public_to_subscribers: true });
    await subscribe(['r'], desdemona, { message_retention_days: '"unlimited"', topics_policy: '"empty_topic_only"' });
    const { streams } = (await server.get('/streams', desdemona, { include_all: true })).body;
    expect(streams[0]).toMatchObject({ name: 'p', invite_only: true, history_public_to_subscribers: true });
    expect(streams[1]).toMatchObject({ name: 'r', message_retention_days: -1, topics_policy: 'empty_topic_only' });
  });

  describe('rejected subscription request', () => {
    const refused = async (params: object, msg: string, more: object = {}, as = people.hamlet) => {
      const { commits } = server.storage;
      expectRefusal(await server.post(PATH, as, { subscriptions: named('new'), ...params }), msg, { ...more });
      expect(server.storage.commits).toBe(commits);
    };

    it('precedes parameter validation for guests', async () => {
      expectRefusal(await server.post(PATH, people.polonius), 'Not allowed for guest users');
    });

    it('reports unreadable parameters', async () => {
      expectRefusal(await server.post(PATH, people.hamlet), "Missing 'subscriptions' argument", {
        code: 'REQUEST_VARIABLE_MISSING',
        var_name: 'subscriptions',
      });
      await refused({ subscriptions: ['x'] }, 'subscriptions[0] is not a dict');
      await refused({ subscriptions: [{ color: '#ffffff' }] }, 'name key is missing from subscriptions[0]');
      await refused(
        { subscriptions: [{ name: 'x', color: 'red' }] },
        'Invalid subscriptions[0]: Value error, add.color is not a valid hex color code',
      );
      await refused({ principals: 'x' }, 'principals is not valid JSON');
    });

    it('reports invalid channels and creates none', async () => {
      await refused({ subscriptions: named('ok', '') }, "Channel name can't be empty.");
      await refused({ subscriptions: named('n'.repeat(61)) }, 'Channel name too long (limit: 60 characters).');
      await refused({ subscriptions: named('ab\uffffc') }, 'Invalid character in channel name, at position 3.');
      await refused({ is_default_stream: true }, 'Insufficient permission');
      await refused(
        { is_default_stream: true, invite_only: true },
        'A default channel cannot be private.',
        {},
        people.iago,
      );
      await refused(
        { message_retention_days: 30 },
        'Must be an organization owner',
        { code: 'UNAUTHORIZED_PRINCIPAL' },
        people.iago,
      );
      await refused({ is_web_public: true, invite_only: true }, 'Invalid parameters');
      await refused({ folder_id: 1 }, 'Invalid channel folder ID');
      await refused(
        { can_subscribe_group: system.everyone },
        "'can_subscribe_group' setting cannot be set to 'role:everyone' group.",
      );
      await refused({ invite_only: true, can_create_topic_group: 99_999 }, 'Invalid user group');
      const parameters = 'history_public_to_subscribers, can_create_topic_group';
      await refused(
        { invite_only: true, can_create_topic_group: system.nobody },
        `Unsupported parameter combination: ${parameters}`,
        { parameters },
      );
    });

    it('reports invalid users', async () => {
      await deactivate(people.cordelia);
      await refused({ principals: [people.hamlet.id, 99_999] }, 'No such user');
      await refused({ principals: ['nobody@zulip.com'] }, 'No such user');
      await refused({ principals: [people.cordelia.id] }, 'User is deactivated');
    });

    it('forbids subscribing others without permission', async () => {
      const { hamlet, cordelia } = people;
      await server.createChannel('lunch', [hamlet]);
      await server.changeRealm({ permissions: { canAddSubscribers: system.moderators } });
      const lunch = { subscriptions: named('lunch') };
      await refused({ ...lunch, principals: [cordelia.id] }, 'Insufficient permission');
      // Deliberate: the reference server treats the caller's email as another user's, but not the caller's id.
      await refused({ ...lunch, principals: [hamlet.email] }, 'Insufficient permission');
      expect((await subscribe(['lunch'], hamlet, { principals: [hamlet.id] })).status).toBe(200);
      expect((await subscribe(['lunch'], people.shiva, { principals: [cordelia.id] })).status).toBe(200);
    });
  });
});

it('POST /users/me/subscriptions rejects more users times channels than one request may change', async () => {
  const names = Array.from({ length: 1000 }, (_, n) => `channel ${n}`);
  const principals = Array.from({ length: 101 }, () => people.cordelia.id);
  const refusal = 'Too many subscriptions in one request: users times channels may be 100000 at most.';
  expectRefusal(await subscribe(names, people.desdemona, { principals }), refusal);
  expectRefusal(await unsubscribe(names, people.desdemona, { principals }), refusal);
  expect(await subscribed(people.cordelia)).toEqual([]);
});

describe('DELETE /users/me/subscriptions', () => {
  it('unsubscribes by form and by query', async () => {
    const { hamlet } = people;
    await subscribe(['a', 'b', 'c'], hamlet);
    await server.createChannel('d', []);
    expect(fieldsOf(await unsubscribe(['A', 'd']))).toEqual({ removed: ['a'], not_removed: ['d'] });
    const query = new URLSearchParams({ subscriptions: '["b"]' });
    expect(fieldsOf(await server.request('DELETE', `${PATH}?${query}`, { as: hamlet }))).toEqual({
      removed: ['b'],
      not_removed: [],
    });
    expect(fieldsOf(await unsubscribe([], hamlet, { principals: [] }))).toEqual({ removed: [], not_removed: [] });
    expect(await subscribed(hamlet)).toEqual(['c']);
  });

  it('unsubscribes guests and keeps their settings for resubscription', async () => {
    const { hamlet, polonius } = people;
    await subscribe(['lunch'], hamlet, { principals: [polonius.id] });
    const before = (await server.get(PATH, polonius)).body.subscriptions[0].color;
    await server.createChannel('other', [polonius]);
    expect(fieldsOf(await unsubscribe(['lunch'], polonius)).removed).toEqual(['lunch']);
    await subscribe(['lunch'], hamlet, { principals: [polonius.id] });
    expect((await server.get(PATH, polonius)).body.subscriptions[0].color).toBe(before);
  });

  it('removes others with permission', async () => {
    const { hamlet, cordelia, desdemona, iago, polonius } = people;
    await server.createChannel('lunch', [cordelia, polonius, iago], { invite_only: true }, hamlet);
    expectRefusal(await unsubscribe(['lunch'], cordelia, { principals: [polonius.id] }), 'Insufficient permission');
    expect(fieldsOf(await unsubscribe(['lunch'], desdemona, { principals: [cordelia.email] })).removed).toEqual([
      'lunch',
    ]);
    expect(fieldsOf(await unsubscribe(['lunch'], hamlet, { principals: [iago.id] })).removed).toEqual(['lunch']);
  });

  it('lets owners remove their bots', async () => {
    const { hamlet } = people;
    const bot = await server.addUser({ email: 'helper@zulip.com', fullName: 'Helper' });
    await server.storage.uow.write(bot.user.realmId, (tx) =>
      tx.users.update({
        ...bot.user,
        bot: { kind: 'generic', ownerId: hamlet.id, isSystem: false, defaultSendingChannelId: null },
      }),
    );
    await server.createChannel('lunch', [bot]);
    expect(fieldsOf(await unsubscribe(['lunch'], hamlet, { principals: [bot.id] })).removed).toEqual(['lunch']);
  });

  it('validates in the order of the contract', async () => {
    const { hamlet, cordelia } = people;
    await server.createChannel('lunch', [cordelia]);
    expectRefusal(await server.delete(PATH, hamlet), "Missing 'subscriptions' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'subscriptions',
    });
    expectRefusal(await unsubscribe(['lunch', ''], hamlet, { principals: [99_999] }), 'No such user');
    expectRefusal(
      await unsubscribe(['', 'nowhere'], hamlet, { principals: [cordelia.id] }),
      "Channel name can't be empty.",
    );
    expectRefusal(await unsubscribe(['lunch', 'x'], hamlet, { principals: [cordelia.id] }), 'Insufficient permission');
    expectRefusal(await unsubscribe(['x', 'y', 'lunch']), 'Channel(s) (x, y) do not exist');
    await deactivate(cordelia);
    expectRefusal(await unsubscribe(['lunch'], people.iago, { principals: [cordelia.id] }), 'User is deactivated');
  });
});

describe('GET /users/me/subscriptions', () => {
  it('lists subscriptions without archived channels', async () => {
    const { hamlet } = people;
    await subscribe(['b', 'a', 'old'], hamlet);
    await server.storage.uow.write(server.realmId, async (tx) => {
      const channel = (await tx.channels.findByName(server.realmId, 'old')) as Channel;
      await tx.channels.update({ ...channel, isArchived: true });
    });
    const { subscriptions } = (await server.get(PATH, hamlet)).body;
    expect(subscriptions.map(({ name }: Wire) => name)).toEqual(['a', 'b']);
    expect(subscriptions[0]).toMatchObject({
      is_muted: false,
      in_home_view: true,
      pin_to_top: false,
      desktop_notifications: null,
      audible_notifications: null,
      push_notifications: null,
      email_notifications: null,
      wildcard_mentions_notify: null,
    });
    expect(subscriptions[0]).not.toHaveProperty('subscribers');
    expect(subscriptions[0]).not.toHaveProperty('is_default');
  });

  it.each(['true', 'partial'])('includes subscribers on request: %s', async (include_subscribers) => {
    const { hamlet, cordelia } = people;
    await server.createChannel('lunch', [hamlet, cordelia]);
    const { subscriptions } = (await server.get(PATH, hamlet, { include_subscribers })).body;
    expect(subscriptions[0].subscribers).toEqual([hamlet.id, cordelia.id]);
  });

  it('rejects other values', async () => {
    expectRefusal(await server.get(PATH, people.hamlet, { include_subscribers: 'yes' }), 'Invalid include_subscribers');
  });
});

it('event of a new subscription lists all subscribers of a large channel (events §7)', async () => {
  const { hamlet, iago } = people;
  const others: TestUser[] = [];
  for (let n = 0; n < 101; n++) {
    others.push(await server.addUser({ email: `other${n}@zulip.com`, fullName: `Other ${n}` }));
  }
  await server.createChannel('crowd', others);
  const queue = await openQueue(server, hamlet, { event_types: ['subscription'] });
  const fields = { subscriptions: [{ name: 'crowd' }], principals: [hamlet.id] };
  expect((await server.post(PATH, iago, fields)).status).toBe(200);
  const [event] = await eventsAfter(server, queue);
  expect(event).toMatchObject({ op: 'add', subscriptions: [{ name: 'crowd' }] });
  const ids = [...others, hamlet].map(({ id }) => id).sort((a, b) => a - b);
  expect(event.subscriptions[0].subscribers).toEqual(ids);
});
