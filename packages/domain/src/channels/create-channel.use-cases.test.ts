import {
  aChannel,
  aMessage,
  anotherRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  committingLate,
  createFixture,
  eventsWithReceivers,
  expectInSync,
  expectRefused,
  FakeChannelQuota,
  FakeRenderer,
  type FixtureStep,
  failingToCommit,
  fakeRealmUrls,
  type MemoryFixture,
  OverwhelmedRenderer,
} from '@parley/testkit';
import type { ChannelFolderId, ChannelId, GroupId, UserId } from '../kernel/ids.js';
import { MarkdownTextRenderer } from '../writing/render-message.js';
import { SystemMessages } from '../writing/system-messages.js';
import { CreateChannel, type CreateChannelInput } from './create-channel.use-cases.js';
import { ChannelCreator, DEFAULT_CHANNEL_OPTIONS } from './create-channels.use-cases.js';
import { ChangeSubscriptionParts } from './subscription-parts.js';

type Options = Partial<CreateChannelInput>;

const input: CreateChannelInput = {
  ...DEFAULT_CHANNEL_OPTIONS,
  name: 'Denmark',
  description: '',
  subscriberIds: [],
  announce: false,
};

function creating(
  fixture: MemoryFixture,
  { webPublicEnabled = true, quota = new FakeChannelQuota(), renderer = new FakeRenderer(), uow = fixture.uow } = {},
) {
  const systemMessages = new SystemMessages(renderer, fakeRealmUrls, fixture.clock);
  const descriptions = new MarkdownTextRenderer(uow, renderer, fakeRealmUrls);
  const channelCreator = new ChannelCreator(descriptions, systemMessages, quota, { webPublicEnabled });
  const parts = new ChangeSubscriptionParts(uow, channelCreator, fixture.clock);
  const useCase = new CreateChannel(channelCreator, parts, fakeRealmUrls);
  return (who: string, options: Options = {}) => useCase.execute(fixture.caller(who), { ...input, ...options });
}

const channelOf = (fixture: MemoryFixture, id: ChannelId) =>
  fixture.uow.read(fixture.realm.id, async ({ channels }) => (await channels.find(fixture.realm.id, id))!);
const systemGroups = (fixture: MemoryFixture) =>
  fixture.uow.read(fixture.realm.id, ({ groups }) => groups.systemGroupIds(fixture.realm.id));
const contents = (fixture: MemoryFixture) =>
  fixture.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view.message] : []));
const quiet = aRealmWith({ settings: { sendChannelEventsMessages: false } });
const spectators = aRealmWith({ settings: { enableSpectatorAccess: true } });
const cast = (...pieces: readonly FixtureStep[]) => createFixture(aUserOfEachRole(), ...pieces);

describe('CreateChannel', () => {
  it('enforces the daily limit and counts only created channels', async () => {
    const fixture = await cast();
    const create = creating(fixture, { quota: new FakeChannelQuota(2) });
    await create('member', { name: 'one' });
    await expectRefused(fixture, () => create('member', { name: 'ONE' }), { code: 'CHANNEL_NAME_TAKEN' });
    await expectRefused(fixture, () => create('member', { subscriberIds: [9999 as UserId] }), {
      message: 'No such user',
    });
    await create('member', { name: 'two' });
    await expectRefused(fixture, () => create('member', { name: 'three' }), { code: 'RATE_LIMITED' });
    await create('moderator', { name: 'three' });
  });

  it.each([1, 2])('counts %j of two concurrent requests against the daily limit', async (each) => {
    const fixture = await cast();
    const create = creating(fixture, { quota: new FakeChannelQuota(each), uow: committingLate(fixture.uow) });
    const both = await Promise.allSettled([create('member', { name: 'one' }), create('member', { name: 'two' })]);
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(each);
  });

  it('does not count a channel if the commit fails', async () => {
    const fixture = await cast();
    const quota = new FakeChannelQuota(1);
    const failing = creating(fixture, { quota, uow: failingToCommit(fixture.uow) });
    await expect(failing('member')).rejects.toThrow('The disk is full');
    await creating(fixture, { quota })('member');
    await expect(creating(fixture, { quota })('member', { name: 'two' })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    });
  });

  it('rejects a description that cannot be rendered, in contract order and without parsing it in the transaction', async () => {
    const fixture = await cast();
    const create = creating(fixture, { renderer: new OverwhelmedRenderer() });
    await expectRefused(fixture, () => create('guest', { description: 'x' }), { code: 'MUST_NOT_BE_GUEST' });
    await expectRefused(fixture, () => create('member', { description: 'x' }), { code: 'UNRENDERABLE_CONTENT' });
  });

  it('creates the channel, subscribes users and posts a notice in it', async () => {
    const fixture = await cast();
    const create = creating(fixture);
    const { member, guest } = { member: fixture.user('member').id, guest: fixture.user('guest').id };

    const id = await create('member', { description: 'Rotten\nstate', subscriberIds: [guest, member, guest] });

    expect(await channelOf(fixture, id)).toMatchObject({
      name: 'Denmark',
      description: 'Rotten state',
      renderedDescription: '<p>Rotten state</p>',
      privacy: 'public',
      creatorId: member,
      createdAt: fixture.clock.now(),
      isRecentlyActive: true,
    });
    const nonGuests = ['owner', 'administrator', 'moderator', 'member'];
    expect(await eventsWithReceivers(fixture)).toEqual([
      ['channel.created', nonGuests],
      ['channel.created', ['guest']],
      ['subscription.added', ['member', 'guest']],
      ['channel.subscribers_changed', ['owner', 'administrator', 'moderator']],
      ['message.sent', ['member', 'guest']],
    ]);
    expect(contents(fixture)).toMatchObject([
      {
        topic: 'channel events',
        content: `**Public** channel created by @_**member|${member}**. **Description:**\n\`\`\`\` quote\nRotten state\n\`\`\`\``,
      },
    ]);
    const unread = (userId: UserId) =>
      fixture.uow.read(fixture.realm.id, (r) => r.personal.listUnread({ realmId: fixture.realm.id, userId }, 9));
    expect(await unread(member)).toEqual([]);
    expect(await unread(guest)).toHaveLength(1);
  });

  it('links in its name and description only to channels the creator can see', async () => {
    const fixture = await cast(
      aChannel({ name: 'vault', privacy: 'privateSharedHistory', subscribers: ['owner'] }),
      aChannel({ name: 'news', subscribers: ['member'] }),
      aMessage({ from: 'owner', to: 'vault', topic: 'plans' }),
    );
    await fixture.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: fixture.channel('news').id } }));
    const links = '#**vault** #**vault>plans**';
    const create = creating(fixture);
    const hidden = await create('member', { name: 'vault>plans', description: links, announce: true });
    await create('member', { name: 'secret', isPrivate: true, announce: true });
    expect(await channelOf(fixture, hidden)).toMatchObject({
      renderedDescription: '<p>#**vault** #**vault&gt;plans**</p>',
    });
    const systemMessages = contents(fixture).map(({ renderedContent }) => renderedContent);
    // Notices link to the channels they are about, including private ones.
    expect(systemMessages.join()).toContain('created a new channel <a>#secret</a>.');
    expect(systemMessages.join()).not.toContain('<a>#vault');
    expect(systemMessages).toHaveLength(4);
  });

  it.each<[string, Options, string, readonly string[]]>([
    [
      'web-public',
      { isWebPublic: true, sharesHistory: false },
      'webPublic',
      ['owner', 'administrator', 'moderator', 'member', 'guest'],
    ],
    ['public', { sharesHistory: false }, 'public', ['owner', 'administrator', 'moderator', 'member']],
    ['private', { isPrivate: true }, 'privateProtectedHistory', ['owner', 'administrator']],
    ['shared', { isPrivate: true, sharesHistory: true }, 'privateSharedHistory', ['owner', 'administrator']],
  ])('notifies users who can see a %s channel', async (_, options, privacy, who) => {
    const fixture = await cast(quiet, spectators);
    const id = await creating(fixture)('owner', options);
    expect(await channelOf(fixture, id)).toMatchObject({ privacy });
    expect(await eventsWithReceivers(fixture)).toEqual([['channel.created', who]]);
  });

  it('shows a private channel to its creator even without a subscription', async () => {
    const fixture = await cast(quiet);
    await expectInSync(fixture, () => creating(fixture)('member', { isPrivate: true }));
    expect(await eventsWithReceivers(fixture)).toEqual([['channel.created', ['owner', 'administrator', 'member']]]);
  });

  it('yields the same state from events as from a fresh fetch, for every user', async () => {
    const fixture = await cast(spectators);
    const ids = [fixture.user('member').id, fixture.user('guest').id];
    const create = creating(fixture);
    await expectInSync(fixture, () => create('administrator', { name: 'a', isPrivate: true, subscriberIds: ids }));
    await expectInSync(fixture, () => create('administrator', { name: 'b', isDefault: true, subscriberIds: ids }));
    await expectInSync(fixture, () =>
      create('owner', { name: 'c', isWebPublic: true, subscriberIds: ids }).catch(() => {}),
    );
  });

  it('publishes a default channel before any subscription to it', async () => {
    const fixture = await cast(
      quiet,
      aChannel({ name: 'old', isDefault: true }),
      aChannel({ name: 'gone', isDefault: true, isArchived: true }),
    );
    const id = await creating(fixture)('administrator', {
      isDefault: true,
      subscriberIds: [fixture.user('member').id],
    });
    expect((await eventsWithReceivers(fixture)).map(([type]) => type)).toEqual([
      'channel.created',
      'default_channels.changed',
      'subscription.added',
      'channel.subscribers_changed',
    ]);
    expect(
      fixture.storage.announced.find(({ event }) => event.type === 'default_channels.changed')?.event,
    ).toMatchObject({
      channelIds: [fixture.channel('old').id, id],
    });
  });

  it('makes the creator an administrator of the channel unless the request specifies otherwise', async () => {
    const fixture = await cast(quiet);
    const create = creating(fixture);
    const administratorsOf = async (id: ChannelId) => {
      const { canAdministerChannel } = (await channelOf(fixture, id)).permissions;
      const values = await fixture.uow.read(fixture.realm.id, ({ groups }) =>
        groups.settingValues(fixture.realm.id, [canAdministerChannel]),
      );
      return values.get(canAdministerChannel);
    };
    const { moderators } = await systemGroups(fixture);
    expect(await administratorsOf(await create('member', { name: 'own' }))).toEqual({
      directMembers: [fixture.user('member').id],
      directSubgroups: [],
    });
    const theirs = await create('member', { name: 'theirs', permissions: { canAdministerChannel: moderators } });
    expect(await administratorsOf(theirs)).toBe(moderators);
  });

  it('stores permissions in canonical form', async () => {
    const fixture = await cast(quiet);
    const { moderators, nobody } = await systemGroups(fixture);
    const spelt = (directSubgroups: readonly GroupId[]) => ({ directMembers: [], directSubgroups });
    const permissions = { canSubscribe: spelt([moderators]), canAddSubscribers: spelt([]) };
    const channel = await channelOf(fixture, await creating(fixture)('member', { permissions }));
    expect(channel.permissions).toMatchObject({ canSubscribe: moderators, canAddSubscribers: nobody });
  });

  it('announces the channel if the organization wants it, already marked as read for the creator', async () => {
    const fixture = await cast(quiet, aChannel({ name: 'news', subscribers: ['member', 'owner'] }));
    await fixture.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: fixture.channel('news').id } }));
    await creating(fixture)('member', { announce: true });
    expect(contents(fixture)).toMatchObject([
      {
        channelId: fixture.channel('news').id,
        topic: 'new channels',
        content: `@_**member|${fixture.user('member').id}** created a new channel #**Denmark**.`,
      },
    ]);
    const unread = (name: string) =>
      fixture.uow.read(fixture.realm.id, (r) => r.personal.listUnread(fixture.viewer(name), 9));
    expect([(await unread('member')).length, (await unread('owner')).length]).toEqual([0, 1]);
  });

  it.each<[string, FixtureStep | null]>([
    ['it is not requested', null],
    ['its channel is archived', aChannel({ name: 'news', isArchived: true })],
  ])('publishes no announcement when %s', async (_, piece) => {
    const fixture = await cast(quiet, ...(piece ? [piece] : []));
    if (piece)
      await fixture.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: fixture.channel('news').id } }));
    await creating(fixture)('member', { announce: true });
    expect(contents(fixture)).toEqual([]);
  });

  it('posts notices to the empty topic if no other topic is allowed', async () => {
    const fixture = await cast();
    await creating(fixture)('administrator', { topicsPolicy: 'emptyTopicOnly' });
    expect(contents(fixture)).toMatchObject([{ topic: '', content: expect.stringContaining('*No description.*') }]);
  });
});

describe('CreateChannel validation', () => {
  const folder = { folderId: 7 as ChannelFolderId };
  const badGroup = { permissions: { canSubscribe: 9999 as GroupId } };
  const nobodyThere = { subscriberIds: [9999 as UserId] };
  const INSUFFICIENT = { code: 'NOT_PERMITTED', message: 'Insufficient permission' };

  /** Each row also violates the rules tested by later rows, which shows the order of checks. */
  it.each<[string, string, Options, object]>([
    ['guests', 'guest', { name: ' ' }, { code: 'MUST_NOT_BE_GUEST', message: 'Not allowed for guest users' }],
    ['a blank name', 'member', { name: ' ', ...folder }, { message: "Channel name can't be empty." }],
    [
      'a long name',
      'member',
      { name: 'é'.repeat(61), ...folder },
      { message: 'Channel name too long (limit: 60 characters).' },
    ],
    [
      'an invalid character in the name',
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
    ['the name of a hidden archived channel', 'member', { name: 'secret' }, { code: 'CHANNEL_NAME_TAKEN' }],
    [
      'an unknown folder',
      'member',
      { ...folder, isPrivate: true, isWebPublic: true },
      { message: 'Invalid channel folder ID' },
    ],
    [
      'a private web-public channel',
      'member',
      { isPrivate: true, isWebPublic: true, ...badGroup },
      { message: 'Invalid parameters' },
    ],
    [
      'a private default channel',
      'administrator',
      { isDefault: true, isPrivate: true, retention: 3 },
      { message: 'A default channel cannot be private.' },
    ],
    ['a default channel by a member', 'member', { isDefault: true, isPrivate: true }, INSUFFICIENT],
    ['a retention policy by a non-owner', 'administrator', { retention: 3, ...badGroup }, { code: 'MUST_BE_OWNER' }],
    ['a web-public channel by a member', 'member', { isWebPublic: true, retention: 3 }, INSUFFICIENT],
    ['an unknown group', 'member', { ...badGroup, ...nobodyThere }, { message: 'Invalid user group' }],
    ['unknown subscribers', 'member', nobodyThere, { message: 'No such user' }],
  ])('rejects %s, in contract order', async (_, who, options, refusal) => {
    const fixture = await cast(
      spectators,
      aChannel({ name: 'old' }),
      aChannel({ name: 'secret', privacy: 'privateProtectedHistory', isArchived: true }),
    );
    await expectRefused(fixture, () => creating(fixture)(who, options), refusal);
  });

  it.each<[string, Options]>([
    ['public', {}],
    ['private', { isPrivate: true }],
  ])('rejects %s channels if nobody may create them, even for administrators', async (_, options) => {
    const permissionOverrides = { canCreatePublicChannel: 'nobody', canCreatePrivateChannel: 'nobody' };
    const fixture = await cast(aRealmWith({ permissionOverrides }));
    await expectRefused(
      fixture,
      () => creating(fixture)('administrator', { ...options, isDefault: true }),
      INSUFFICIENT,
    );
  });

  it('rejects a topics policy without the permission', async () => {
    const fixture = await cast(aRealmWith({ permissionOverrides: { canSetTopicsPolicy: 'moderators' } }));
    const options: Options = { topicsPolicy: 'emptyTopicRefused' };
    await expectRefused(fixture, () => creating(fixture)('member', options), INSUFFICIENT);
  });

  it.each([
    [false, true],
    [true, false],
  ])(
    'rejects web-public channels if the server (%s) or the realm (%s) does not allow them',
    async (webPublicEnabled, enableSpectatorAccess) => {
      const fixture = await cast(aRealmWith({ settings: { enableSpectatorAccess } }));
      const create = creating(fixture, { webPublicEnabled });
      await expectRefused(fixture, () => create('owner', { isWebPublic: true }), {
        message: 'Web-public channels are not enabled.',
      });
    },
  );

  it('rejects limited topic creation in a channel with protected history', async () => {
    const fixture = await cast();
    const { moderators, everyone } = await systemGroups(fixture);
    const create = creating(fixture);
    const wanting = (canCreateTopic: GroupId | { directMembers: []; directSubgroups: GroupId[] }): Options => ({
      isPrivate: true,
      permissions: { canCreateTopic },
    });
    await expectRefused(fixture, () => create('member', { ...wanting(moderators), ...nobodyThere }), {
      code: 'TOPIC_CREATION_MUST_BE_OPEN',
    });
    await create('member', { ...wanting(everyone), name: 'one' });
    await create('member', { ...wanting({ directMembers: [], directSubgroups: [everyone] }), name: 'two' });
    await create('member', { ...wanting(moderators), name: 'three', sharesHistory: true });
  });

  it('rejects a deletion permission without the right to set it', async () => {
    const fixture = await cast();
    const { everyone, nobody } = await systemGroups(fixture);
    const create = creating(fixture);
    const permissions = { canDeleteOwnMessage: everyone };
    await expectRefused(fixture, () => create('member', { permissions, ...nobodyThere }), INSUFFICIENT);
    await create('member', { permissions: { canDeleteAnyMessage: nobody } });
    await create('moderator', { permissions, name: 'second' });
  });

  it('rejects subscribers of another realm, deactivated users and users the member may not add', async () => {
    const fixture = await cast(aUser({ name: 'gone', isActive: false }));
    const elsewhere = await anotherRealm(fixture);
    const create = creating(fixture);
    const withPerson = (id: UserId) => () => create('member', { subscriberIds: [id] });
    await expectRefused(fixture, withPerson(elsewhere.user('otherRealmUser').id), { message: 'No such user' });
    await expectRefused(fixture, withPerson(fixture.user('gone').id), { message: 'User is deactivated' });
  });
});
