import {
  aChannel,
  aMessage,
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
import type { ChannelId, GroupId, UserId } from '../../shared/ids.js';
import { ChannelFoundry, PLAIN_CHANNEL } from '../create-channels.js';
import { CreateChannel, type CreateChannelInput } from './create-channel.js';

type Wishes = Partial<CreateChannelInput>;

const input: CreateChannelInput = {
  ...PLAIN_CHANNEL,
  name: 'Denmark',
  description: '',
  subscriberIds: [],
  announce: false,
};

function creating(scene: MemoryScene, { webPublicEnabled = true, quota = new PlainChannelQuota() } = {}) {
  const renderer = new PlainRenderer();
  const notices = new NoticeBoard(renderer, plainAddresses, scene.clock);
  const foundry = new ChannelFoundry(renderer, plainAddresses, notices, quota);
  const useCase = new CreateChannel(scene.uow, foundry, scene.clock, plainAddresses, { webPublicEnabled });
  return (who: string, wishes: Wishes = {}) => useCase.execute(scene.caller(who), { ...input, ...wishes });
}

const channelOf = (scene: MemoryScene, id: ChannelId) =>
  scene.uow.read(async ({ channels }) => (await channels.find(scene.realm.id, id))!);
const systemGroups = (scene: MemoryScene) => scene.uow.read(({ groups }) => groups.systemGroupIds(scene.realm.id));
const contents = (scene: MemoryScene) =>
  scene.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view.message] : []));
const quiet = aRealmWith({ settings: { sendChannelEventsMessages: false } });
const spectators = aRealmWith({ settings: { enableSpectatorAccess: true } });
const cast = (...pieces: readonly Piece[]) => given(aUserOfEachRole(), ...pieces);

describe('creating a channel', () => {
  it('is refused when the day’s channels are used up, of which only those count that were made', async () => {
    const scene = await cast();
    const create = creating(scene, { quota: new PlainChannelQuota(2) });
    await create('member', { name: 'one' });
    await expectRefused(scene, () => create('member', { name: 'ONE' }), { code: 'CHANNEL_NAME_TAKEN' });
    await expectRefused(scene, () => create('member', { subscriberIds: [9999 as UserId] }), {
      message: 'No such user',
    });
    await create('member', { name: 'two' });
    await expectRefused(scene, () => create('member', { name: 'three' }), { code: 'RATE_LIMITED' });
    await create('moderator', { name: 'three' });
  });

  it('makes it, lets people in and says so in it', async () => {
    const scene = await cast();
    const create = creating(scene);
    const { member, guest } = { member: scene.user('member').id, guest: scene.user('guest').id };

    const id = await create('member', { description: 'Rotten\nstate', subscriberIds: [guest, member, guest] });

    expect(await channelOf(scene, id)).toMatchObject({
      name: 'Denmark',
      description: 'Rotten state',
      renderedDescription: '<p>Rotten state</p>',
      privacy: 'public',
      creatorId: member,
      createdAt: scene.clock.now(),
      isRecentlyActive: true,
    });
    const nonGuests = ['owner', 'administrator', 'moderator', 'member'];
    expect(await told(scene)).toEqual([
      ['channel.created', nonGuests],
      ['channel.created', ['guest']],
      ['subscription.added', ['member', 'guest']],
      ['channel.subscribers_changed', ['owner', 'administrator', 'moderator']],
      ['message.sent', ['member', 'guest']],
    ]);
    expect(contents(scene)).toMatchObject([
      {
        topic: 'channel events',
        content: `**Public** channel created by @_**member|${member}**. **Description:**\n\`\`\`\` quote\nRotten state\n\`\`\`\``,
      },
    ]);
    const unread = (userId: UserId) =>
      scene.uow.read((r) => r.personal.listUnread({ realmId: scene.realm.id, userId }, 9));
    expect(await unread(member)).toEqual([]);
    expect(await unread(guest)).toHaveLength(1);
  });

  it('shows by its name and description nothing that its creator cannot see', async () => {
    const scene = await cast(
      aChannel({ name: 'vault', privacy: 'privateSharedHistory', subscribers: ['owner'] }),
      aChannel({ name: 'news', subscribers: ['member'] }),
      aMessage({ from: 'owner', to: 'vault', topic: 'plans' }),
    );
    await scene.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: scene.channel('news').id } }));
    const links = '#**vault** #**vault>plans**';
    const create = creating(scene);
    const hidden = await create('member', { name: 'vault>plans', description: links, announce: true });
    await create('member', { name: 'secret', isPrivate: true, announce: true });
    expect(await channelOf(scene, hidden)).toMatchObject({
      renderedDescription: '<p>#**vault** #**vault&gt;plans**</p>',
    });
    const notices = contents(scene).map(({ renderedContent }) => renderedContent);
    // The channels that the notices are about are linked to all the same, private ones included.
    expect(notices.join()).toContain('created a new channel <a>#secret</a>.');
    expect(notices.join()).not.toContain('<a>#vault');
    expect(notices).toHaveLength(4);
  });

  it.each<[string, Wishes, string, readonly string[]]>([
    [
      'web-public',
      { isWebPublic: true, sharesHistory: false },
      'webPublic',
      ['owner', 'administrator', 'moderator', 'member', 'guest'],
    ],
    ['public', { sharesHistory: false }, 'public', ['owner', 'administrator', 'moderator', 'member']],
    ['private', { isPrivate: true }, 'privateProtectedHistory', ['owner', 'administrator']],
    ['shared', { isPrivate: true, sharesHistory: true }, 'privateSharedHistory', ['owner', 'administrator']],
  ])('tells those who see a %s one', async (_, wishes, privacy, who) => {
    const scene = await cast(quiet, spectators);
    const id = await creating(scene)('owner', wishes);
    expect(await channelOf(scene, id)).toMatchObject({ privacy });
    expect(await told(scene)).toEqual([['channel.created', who]]);
  });

  it('lets a private one’s creator see it although he does not follow it', async () => {
    const scene = await cast(quiet);
    await expectInSync(scene, () => creating(scene)('member', { isPrivate: true }));
    expect(await told(scene)).toEqual([['channel.created', ['owner', 'administrator', 'member']]]);
  });

  it('keeps everybody in sync', async () => {
    const scene = await cast(spectators);
    const ids = [scene.user('member').id, scene.user('guest').id];
    const create = creating(scene);
    await expectInSync(scene, () => create('administrator', { name: 'a', isPrivate: true, subscriberIds: ids }));
    await expectInSync(scene, () => create('administrator', { name: 'b', isDefault: true, subscriberIds: ids }));
    await expectInSync(scene, () =>
      create('owner', { name: 'c', isWebPublic: true, subscriberIds: ids }).catch(() => {}),
    );
  });

  it('adds it to those that newcomers follow, before anybody does', async () => {
    const scene = await cast(
      quiet,
      aChannel({ name: 'old', isDefault: true }),
      aChannel({ name: 'gone', isDefault: true, isArchived: true }),
    );
    const id = await creating(scene)('administrator', { isDefault: true, subscriberIds: [scene.user('member').id] });
    expect((await told(scene)).map(([type]) => type)).toEqual([
      'channel.created',
      'default_channels.changed',
      'subscription.added',
      'channel.subscribers_changed',
    ]);
    expect(scene.storage.announced.find(({ event }) => event.type === 'default_channels.changed')?.event).toMatchObject(
      {
        channelIds: [scene.channel('old').id, id],
      },
    );
  });

  it('has its creator for administrator, unless somebody else is', async () => {
    const scene = await cast(quiet);
    const create = creating(scene);
    const administratorsOf = async (id: ChannelId) => {
      const { canAdministerChannel } = (await channelOf(scene, id)).permissions;
      const values = await scene.uow.read(({ groups }) => groups.settingValues(scene.realm.id, [canAdministerChannel]));
      return values.get(canAdministerChannel);
    };
    const { moderators } = await systemGroups(scene);
    expect(await administratorsOf(await create('member', { name: 'own' }))).toEqual({
      directMembers: [scene.user('member').id],
      directSubgroups: [],
    });
    const theirs = await create('member', { name: 'theirs', permissions: { canAdministerChannel: moderators } });
    expect(await administratorsOf(theirs)).toBe(moderators);
  });

  it('spells permissions in their one way', async () => {
    const scene = await cast(quiet);
    const { moderators, nobody } = await systemGroups(scene);
    const spelt = (directSubgroups: readonly GroupId[]) => ({ directMembers: [], directSubgroups });
    const permissions = { canSubscribe: spelt([moderators]), canAddSubscribers: spelt([]) };
    const channel = await channelOf(scene, await creating(scene)('member', { permissions }));
    expect(channel.permissions).toMatchObject({ canSubscribe: moderators, canAddSubscribers: nobody });
  });

  it('is announced where the organization wants it, read for the creator', async () => {
    const scene = await cast(quiet, aChannel({ name: 'news', subscribers: ['member', 'owner'] }));
    await scene.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: scene.channel('news').id } }));
    await creating(scene)('member', { announce: true });
    expect(contents(scene)).toMatchObject([
      {
        channelId: scene.channel('news').id,
        topic: 'new channels',
        content: `@_**member|${scene.user('member').id}** created a new channel #**Denmark**.`,
      },
    ]);
    const unread = (name: string) => scene.uow.read((r) => r.personal.listUnread(scene.viewer(name), 9));
    expect([(await unread('member')).length, (await unread('owner')).length]).toEqual([0, 1]);
  });

  it.each<[string, Piece | null]>([
    ['nobody wants it', null],
    ['the channel for it is archived', aChannel({ name: 'news', isArchived: true })],
  ])('is not announced when %s', async (_, piece) => {
    const scene = await cast(quiet, ...(piece ? [piece] : []));
    if (piece)
      await scene.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: scene.channel('news').id } }));
    await creating(scene)('member', { announce: true });
    expect(contents(scene)).toEqual([]);
  });

  it('says what there is to say in the empty topic where no other is allowed', async () => {
    const scene = await cast();
    await creating(scene)('administrator', { topicsPolicy: 'empty_topic_only' });
    expect(contents(scene)).toMatchObject([{ topic: '', content: expect.stringContaining('*No description.*') }]);
  });
});

describe('creating a channel is refused', () => {
  const folder = { folderId: 7 };
  const badGroup = { permissions: { canSubscribe: 9999 as GroupId } };
  const nobodyThere = { subscriberIds: [9999 as UserId] };
  const INSUFFICIENT = { code: 'NOT_PERMITTED', message: 'Insufficient permission' };

  /** Each row is also wrong in what later rows are about, so that the order shows. */
  it.each<[string, string, Wishes, object]>([
    ['guests', 'guest', { name: ' ' }, { code: 'NOT_PERMITTED', message: 'Not allowed for guest users' }],
    ['a blank name', 'member', { name: ' ', ...folder }, { message: "Channel name can't be empty." }],
    [
      'a long name',
      'member',
      { name: 'é'.repeat(61), ...folder },
      { message: 'Channel name too long (limit: 60 characters).' },
    ],
    [
      'an odd name',
      'member',
      { name: 'ab\u0007', ...folder },
      { message: 'Invalid character in channel name, at position 3.' },
    ],
    [
      'a taken name',
      'member',
      { name: ' OLD', ...folder },
      { code: 'CHANNEL_NAME_TAKEN', message: "Channel 'OLD' already exists" },
    ],
    ['a hidden archived one’s name', 'member', { name: 'secret' }, { code: 'CHANNEL_NAME_TAKEN' }],
    [
      'an unknown folder',
      'member',
      { ...folder, isPrivate: true, isWebPublic: true },
      { message: 'Invalid channel folder ID' },
    ],
    [
      'private and web-public',
      'member',
      { isPrivate: true, isWebPublic: true, ...badGroup },
      { message: 'Invalid parameters' },
    ],
    [
      'a default private one',
      'administrator',
      { isDefault: true, isPrivate: true, retention: 3 },
      { message: 'A default channel cannot be private.' },
    ],
    ['a default one by members', 'member', { isDefault: true, isPrivate: true }, INSUFFICIENT],
    ['retention but by owners', 'administrator', { retention: 3, ...badGroup }, { code: 'MUST_BE_OWNER' }],
    ['web-public by members', 'member', { isWebPublic: true, retention: 3 }, INSUFFICIENT],
    ['an unknown group', 'member', { ...badGroup, ...nobodyThere }, { message: 'Invalid user group' }],
    ['unknown people', 'member', nobodyThere, { message: 'No such user' }],
  ])('for %s', async (_, who, wishes, refusal) => {
    const scene = await cast(
      spectators,
      aChannel({ name: 'old' }),
      aChannel({ name: 'secret', privacy: 'privateProtectedHistory', isArchived: true }),
    );
    await expectRefused(scene, () => creating(scene)(who, wishes), refusal);
  });

  it.each<[string, Wishes]>([
    ['public', {}],
    ['private', { isPrivate: true }],
  ])('for %s ones when nobody may create them, not even administrators', async (_, wishes) => {
    const grants = { canCreatePublicChannel: 'nobody', canCreatePrivateChannel: 'nobody' };
    const scene = await cast(aRealmWith({ grants }));
    await expectRefused(scene, () => creating(scene)('administrator', { ...wishes, isDefault: true }), INSUFFICIENT);
  });

  it('for a topics policy without the permission', async () => {
    const scene = await cast(aRealmWith({ grants: { canSetTopicsPolicy: 'moderators' } }));
    const wishes: Wishes = { topicsPolicy: 'disable_empty_topic' };
    await expectRefused(scene, () => creating(scene)('member', wishes), INSUFFICIENT);
  });

  it.each([
    [false, true],
    [true, false],
  ])(
    'for web-public ones where server (%s) or realm (%s) has none',
    async (webPublicEnabled, enableSpectatorAccess) => {
      const scene = await cast(aRealmWith({ settings: { enableSpectatorAccess } }));
      const create = creating(scene, { webPublicEnabled });
      await expectRefused(scene, () => create('owner', { isWebPublic: true }), {
        message: 'Web-public channels are not enabled.',
      });
    },
  );

  it('for topics that not everybody may open, where history is protected', async () => {
    const scene = await cast();
    const { moderators, everyone } = await systemGroups(scene);
    const create = creating(scene);
    const wanting = (canCreateTopic: GroupId | { directMembers: []; directSubgroups: GroupId[] }): Wishes => ({
      isPrivate: true,
      permissions: { canCreateTopic },
    });
    await expectRefused(scene, () => create('member', { ...wanting(moderators), ...nobodyThere }), {
      code: 'UNSUPPORTED_COMBINATION',
      details: { parameters: 'history_public_to_subscribers, can_create_topic_group' },
    });
    await create('member', { ...wanting(everyone), name: 'one' });
    await create('member', { ...wanting({ directMembers: [], directSubgroups: [everyone] }), name: 'two' });
    await create('member', { ...wanting(moderators), name: 'three', sharesHistory: true });
  });

  it('for the right to delete messages without the permission to give it', async () => {
    const scene = await cast();
    const { everyone, nobody } = await systemGroups(scene);
    const create = creating(scene);
    const permissions = { canDeleteOwnMessage: everyone };
    await expectRefused(scene, () => create('member', { permissions, ...nobodyThere }), INSUFFICIENT);
    await create('member', { permissions: { canDeleteAnyMessage: nobody } });
    await create('moderator', { permissions, name: 'second' });
  });

  it('for people of another realm, deactivated ones, and those a member may not add', async () => {
    const scene = await cast(aUser({ name: 'gone', isActive: false }));
    const elsewhere = await anotherRealm(scene);
    const create = creating(scene);
    const withPerson = (id: UserId) => () => create('member', { subscriberIds: [id] });
    await expectRefused(scene, withPerson(elsewhere.user('stranger').id), { message: 'No such user' });
    await expectRefused(scene, withPerson(scene.user('gone').id), { message: 'User is deactivated' });
  });
});
