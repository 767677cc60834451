import {
  aChannel,
  aGroup,
  anotherRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  eventsWithReceivers,
  expectInSync,
  expectRefused,
  FakeChannelQuota,
  FakeRenderer,
  type FixtureStep,
  fakeRealmUrls,
  intercepting,
  type MemoryFixture,
} from '@parley/testkit';
import type { ChannelFolderId, GroupId, UserId } from '../kernel/ids.js';
import { MarkdownTextRenderer } from '../writing/render-message.js';
import { SystemMessages } from '../writing/system-messages.js';
import { ChannelCreator, DEFAULT_CHANNEL_OPTIONS } from './create-channels.use-cases.js';
import {
  ChannelSubscriber,
  MAX_NOTIFIED_SUBSCRIBERS,
  SubscribeUsers,
  type SubscribeUsersInput,
} from './subscribe.use-cases.js';
import { subscribeToChannels, unsubscribeFromChannels } from './subscribing.js';
import { ChangeSubscriptionParts } from './subscription-parts.js';

type Wanted = Partial<Omit<SubscribeUsersInput, 'channels'>> & { readonly colors?: readonly (string | null)[] };

function subscribing(fixture: Pick<MemoryFixture, 'uow' | 'clock' | 'caller'>, quota = new FakeChannelQuota()) {
  const renderer = new FakeRenderer();
  const systemMessages = new SystemMessages(renderer, fakeRealmUrls, fixture.clock);
  const descriptions = new MarkdownTextRenderer(fixture.uow, renderer, fakeRealmUrls);
  const channelCreator = new ChannelCreator(descriptions, systemMessages, quota, { webPublicEnabled: true });
  const parts = new ChangeSubscriptionParts(fixture.uow, channelCreator, fixture.clock);
  const useCase = new SubscribeUsers(new ChannelSubscriber(channelCreator, parts, fakeRealmUrls));
  return (who: string, names: readonly string[], { colors = [], ...more }: Wanted = {}) =>
    useCase.execute(fixture.caller(who), {
      channels: names.map((name, index) => ({ name, color: colors[index] ?? null, description: '' })),
      principals: null,
      options: DEFAULT_CHANNEL_OPTIONS,
      announce: false,
      failsOnInaccessible: true,
      notifyNewSubscribers: true,
      ...more,
    });
}

const cast = (...pieces: readonly FixtureStep[]) =>
  createFixture(aUserOfEachRole(), aRealmWith({ settings: { sendChannelEventsMessages: false } }), ...pieces);
const ids = (fixture: MemoryFixture, ...names: readonly string[]) => names.map((name) => fixture.user(name).id);
const receiversOfPeerEvents = async (fixture: MemoryFixture) =>
  (await eventsWithReceivers(fixture)).flatMap(([type, names]) =>
    type === 'channel.subscribers_changed' ? [[...names]] : [],
  );
const systemMessages = (fixture: MemoryFixture) =>
  fixture.storage.announced.flatMap(({ event }) => {
    if (event.type !== 'message.sent') return [];
    const { message, conversation } = event.view;
    const people = conversation.kind === 'direct' ? conversation.participants.map(({ fullName }) => fullName) : [];
    return [{ to: people.filter((name) => name !== 'Notification Bot').join(), content: message.content }];
  });
const colorsOf = (fixture: MemoryFixture, name: string) =>
  fixture.uow.read(fixture.realm.id, async ({ channels }) =>
    (await channels.listSubscriptions(fixture.realm.id, fixture.user(name).id)).map(({ color }) => color),
  );
const INACCESSIBLE = { message: 'Unable to access channel (hidden).' };
const INSUFFICIENT = { code: 'NOT_PERMITTED', message: 'Insufficient permission' };

describe('SubscribeUsers', () => {
  it('publishes as many bytes for the last of many subscribers as for an earlier one', async () => {
    const people = Array.from({ length: 500 }, (_, n) => `person${n}`);
    const lengths = await Promise.all(
      [150, 499].map(async (others) => {
        const subscribers = people.slice(0, others);
        const fixture = await cast(
          ...people.map((name) => aUser({ name })),
          aChannel({ name: 'Denmark', subscribers }),
        );
        const before = fixture.storage.announced.length;
        await subscribing(fixture)('member', ['Denmark']);
        const added = fixture.storage.announced.slice(before).map(({ event, audience }) => ({ event, audience }));
        return JSON.stringify(added).length;
      }),
    );
    expect(Math.abs(lengths[0]! - lengths[1]!)).toBeLessThan(50);
  });

  it('notifies the new subscriber before other users', async () => {
    const fixture = await cast(aChannel({ name: 'Denmark', subscribers: ['guest'] }));
    const result = await subscribing(fixture)('member', ['denmark', ' Denmark ']);
    expect(result).toEqual({
      subscribed: new Map([[fixture.user('member').id, ['Denmark']]]),
      alreadySubscribed: new Map(),
      inaccessible: [],
      areNewSubscribersNotified: true,
    });
    expect(await eventsWithReceivers(fixture)).toEqual([
      ['subscription.added', ['member']],
      ['channel.subscribers_changed', ['owner', 'administrator', 'moderator', 'guest']],
    ]);
  });

  it('publishes several channels in one event if the same users see them', async () => {
    const fixture = await cast(
      aChannel({ name: 'a' }),
      aChannel({ name: 'b' }),
      aChannel({ name: 'c', subscribers: ['moderator'] }),
      aChannel({ name: 'lobby', subscribers: ['guest'] }),
      aChannel({ name: 'core', privacy: 'privateSharedHistory', creator: 'owner', subscribers: ['owner'] }),
      aChannel({ name: 'web', privacy: 'webPublic' }),
      aChannel({ name: 'web 2', privacy: 'webPublic' }),
    );
    const names = ['a', 'core', 'web', 'c', 'lobby', 'b', 'web 2'];
    const principals = ids(fixture, 'member', 'moderator');
    await expectInSync(fixture, () =>
      subscribing(fixture)('owner', names, { principals, notifyNewSubscribers: false }),
    );
    const peers = fixture.storage.announced.flatMap(({ event }) =>
      event.type === 'channel.subscribers_changed' ? [[event.channelIds, event.userIds]] : [],
    );
    const channels = (...of: readonly string[]) => of.map((name) => fixture.channel(name).id);
    const both = ids(fixture, 'moderator', 'member').sort((a, b) => a - b);
    expect(peers).toEqual([
      [channels('a', 'b'), both],
      [channels('core'), both],
      [channels('web', 'web 2'), both],
      [channels('c'), ids(fixture, 'member')],
      [channels('lobby'), both],
    ]);
    const told = (await receiversOfPeerEvents(fixture)).map((who) => who.sort());
    const admins = ['administrator', 'owner'];
    expect(told).toEqual([
      admins,
      admins,
      ['administrator', 'guest', 'owner'],
      [...admins, 'moderator'].sort(),
      ['administrator', 'guest', 'owner'],
    ]);
  });

  it.each([
    [1000, 0],
    [1001, 1],
  ])('scans subscribers for guests only if the organization has many guests: %i', async (guests, scans) => {
    const fixture = await cast(
      aChannel({ name: 'a' }),
      aChannel({ name: 'b' }),
      aChannel({ name: 'lobby', subscribers: ['guest'] }),
    );
    let scanned = 0;
    const uow = intercepting(fixture.uow, {
      write: (work, run) =>
        run((tx) => {
          const scan = tx.channels.filterWithGuestSubscribers.bind(tx.channels);
          const list = tx.groups.listDirectMembers.bind(tx.groups);
          // Deactivated guests stay in their group.
          const deactivated = Array.from({ length: guests - 1 }, (_, n) => (1_000_000 + n) as UserId);
          Object.assign(tx.groups, {
            listDirectMembers: async (...group: Parameters<typeof list>) => [...(await list(...group)), ...deactivated],
          });
          Object.assign(tx.channels, {
            filterWithGuestSubscribers: (...channels: Parameters<typeof scan>) => {
              scanned++;
              return scan(...channels);
            },
          });
          return work(tx);
        }),
    });
    await subscribing({ ...fixture, uow })('member', ['a', 'b', 'lobby']);
    expect(scanned).toBe(scans);
    const staff = ['owner', 'administrator', 'moderator'];
    expect(await receiversOfPeerEvents(fixture)).toEqual([staff, [...staff, 'guest']]);
  });

  it('changes nothing and publishes no event when repeated', async () => {
    const fixture = await cast(aChannel({ name: 'Denmark', subscribers: ['member'] }));
    const result = await subscribing(fixture)('member', ['Denmark']);
    expect(result.subscribed).toEqual(new Map());
    expect(result.alreadySubscribed).toEqual(new Map([[fixture.user('member').id, ['Denmark']]]));
    expect(result.areNewSubscribersNotified).toBe(true);
    expect(fixture.storage.announced).toEqual([]);
  });

  it('shows a private channel to users who could not see it before the subscription', async () => {
    const fixture = await cast(
      aChannel({ name: 'core', privacy: 'privateSharedHistory', creator: 'owner', subscribers: ['owner'] }),
    );
    const principals = ids(fixture, 'member', 'guest', 'administrator');
    await expectInSync(fixture, () =>
      subscribing(fixture)('owner', ['core'], { principals, notifyNewSubscribers: false }),
    );
    expect(await eventsWithReceivers(fixture)).toEqual([
      ['channel.created', ['member', 'guest']],
      ['subscription.added', ['administrator', 'member', 'guest']],
      ['channel.subscribers_changed', ['owner']],
    ]);
  });

  it.each([
    ['public', ['channel.created', 'subscription.added', 'channel.subscribers_changed']],
    ['webPublic', ['subscription.added', 'channel.subscribers_changed']],
  ] as const)('shows a %s channel to a guest: %j', async (privacy, types) => {
    const fixture = await cast(aChannel({ name: 'Denmark', privacy }));
    const principals = ids(fixture, 'guest');
    await expectInSync(fixture, () =>
      subscribing(fixture)('member', ['Denmark'], { principals, notifyNewSubscribers: false }),
    );
    expect((await eventsWithReceivers(fixture)).map(([type]) => type)).toEqual(types);
  });

  it('subscribes to archived channels', async () => {
    const fixture = await cast(aChannel({ name: 'old', isArchived: true }));
    const { subscribed } = await subscribing(fixture)('member', ['old']);
    expect([...subscribed.values()]).toEqual([['old']]);
  });

  it('creates missing channels for all subscribers and announces them once', async () => {
    const fixture = await cast(aChannel({ name: 'news' }), aChannel({ name: 'Rome' }));
    await fixture.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: fixture.channel('news').id } }));
    const principals = ids(fixture, 'member', 'guest');
    const result = await subscribing(fixture)('member', ['Venice', 'Rome', 'Verona', 'VENICE'], {
      principals,
      announce: true,
    });
    expect(result.subscribed).toEqual(new Map(principals.map((id) => [id, ['Venice', 'Rome', 'Verona']])));
    const who = `@_**member|${fixture.user('member').id}**`;
    expect(systemMessages(fixture)).toEqual([
      { to: '', content: `${who} created the following channels: #**Venice**, #**Verona**.` },
      // Sends no message about channels created by the same request.
      { to: 'guest', content: `${who} subscribed you to #**Rome**.` },
    ]);
  });

  it('posts no announcement if no channel was created or the announcement channel is missing', async () => {
    const fixture = await cast(aChannel({ name: 'news' }), aChannel({ name: 'Rome' }));
    await subscribing(fixture)('member', ['Venice'], { announce: true });
    await fixture.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: fixture.channel('news').id } }));
    await subscribing(fixture)('member', ['Rome'], { announce: true });
    await subscribing(fixture)('member', ['Verona'], { announce: false });
    expect(systemMessages(fixture)).toEqual([]);
  });

  it('posts a first message with its own description to each of many channels', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const { uow, realm } = fixture;
    const channels = ['a', 'b', 'c', 'd'].map((name, index) => ({
      name,
      color: null,
      // The description links to the newest message of a's first topic, which does not exist before `a` has messages.
      description: ['same', 'same', 'other', '#**a>channel events**'][index]!,
    }));
    await subscribing(fixture)('member', [], { channels } as never);
    const created = await uow.read(realm.id, (r) => r.channels.listAll(realm.id));
    expect(created.map(({ name, description }) => [name, description])).toEqual(
      channels.map(({ name, description }) => [name, description]),
    );
    const first = fixture.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view] : []));
    expect(first.map(({ message }) => [message.channelId, /quote\n(.*)\n/.exec(message.content)![1]])).toEqual(
      created.map(({ id, description }) => [id, description]),
    );
    const viewer = fixture.viewer('member');
    expect(await uow.read(viewer.realmId, (r) => r.personal.listUnread(viewer, 9))).toEqual([]);
  });

  it('rejects requests over the limit before changing anything', async () => {
    const fixture = await cast();
    const names = Array.from({ length: 1000 }, (_, n) => `channel ${n}`);
    const principals = Array.from({ length: 101 }, (_, n) => (n + 1) as UserId);
    await expectRefused(fixture, () => subscribing(fixture)('member', names, { principals }), {
      code: 'TOO_MANY_SUBSCRIPTIONS',
      message: 'Too many subscriptions in one request: users times channels may be 100000 at most.',
    });
  });

  it('rejects permissions of several channels that together name too many users', async () => {
    const people = Array.from({ length: 300 }, (_, n) => `person ${n}`);
    const fixture = await cast(...people.map((name) => aUser({ name })));
    const value = { directMembers: ids(fixture, ...people), directSubgroups: [] };
    const permissions = { canSubscribe: value, canAddSubscribers: value };
    const names = (count: number) => Array.from({ length: count }, (_, n) => `channel ${n}`);
    await expectRefused(
      fixture,
      () => subscribing(fixture)('member', names(17), { options: { ...DEFAULT_CHANNEL_OPTIONS, permissions } }),
      {
        code: 'TOO_MANY_HOLDERS_IN_REQUEST',
        message: 'Too many people in the permissions of one request: times new channels they may be 10000 at most.',
      },
    );
    await subscribing(fixture)('member', names(2), { options: { ...DEFAULT_CHANNEL_OPTIONS, permissions } });
    const { members } = await fixture.uow.read(fixture.realm.id, ({ groups }) =>
      groups.systemGroupIds(fixture.realm.id),
    );
    const unlimited = { canSubscribe: members };
    await subscribing(fixture)('member', names(200).slice(2), {
      options: { ...DEFAULT_CHANNEL_OPTIONS, permissions: unlimited },
    });
  });
});

it('SubscribeUsers sends each of many users all their channels in one event, even if several events are needed', async () => {
  const people = Array.from({ length: 240 }, (_, n) => `person ${n}`);
  const channels = Array.from({ length: 90 }, (_, n) => `channel ${n}`);
  const fixture = await cast(
    ...people.map((name) => aUser({ name })),
    ...channels.map((name) => aChannel({ name, subscribers: ['person 3'] })),
  );
  await fixture.uow.write(fixture.realm.id, async (tx) =>
    subscribeToChannels(tx, {
      channels: await tx.channels.listByName(fixture.realm.id, channels),
      userIds: ids(fixture, ...people),
      requestedColors: new Map(),
    }),
  );
  const added = fixture.storage.announced.flatMap(({ event, audience }) =>
    event.type === 'subscription.added' ? [{ ...event, audience }] : [],
  );
  expect(added.length).toBeGreaterThan(1);
  const told = added.flatMap(({ audience }) => (audience.kind === 'users' ? audience.ids : []));
  expect(told).toEqual(ids(fixture, ...people.filter((name) => name !== 'person 3')));
  for (const { subscriptions, channels: views, audience } of added) {
    expect(new Set(subscriptions.map(({ userId }) => userId))).toEqual(
      new Set(audience.kind === 'users' ? audience.ids : []),
    );
    expect(subscriptions).toHaveLength(new Set(subscriptions.map(({ userId }) => userId)).size * 90);
    expect(views.map(({ channel }) => channel.name)).toEqual(channels);
    // There are too many subscribers to list, so they are looked up on delivery.
    for (const { subscriberIds } of views) expect(subscriberIds).toBeNull();
  }
});

describe('subscription color', () => {
  const palette = ['#76ce90', '#fae589', '#a6c7e5', '#e79ab5'];

  it('is the requested color or else the first color the user does not have yet', async () => {
    const fixture = await cast(
      aChannel({ name: 'a', subscribers: ['member'] }),
      ...['b', 'c', 'd'].map((name) => aChannel({ name })),
    );
    await subscribing(fixture)('member', ['d', 'b', 'c'], { colors: [null, palette[1]!, '#ABC'] });
    expect(await colorsOf(fixture, 'member')).toEqual([palette[0], palette[1], '#aabbcc', palette[2]]);
  });

  it('keeps its previous value after resubscribing', async () => {
    const fixture = await cast(aChannel({ name: 'a', subscribers: ['member'] }));
    const subscribe = subscribing(fixture);
    const member = fixture.user('member').id;
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      const row = (await tx.channels.findSubscription(fixture.realm.id, fixture.channel('a').id, member))!;
      await tx.channels.putSubscriptions([{ ...row, color: '#123456', isMuted: true, isPinned: true }]);
      await unsubscribeFromChannels(tx, [fixture.channel('a')], [member]);
    });
    await subscribe('member', ['a'], { colors: ['#ffffff'] });
    const row = await fixture.uow.read(fixture.realm.id, (r) =>
      r.channels.findSubscription(fixture.realm.id, fixture.channel('a').id, member),
    );
    expect(row).toMatchObject({ isActive: true, color: '#123456', isMuted: true, isPinned: true });
  });
});

describe('SubscribeUsers for other users', () => {
  it('sends each user one direct message with the channel names', async () => {
    const fixture = await cast(
      ...['team', 'team (old)', 'known'].map((name) => aChannel({ name })),
      aUser({ name: 'robot', botOf: 'owner' }),
    );
    const subscribe = subscribing(fixture);
    await subscribe('member', ['known'], { principals: ids(fixture, 'owner', 'guest') });
    fixture.storage.announced.length = 0;
    await subscribe('member', ['known'], { principals: ids(fixture, 'owner', 'moderator', 'guest') });
    expect(systemMessages(fixture).map(({ to }) => to)).toEqual(['moderator']);
    fixture.storage.announced.length = 0;
    await subscribe('member', ['team (old)', 'known', 'team'], {
      principals: ids(fixture, 'owner', 'member', 'robot'),
    });
    expect(systemMessages(fixture)).toEqual([
      {
        to: 'owner',
        content: `@_**member|${fixture.user('member').id}** subscribed you to the following channels:\n\n* #**team**\n* #**team (old)**`,
      },
    ]);
  });

  it.each([
    [MAX_NOTIFIED_SUBSCRIBERS, true],
    [MAX_NOTIFIED_SUBSCRIBERS + 1, false],
  ])('decides if %d new subscribers are notified: %s', async (count, areNewSubscribersNotified) => {
    const names = Array.from({ length: count }, (_, index) => `user${index}`);
    const fixture = await cast(...names.map((name) => aUser({ name })), aChannel({ name: 'a' }));
    const result = await subscribing(fixture)('member', ['a'], { principals: ids(fixture, ...names) });
    expect(result.areNewSubscribersNotified).toBe(areNewSubscribersNotified);
    expect(systemMessages(fixture)).toHaveLength(areNewSubscribersNotified ? count : 0);
  });

  it('sends no message if the request disables notifications', async () => {
    const fixture = await cast(aChannel({ name: 'a' }));
    await subscribing(fixture)('member', ['a'], { principals: ids(fixture, 'owner'), notifyNewSubscribers: false });
    expect(systemMessages(fixture)).toEqual([]);
  });

  it('allows users with the organization’s permission, administrators and users with the channel’s permission', async () => {
    const fixture = await cast(
      aRealmWith({ permissionOverrides: { canAddSubscribers: 'nobody' } }),
      aGroup({ name: 'hosts', members: ['moderator'] }),
      aChannel({ name: 'own', creator: 'member' }),
      aChannel({ name: 'hosted', privacy: 'privateSharedHistory', grantedTo: { canAddSubscribers: 'hosts' } }),
    );
    const subscribe = subscribing(fixture);
    const principals = ids(fixture, 'guest');
    await expectRefused(fixture, () => subscribe('moderator', ['own'], { principals }), INSUFFICIENT);
    await subscribe('member', ['own'], { principals });
    await subscribe('moderator', ['hosted'], { principals });
    await subscribe('administrator', ['own'], { principals });
  });

  it('treats the caller’s own address as another user but not the caller’s own id', async () => {
    const fixture = await cast(
      aRealmWith({ permissionOverrides: { canAddSubscribers: 'nobody' } }),
      aChannel({ name: 'a' }),
    );
    const subscribe = subscribing(fixture);
    const emails = { emails: ['member@example.com'] };
    await expectRefused(fixture, () => subscribe('member', ['a'], { principals: emails }), INSUFFICIENT);
    const both = ids(fixture, 'member', 'guest');
    await expectRefused(fixture, () => subscribe('member', ['a'], { principals: both }), INSUFFICIENT);
    expect(await subscribe('member', ['a'], { principals: { emails: [] } })).toMatchObject({ subscribed: new Map() });
    const { subscribed } = await subscribe('member', ['a'], { principals: ids(fixture, 'member') });
    expect(subscribed.size).toBe(1);
    await subscribe('moderator', ['a']);
  });

  it('requires no permission to add subscribers to channels created by the request', async () => {
    const fixture = await cast(aRealmWith({ permissionOverrides: { canAddSubscribers: 'nobody' } }));
    const { subscribed } = await subscribing(fixture)('member', ['new'], { principals: ids(fixture, 'guest') });
    expect([...subscribed.keys()]).toEqual(ids(fixture, 'guest'));
  });

  it('finds users only by their public address', async () => {
    const fixture = await cast(aChannel({ name: 'a' }), async (theScene, tx) => {
      const owner = theScene.user('owner');
      await tx.users.update({ ...owner, settings: { ...owner.settings, emailAddressVisibility: 'nobody' } });
    });
    const subscribe = subscribing(fixture);
    const by = (...emails: readonly string[]) => ({ principals: { emails } });
    await expectRefused(fixture, () => subscribe('member', ['a'], by('owner@example.com')), {
      message: 'No such user',
    });
    const { subscribed } = await subscribe(
      'member',
      ['a'],
      by(`user${fixture.user('owner').id}@chat.example`, 'GUEST@example.com'),
    );
    expect([...subscribed.keys()]).toEqual(ids(fixture, 'owner', 'guest'));
  });
});

describe('SubscribeUsers validation', () => {
  it('rejects guests for any channel', async () => {
    const fixture = await cast(aChannel({ name: 'open', privacy: 'webPublic' }));
    await expectRefused(fixture, () => subscribing(fixture)('guest', ['open']), {
      message: 'Not allowed for guest users',
    });
  });

  it('reports the first channel the caller cannot read, even for administrators', async () => {
    const hidden = (name: string) => aChannel({ name, privacy: 'privateSharedHistory' });
    const fixture = await cast(hidden('first'), hidden('second'), aChannel({ name: 'open' }));
    const subscribe = subscribing(fixture);
    const names = ['open', 'SECOND', 'first'];
    await expectRefused(fixture, () => subscribe('administrator', names), {
      code: 'CHANNEL_CONTENT_ACCESS_REQUIRED',
      message: 'Unable to access channel (second).',
    });
    const result = await subscribe('administrator', names, { failsOnInaccessible: false });
    expect(result.inaccessible).toEqual(['second', 'first']);
    expect([...result.subscribed.values()]).toEqual([['open']]);
  });

  it('shows a hidden channel’s name only as typed (contract decision 20)', async () => {
    const fixture = await cast(
      aChannel({ name: 'Hidden', privacy: 'privateSharedHistory' }),
      aChannel({ name: 'open' }),
    );
    const subscribe = subscribing(fixture);
    const names = ['open', ' hidDEN ', 'HIDDEN'];
    await expectRefused(fixture, () => subscribe('member', names), { message: 'Unable to access channel (hidDEN).' });
    expect(await subscribe('member', names, { failsOnInaccessible: false })).toMatchObject({
      inaccessible: ['hidDEN'],
    });
  });

  it('exempts users with a channel permission', async () => {
    const fixture = await cast(
      aChannel({ name: 'club', privacy: 'privateSharedHistory', grantedTo: { canSubscribe: 'moderators' } }),
    );
    const { subscribed } = await subscribing(fixture)('moderator', ['club']);
    expect([...subscribed.values()]).toEqual([['club']]);
  });

  it('rejects unknown, deactivated and hidden users and users of another realm', async () => {
    const fixture = await cast(aChannel({ name: 'a' }), aUser({ name: 'gone', isActive: false }));
    const elsewhere = await anotherRealm(fixture);
    const subscribe = subscribing(fixture);
    const subscribeResult =
      (...principals: readonly UserId[]) =>
      () =>
        subscribe('member', ['a', 'new'], { principals });
    const noSuchUser = { code: 'UNKNOWN_USER', message: 'No such user' };
    await expectRefused(
      fixture,
      subscribeResult(...ids(fixture, 'owner'), elsewhere.user('otherRealmUser').id),
      noSuchUser,
    );
    await expectRefused(fixture, subscribeResult(fixture.user('gone').id), { message: 'User is deactivated' });
    const bot = await fixture.uow.read(fixture.realm.id, ({ users }) =>
      users.findSystemBot(fixture.realm.id, 'notification'),
    );
    await expectRefused(fixture, subscribeResult(bot.id), noSuchUser);
    // A channel with this name in another realm is ignored, so this realm creates its own.
    expect([...(await subscribe('member', ['theirs'])).subscribed.values()]).toEqual([['theirs']]);
  });

  const unknownFolder = { options: { ...DEFAULT_CHANNEL_OPTIONS, folderId: 7 as ChannelFolderId } };
  const policy = { options: { ...DEFAULT_CHANNEL_OPTIONS, topicsPolicy: 'emptyTopicRefused' as const } };
  const badGroup = { options: { ...DEFAULT_CHANNEL_OPTIONS, permissions: { canSubscribe: 9999 as GroupId } } };

  it.each<[string, readonly string[], Wanted, object]>([
    ['unknown folder before names', [' '], unknownFolder, { message: 'Invalid channel folder ID' }],
    ['unknown folder even if nothing is created', ['known'], unknownFolder, { message: 'Invalid channel folder ID' }],
    ['topics policy before names', [' '], policy, INSUFFICIENT],
    ['names before permissions', [' '], badGroup, { message: "Channel name can't be empty." }],
    ['unknown groups before the permission to create', ['new'], badGroup, { message: 'Invalid user group' }],
    ['permission to create before access', ['hidden', 'new'], {}, INSUFFICIENT],
    [
      'access before users',
      ['hidden'],
      { principals: [9999 as UserId] },
      { message: 'Unable to access channel (hidden).' },
    ],
  ])('validates in order: %s', async (_, names, wanted, refusal) => {
    const fixture = await cast(
      aRealmWith({ permissionOverrides: { canCreatePublicChannel: 'nobody', canSetTopicsPolicy: 'nobody' } }),
      aChannel({ name: 'known' }),
      aChannel({ name: 'hidden', privacy: 'privateSharedHistory' }),
    );
    await expectRefused(fixture, () => subscribing(fixture)('member', names, wanted), refusal);
  });

  it('enforces the daily limit for new channels and counts only created channels', async () => {
    const fixture = await cast(
      aChannel({ name: 'known' }),
      aChannel({ name: 'hidden', privacy: 'privateSharedHistory' }),
    );
    const subscribe = subscribing(fixture, new FakeChannelQuota(3));
    await subscribe('member', ['known', 'one', 'ONE', 'two']);
    await expectRefused(fixture, () => subscribe('member', ['three', 'hidden']), INACCESSIBLE);
    await expectRefused(fixture, () => subscribe('member', ['three', 'four']), { code: 'RATE_LIMITED' });
    await subscribe('member', ['three']);
    await expectRefused(fixture, () => subscribe('member', ['four']), { code: 'RATE_LIMITED' });
    expect((await subscribe('member', ['known', 'three'])).alreadySubscribed.size).toBe(1);
  });

  it('ignores options for new channels if none is created', async () => {
    const fixture = await cast(
      aChannel({ name: 'known' }),
      aRealmWith({ permissionOverrides: { canCreatePublicChannel: 'nobody' } }),
    );
    const { subscribed } = await subscribing(fixture)('member', ['known'], badGroup);
    expect(subscribed.size).toBe(1);
  });
});
