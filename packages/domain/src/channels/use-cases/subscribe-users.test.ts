import {
  aChannel,
  aGroup,
  anotherRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  expectInSync,
  expectRefused,
  given,
  type MemoryScene,
  type Piece,
  PlainChannelQuota,
  PlainRenderer,
  plainAddresses,
  told,
} from '@parley/testkit';
import { NoticeBoard } from '../../messages/notice-board.js';
import type { GroupId, UserId } from '../../shared/ids.js';
import { ChannelFoundry, PLAIN_CHANNEL } from '../create-channels.js';
import { leaveChannels } from '../leave-channels.js';
import { MAX_TOLD_SUBSCRIBERS, SubscribeUsers, type SubscribeUsersInput } from './subscribe-users.js';

type Wanted = Partial<Omit<SubscribeUsersInput, 'channels'>> & { readonly colors?: readonly (string | null)[] };

function subscribing(scene: MemoryScene, quota = new PlainChannelQuota()) {
  const renderer = new PlainRenderer();
  const notices = new NoticeBoard(renderer, plainAddresses, scene.clock);
  const foundry = new ChannelFoundry(renderer, plainAddresses, notices, quota);
  const useCase = new SubscribeUsers(scene.uow, foundry, notices, scene.clock, plainAddresses, {
    webPublicEnabled: true,
  });
  return (who: string, names: readonly string[], { colors = [], ...more }: Wanted = {}) =>
    useCase.execute(scene.caller(who), {
      channels: names.map((name, index) => ({ name, color: colors[index] ?? null, description: '' })),
      principals: null,
      wishes: PLAIN_CHANNEL,
      announce: false,
      failsOnInaccessible: true,
      tellNewSubscribers: true,
      ...more,
    });
}

const cast = (...pieces: readonly Piece[]) =>
  given(aUserOfEachRole(), aRealmWith({ settings: { sendChannelEventsMessages: false } }), ...pieces);
const ids = (scene: MemoryScene, ...names: readonly string[]) => names.map((name) => scene.user(name).id);
const toldOfPeers = async (scene: MemoryScene) =>
  (await told(scene)).flatMap(([type, names]) => (type === 'channel.subscribers_changed' ? [[...names]] : []));
const notices = (scene: MemoryScene) =>
  scene.storage.announced.flatMap(({ event }) => {
    if (event.type !== 'message.sent') return [];
    const { message, conversation } = event.view;
    const people = conversation.kind === 'direct' ? conversation.people.map(({ fullName }) => fullName) : [];
    return [{ to: people.filter((name) => name !== 'Notification Bot').join(), content: message.content }];
  });
const colorsOf = (scene: MemoryScene, name: string) =>
  scene.uow.read(async ({ channels }) =>
    (await channels.listSubscriptions(scene.realm.id, scene.user(name).id)).map(({ color }) => color),
  );
const INACCESSIBLE = { message: 'Unable to access channel (hidden).' };
const INSUFFICIENT = { code: 'NOT_PERMITTED', message: 'Insufficient permission' };

describe('following channels', () => {
  it('tells oneself first, then the others', async () => {
    const scene = await cast(aChannel({ name: 'Denmark', subscribers: ['guest'] }));
    const result = await subscribing(scene)('member', ['denmark', ' Denmark ']);
    expect(result).toEqual({
      subscribed: new Map([[scene.user('member').id, ['Denmark']]]),
      alreadySubscribed: new Map(),
      inaccessible: [],
      areNewSubscribersTold: true,
    });
    expect(await told(scene)).toEqual([
      ['subscription.added', ['member']],
      ['channel.subscribers_changed', ['owner', 'administrator', 'moderator', 'guest']],
    ]);
  });

  it('tells the others of several channels at once where the same people see them', async () => {
    const scene = await cast(
      aChannel({ name: 'a' }),
      aChannel({ name: 'b' }),
      aChannel({ name: 'c', subscribers: ['moderator'] }),
      aChannel({ name: 'lobby', subscribers: ['guest'] }),
      aChannel({ name: 'core', privacy: 'privateSharedHistory', creator: 'owner', subscribers: ['owner'] }),
      aChannel({ name: 'web', privacy: 'webPublic' }),
      aChannel({ name: 'web 2', privacy: 'webPublic' }),
    );
    const names = ['a', 'core', 'web', 'c', 'lobby', 'b', 'web 2'];
    const principals = ids(scene, 'member', 'moderator');
    await expectInSync(scene, () => subscribing(scene)('owner', names, { principals, tellNewSubscribers: false }));
    const peers = scene.storage.announced.flatMap(({ event }) =>
      event.type === 'channel.subscribers_changed' ? [[event.channelIds, event.userIds]] : [],
    );
    const channels = (...of: readonly string[]) => of.map((name) => scene.channel(name).id);
    const both = ids(scene, 'moderator', 'member').sort((a, b) => a - b);
    expect(peers).toEqual([
      [channels('a', 'b'), both],
      [channels('core'), both],
      [channels('web', 'web 2'), both],
      [channels('c'), ids(scene, 'member')],
      [channels('lobby'), both],
    ]);
    const told = (await toldOfPeers(scene)).map((who) => who.sort());
    const admins = ['administrator', 'owner'];
    expect(told).toEqual([
      admins,
      admins,
      ['administrator', 'guest', 'owner'],
      [...admins, 'moderator'].sort(),
      ['administrator', 'guest', 'owner'],
    ]);
  });

  it('changes nothing and tells nobody the second time', async () => {
    const scene = await cast(aChannel({ name: 'Denmark', subscribers: ['member'] }));
    const result = await subscribing(scene)('member', ['Denmark']);
    expect(result.subscribed).toEqual(new Map());
    expect(result.alreadySubscribed).toEqual(new Map([[scene.user('member').id, ['Denmark']]]));
    expect(result.areNewSubscribersTold).toBe(true);
    expect(scene.storage.announced).toEqual([]);
  });

  it('shows a private channel to those who could not see it before they follow it', async () => {
    const scene = await cast(
      aChannel({ name: 'core', privacy: 'privateSharedHistory', creator: 'owner', subscribers: ['owner'] }),
    );
    const principals = ids(scene, 'member', 'guest', 'administrator');
    await expectInSync(scene, () => subscribing(scene)('owner', ['core'], { principals, tellNewSubscribers: false }));
    expect(await told(scene)).toEqual([
      ['channel.created', ['member', 'guest']],
      ['subscription.added', ['administrator', 'member', 'guest']],
      ['channel.subscribers_changed', ['owner']],
    ]);
  });

  it.each([
    ['public', ['channel.created', 'subscription.added', 'channel.subscribers_changed']],
    ['webPublic', ['subscription.added', 'channel.subscribers_changed']],
  ] as const)('shows a %s channel to a guest: %j', async (privacy, types) => {
    const scene = await cast(aChannel({ name: 'Denmark', privacy }));
    const principals = ids(scene, 'guest');
    await expectInSync(scene, () =>
      subscribing(scene)('member', ['Denmark'], { principals, tellNewSubscribers: false }),
    );
    expect((await told(scene)).map(([type]) => type)).toEqual(types);
  });

  it('goes for archived channels too', async () => {
    const scene = await cast(aChannel({ name: 'old', isArchived: true }));
    const { subscribed } = await subscribing(scene)('member', ['old']);
    expect([...subscribed.values()]).toEqual([['old']]);
  });

  it('creates what does not exist, for all of them, and says so once', async () => {
    const scene = await cast(aChannel({ name: 'news' }), aChannel({ name: 'Rome' }));
    await scene.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: scene.channel('news').id } }));
    const principals = ids(scene, 'member', 'guest');
    const result = await subscribing(scene)('member', ['Venice', 'Rome', 'Verona', 'VENICE'], {
      principals,
      announce: true,
    });
    expect(result.subscribed).toEqual(new Map(principals.map((id) => [id, ['Venice', 'Rome', 'Verona']])));
    const who = `@_**member|${scene.user('member').id}**`;
    expect(notices(scene)).toEqual([
      { to: '', content: `${who} created the following channels: #**Venice**, #**Verona**.` },
      // Nothing about those that are new themselves.
      { to: 'guest', content: `${who} subscribed you to #**Rome**.` },
    ]);
  });

  it('announces nothing where nothing was created, or no channel is there to announce it in', async () => {
    const scene = await cast(aChannel({ name: 'news' }), aChannel({ name: 'Rome' }));
    await subscribing(scene)('member', ['Venice'], { announce: true });
    await scene.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: scene.channel('news').id } }));
    await subscribing(scene)('member', ['Rome'], { announce: true });
    await subscribing(scene)('member', ['Verona'], { announce: false });
    expect(notices(scene)).toEqual([]);
  });

  it('gives each of many channels its first message, in its own words', async () => {
    const scene = await given(aUserOfEachRole());
    const { uow, realm } = scene;
    const channels = ['a', 'b', 'c', 'd'].map((name, index) => ({
      name,
      color: null,
      // The newest message of a's first topic is linked to, which is none while `a` has none.
      description: ['same', 'same', 'other', '#**a>channel events**'][index]!,
    }));
    await subscribing(scene)('member', [], { channels } as never);
    const created = await uow.read((r) => r.channels.listAll(realm.id));
    expect(created.map(({ name, description }) => [name, description])).toEqual(
      channels.map(({ name, description }) => [name, description]),
    );
    const first = scene.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view] : []));
    expect(first.map(({ message }) => [message.channelId, /quote\n(.*)\n/.exec(message.content)![1]])).toEqual(
      created.map(({ id, description }) => [id, description]),
    );
    const viewer = scene.viewer('member');
    expect(await uow.read((r) => r.personal.listUnread(viewer, 9))).toEqual([]);
  });

  it('refuses more than is done at once, before it does anything', async () => {
    const scene = await cast();
    const names = Array.from({ length: 1000 }, (_, n) => `channel ${n}`);
    const principals = Array.from({ length: 101 }, (_, n) => (n + 1) as UserId);
    await expectRefused(scene, () => subscribing(scene)('member', names, { principals }), {
      code: 'INVALID_INPUT',
      message: 'Too many subscriptions in one request: users times channels may be 100000 at most.',
    });
  });
});

it('tells each of many people of all their channels in one event, however many events it takes', async () => {
  const people = Array.from({ length: 240 }, (_, n) => `person ${n}`);
  const channels = Array.from({ length: 90 }, (_, n) => `channel ${n}`);
  const scene = await cast(
    ...people.map((name) => aUser({ name })),
    ...channels.map((name) => aChannel({ name, subscribers: ['person 3'] })),
  );
  await subscribing(scene)('owner', channels, { principals: ids(scene, ...people), tellNewSubscribers: false });
  const added = scene.storage.announced.flatMap(({ event, audience }) =>
    event.type === 'subscription.added' ? [{ ...event, audience }] : [],
  );
  expect(added.length).toBeGreaterThan(1);
  const told = added.flatMap(({ audience }) => (audience.kind === 'users' ? audience.ids : []));
  expect(told).toEqual(ids(scene, ...people.filter((name) => name !== 'person 3')));
  for (const { subscriptions, channels: views, audience } of added) {
    expect(new Set(subscriptions.map(({ userId }) => userId))).toEqual(
      new Set(audience.kind === 'users' ? audience.ids : []),
    );
    expect(subscriptions).toHaveLength(new Set(subscriptions.map(({ userId }) => userId)).size * 90);
    expect(views.map(({ channel }) => channel.name)).toEqual(channels);
    for (const { subscriberIds } of views) expect(subscriberIds).toHaveLength(240);
  }
}, 30_000);

describe('colors', () => {
  const palette = ['#76ce90', '#fae589', '#a6c7e5', '#e79ab5'];

  it('are those asked for, else the first that the person does not have', async () => {
    const scene = await cast(
      aChannel({ name: 'a', subscribers: ['member'] }),
      ...['b', 'c', 'd'].map((name) => aChannel({ name })),
    );
    await subscribing(scene)('member', ['d', 'b', 'c'], { colors: [null, palette[1]!, '#ABC'] });
    expect(await colorsOf(scene, 'member')).toEqual([palette[0], palette[1], '#aabbcc', palette[2]]);
  });

  it('come back with whoever comes back', async () => {
    const scene = await cast(aChannel({ name: 'a', subscribers: ['member'] }));
    const subscribe = subscribing(scene);
    const member = scene.user('member').id;
    await scene.uow.write(async (tx) => {
      const row = (await tx.channels.findSubscription(scene.realm.id, scene.channel('a').id, member))!;
      await tx.channels.putSubscriptions([{ ...row, color: '#123456', isMuted: true, isPinned: true }]);
      await leaveChannels(tx, [scene.channel('a')], [member]);
    });
    await subscribe('member', ['a'], { colors: ['#ffffff'] });
    const row = await scene.uow.read((r) => r.channels.findSubscription(scene.realm.id, scene.channel('a').id, member));
    expect(row).toMatchObject({ isActive: true, color: '#123456', isMuted: true, isPinned: true });
  });
});

describe('letting others follow', () => {
  it('tells each person by a direct message, once, by name of channel', async () => {
    const scene = await cast(
      ...['team', 'team (old)', 'known'].map((name) => aChannel({ name })),
      aUser({ name: 'robot', botOf: 'owner' }),
    );
    const subscribe = subscribing(scene);
    await subscribe('member', ['known'], { principals: ids(scene, 'owner', 'guest') });
    scene.storage.announced.length = 0;
    await subscribe('member', ['known'], { principals: ids(scene, 'owner', 'moderator', 'guest') });
    expect(notices(scene).map(({ to }) => to)).toEqual(['moderator']);
    scene.storage.announced.length = 0;
    await subscribe('member', ['team (old)', 'known', 'team'], { principals: ids(scene, 'owner', 'member', 'robot') });
    expect(notices(scene)).toEqual([
      {
        to: 'owner',
        content: `@_**member|${scene.user('member').id}** subscribed you to the following channels:\n\n* #**team**\n* #**team (old)**`,
      },
    ]);
  });

  it.each([
    [MAX_TOLD_SUBSCRIBERS, true],
    [MAX_TOLD_SUBSCRIBERS + 1, false],
  ])('tells %d people: %s', async (count, areNewSubscribersTold) => {
    const names = Array.from({ length: count }, (_, index) => `user${index}`);
    const scene = await cast(...names.map((name) => aUser({ name })), aChannel({ name: 'a' }));
    const result = await subscribing(scene)('member', ['a'], { principals: ids(scene, ...names) });
    expect(result.areNewSubscribersTold).toBe(areNewSubscribersTold);
    expect(notices(scene)).toHaveLength(areNewSubscribersTold ? count : 0);
  });

  it('tells nobody when asked not to', async () => {
    const scene = await cast(aChannel({ name: 'a' }));
    await subscribing(scene)('member', ['a'], { principals: ids(scene, 'owner'), tellNewSubscribers: false });
    expect(notices(scene)).toEqual([]);
  });

  it('is for those the organization lets, administrators, and whom the channel lets', async () => {
    const scene = await cast(
      aRealmWith({ grants: { canAddSubscribers: 'nobody' } }),
      aGroup({ name: 'hosts', members: ['moderator'] }),
      aChannel({ name: 'own', creator: 'member' }),
      aChannel({ name: 'hosted', privacy: 'privateSharedHistory', grantedTo: { canAddSubscribers: 'hosts' } }),
    );
    const subscribe = subscribing(scene);
    const principals = ids(scene, 'guest');
    await expectRefused(scene, () => subscribe('moderator', ['own'], { principals }), INSUFFICIENT);
    await subscribe('member', ['own'], { principals });
    await subscribe('moderator', ['hosted'], { principals });
    await subscribe('administrator', ['own'], { principals });
  });

  it('counts one’s own address as somebody else, and one’s own number not', async () => {
    const scene = await cast(aRealmWith({ grants: { canAddSubscribers: 'nobody' } }), aChannel({ name: 'a' }));
    const subscribe = subscribing(scene);
    const emails = { emails: ['member@example.com'] };
    await expectRefused(scene, () => subscribe('member', ['a'], { principals: emails }), INSUFFICIENT);
    const both = ids(scene, 'member', 'guest');
    await expectRefused(scene, () => subscribe('member', ['a'], { principals: both }), INSUFFICIENT);
    expect(await subscribe('member', ['a'], { principals: { emails: [] } })).toMatchObject({ subscribed: new Map() });
    const { subscribed } = await subscribe('member', ['a'], { principals: ids(scene, 'member') });
    expect(subscribed.size).toBe(1);
    await subscribe('moderator', ['a']);
  });

  it('needs no such right for channels that are being created', async () => {
    const scene = await cast(aRealmWith({ grants: { canAddSubscribers: 'nobody' } }));
    const { subscribed } = await subscribing(scene)('member', ['new'], { principals: ids(scene, 'guest') });
    expect([...subscribed.keys()]).toEqual(ids(scene, 'guest'));
  });

  it('finds people by the addresses others see, and by no others', async () => {
    const scene = await cast(aChannel({ name: 'a' }), async (theScene, tx) => {
      const owner = theScene.user('owner');
      await tx.users.update({ ...owner, settings: { ...owner.settings, emailAddressVisibility: 'nobody' } });
    });
    const subscribe = subscribing(scene);
    const by = (...emails: readonly string[]) => ({ principals: { emails } });
    await expectRefused(scene, () => subscribe('member', ['a'], by('owner@example.com')), { message: 'No such user' });
    const { subscribed } = await subscribe(
      'member',
      ['a'],
      by(`user${scene.user('owner').id}@chat.example`, 'GUEST@example.com'),
    );
    expect([...subscribed.keys()]).toEqual(ids(scene, 'owner', 'guest'));
  });
});

describe('following is refused', () => {
  it('to guests, whatever the channel', async () => {
    const scene = await cast(aChannel({ name: 'open', privacy: 'webPublic' }));
    await expectRefused(scene, () => subscribing(scene)('guest', ['open']), { message: 'Not allowed for guest users' });
  });

  it('where one cannot read, by the first such channel; administrators too', async () => {
    const hidden = (name: string) => aChannel({ name, privacy: 'privateSharedHistory' });
    const scene = await cast(hidden('first'), hidden('second'), aChannel({ name: 'open' }));
    const subscribe = subscribing(scene);
    const names = ['open', 'SECOND', 'first'];
    await expectRefused(scene, () => subscribe('administrator', names), {
      code: 'NOT_PERMITTED',
      message: 'Unable to access channel (second).',
    });
    const result = await subscribe('administrator', names, { failsOnInaccessible: false });
    expect(result.inaccessible).toEqual(['second', 'first']);
    expect([...result.subscribed.values()]).toEqual([['open']]);
  });

  it('by a hidden name only as it was typed (contract decision 20)', async () => {
    const scene = await cast(aChannel({ name: 'Hidden', privacy: 'privateSharedHistory' }), aChannel({ name: 'open' }));
    const subscribe = subscribing(scene);
    const names = ['open', ' hidDEN ', 'HIDDEN'];
    await expectRefused(scene, () => subscribe('member', names), { message: 'Unable to access channel (hidDEN).' });
    expect(await subscribe('member', names, { failsOnInaccessible: false })).toMatchObject({
      inaccessible: ['hidDEN'],
    });
  });

  it('unless the channel lets one in', async () => {
    const scene = await cast(
      aChannel({ name: 'club', privacy: 'privateSharedHistory', grantedTo: { canSubscribe: 'moderators' } }),
    );
    const { subscribed } = await subscribing(scene)('moderator', ['club']);
    expect([...subscribed.values()]).toEqual([['club']]);
  });

  it('for people who are unknown, gone, of another realm, or hidden', async () => {
    const scene = await cast(aChannel({ name: 'a' }), aUser({ name: 'gone', isActive: false }));
    const elsewhere = await anotherRealm(scene);
    const subscribe = subscribing(scene);
    const following =
      (...principals: readonly UserId[]) =>
      () =>
        subscribe('member', ['a', 'new'], { principals });
    const noSuchUser = { code: 'INVALID_INPUT', message: 'No such user' };
    await expectRefused(scene, following(...ids(scene, 'owner'), elsewhere.user('stranger').id), noSuchUser);
    await expectRefused(scene, following(scene.user('gone').id), { message: 'User is deactivated' });
    const bot = await scene.uow.read(({ users }) => users.findSystemBot(scene.realm.id, 'notification'));
    await expectRefused(scene, following(bot.id), noSuchUser);
    // Another realm's channel of that name is none: this realm gets its own.
    expect([...(await subscribe('member', ['theirs'])).subscribed.values()]).toEqual([['theirs']]);
  });

  const unknownFolder = { wishes: { ...PLAIN_CHANNEL, folderId: 7 } };
  const policy = { wishes: { ...PLAIN_CHANNEL, topicsPolicy: 'disable_empty_topic' as const } };
  const badGroup = { wishes: { ...PLAIN_CHANNEL, permissions: { canSubscribe: 9999 as GroupId } } };

  it.each<[string, readonly string[], Wanted, object]>([
    ['an unknown folder, before names', [' '], unknownFolder, { message: 'Invalid channel folder ID' }],
    [
      'an unknown folder, although nothing is created',
      ['known'],
      unknownFolder,
      { message: 'Invalid channel folder ID' },
    ],
    ['a topics policy, before names', [' '], policy, INSUFFICIENT],
    ['a name, before permissions', [' '], badGroup, { message: "Channel name can't be empty." }],
    ['an unknown group, before the right to create', ['new'], badGroup, { message: 'Invalid user group' }],
    ['the right to create, before entering', ['hidden', 'new'], {}, INSUFFICIENT],
    [
      'entering, before the people',
      ['hidden'],
      { principals: [9999 as UserId] },
      { message: 'Unable to access channel (hidden).' },
    ],
  ])('in order: %s', async (_, names, wanted, refusal) => {
    const scene = await cast(
      aRealmWith({ grants: { canCreatePublicChannel: 'nobody', canSetTopicsPolicy: 'nobody' } }),
      aChannel({ name: 'known' }),
      aChannel({ name: 'hidden', privacy: 'privateSharedHistory' }),
    );
    await expectRefused(scene, () => subscribing(scene)('member', names, wanted), refusal);
  });

  it('creates no more channels than are left for the day, of which only those count that were made', async () => {
    const scene = await cast(
      aChannel({ name: 'known' }),
      aChannel({ name: 'hidden', privacy: 'privateSharedHistory' }),
    );
    const subscribe = subscribing(scene, new PlainChannelQuota(3));
    await subscribe('member', ['known', 'one', 'ONE', 'two']);
    await expectRefused(scene, () => subscribe('member', ['three', 'hidden']), INACCESSIBLE);
    await expectRefused(scene, () => subscribe('member', ['three', 'four']), { code: 'RATE_LIMITED' });
    await subscribe('member', ['three']);
    await expectRefused(scene, () => subscribe('member', ['four']), { code: 'RATE_LIMITED' });
    expect((await subscribe('member', ['known', 'three'])).alreadySubscribed.size).toBe(1);
  });

  it('does not look at what new channels shall be like when there is none', async () => {
    const scene = await cast(aChannel({ name: 'known' }), aRealmWith({ grants: { canCreatePublicChannel: 'nobody' } }));
    const { subscribed } = await subscribing(scene)('member', ['known'], badGroup);
    expect(subscribed.size).toBe(1);
  });
});
