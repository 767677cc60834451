import {
  aChannel,
  aGroup,
  aMessage,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  expectInSync,
  expectRefused,
  given,
  type MemoryScene,
  type Piece,
  sending,
  told,
} from '@parley/testkit';
import type { ChannelId, EventSeq } from '../../shared/ids.js';
import type { UserSettings } from '../../users/user-settings.js';

const toChannel = (name: string) => ({ kind: 'channelName', name }) as const;
const toPeople = (scene: MemoryScene, ...names: readonly string[]) =>
  ({ kind: 'userIds', ids: names.map((name) => scene.user(name).id) }) as const;
const cast = (...pieces: readonly Piece[]) =>
  given(aUserOfEachRole(), aChannel({ name: 'Denmark', subscribers: ['owner', 'member', 'guest'] }), ...pieces);
const sentEvent = (scene: MemoryScene) => {
  const event = scene.storage.announced.at(-1)!.event;
  if (event.type !== 'message.sent') throw new Error(`Announced last: ${event.type}`);
  return event;
};
const flagsOf = (scene: MemoryScene, name: string) =>
  scene.uow.read(async (r) => {
    const id = sentEvent(scene).view.message.id;
    const flags = (await r.personal.listFlags(scene.viewer(name), [id])).get(id);
    return flags ? Object.entries(flags).flatMap(([flag, on]) => (on ? [flag] : [])) : null;
  });
/** What somebody wants of topics, and how he has his channel. */
const wants =
  (name: string, settings: Partial<UserSettings>, muted: readonly string[] = []): Piece =>
  async (scene, tx) => {
    const user = scene.user(name);
    await tx.users.update({ ...user, settings: { ...user.settings, ...settings } });
    for (const channel of muted) {
      const row = (await tx.channels.findSubscription(scene.realm.id, scene.channel(channel).id, user.id))!;
      await tx.channels.putSubscriptions([{ ...row, isMuted: true }]);
    }
  };
const aQueue =
  (id: string, owner: string): Piece =>
  (scene, tx) =>
    tx.queues.add({
      id,
      realmId: scene.realm.id,
      ownerId: scene.user(owner).id,
      filter: { types: null, allPublicChannels: false, narrow: [] },
      presentation: {},
      startSeq: 0 as EventSeq,
      acked: -1,
      floorSeq: 0 as EventSeq,
      lastPolledAt: scene.clock.now(),
      idleTimeoutSeconds: 600,
    });
const passive = { automaticallyFollowTopicsPolicy: 4, automaticallyUnmuteTopicsInMutedChannelsPolicy: 4 } as const;

describe('a message to a channel', () => {
  it('is stored, and reaches those who follow it', async () => {
    const scene = await cast(aQueue('q', 'member'));
    const echo = { queueId: 'q', localId: '7.1' };
    const { id } = await sending(scene)('member', toChannel('DENMARK'), {
      content: '\n  hi <b> \n',
      topic: ' Plans ',
      echo,
    });
    const { message, conversation, sender } = sentEvent(scene).view;
    expect(message).toMatchObject({
      id,
      topic: 'Plans',
      content: '  hi <b>',
      renderedContent: '<p>  hi &lt;b&gt;</p>',
      sentAt: scene.clock.now(),
      clientName: 'website',
    });
    expect(conversation).toEqual({ kind: 'channel', channelId: scene.channel('Denmark').id, name: 'Denmark' });
    expect(sender).toMatchObject({ fullName: 'member' });
    expect(sentEvent(scene)).toMatchObject({ isPublic: true, echo });
    expect(scene.storage.announced.at(-1)).toMatchObject({ audience: { kind: 'subscribers' } });
    expect(await told(scene)).toContainEqual(['message.sent', ['owner', 'member', 'guest']]);
    expect(await flagsOf(scene, 'member')).toEqual(['read']);
    expect(await flagsOf(scene, 'owner')).toEqual([]);
    expect(await flagsOf(scene, 'moderator')).toBeNull();
  });

  it.each`
    queueId         | whose
    ${'the owners'} | ${'somebody else’s'}
    ${'none'}       | ${'nobody’s'}
  `('puts nothing into a queue that is $whose', async ({ queueId }) => {
    const scene = await cast(aQueue('the owners', 'owner'));
    const echo = { queueId, localId: '7.1' };
    await sending(scene)('member', toChannel('Denmark'), { topic: 'Plans', echo });
    expect(sentEvent(scene).echo).toBeNull();
  });

  it('may stay unread by its sender', async () => {
    const scene = await cast();
    await sending(scene)('member', toChannel('Denmark'), { isReadBySender: false });
    expect(await flagsOf(scene, 'member')).toEqual([]);
  });

  it('is not the sender’s own where he does not follow the channel', async () => {
    const scene = await cast();
    await expectInSync(scene, () => sending(scene)('moderator', toChannel('Denmark')));
    expect(await flagsOf(scene, 'moderator')).toBeNull();
  });

  it.each(['', '(no topic)', 'general chat', '  '])('goes to the empty topic by %j', async (topic) => {
    const scene = await cast();
    await sending(scene)('member', toChannel('Denmark'), { topic });
    expect(sentEvent(scene).view.message.topic).toBe('');
  });

  it('is cut to length', async () => {
    const scene = await cast();
    await sending(scene)('member', toChannel('Denmark'), { topic: '😀'.repeat(61), content: '😀'.repeat(10_001) });
    const { topic, content } = sentEvent(scene).view.message;
    expect(topic).toBe(`${'😀'.repeat(57)}...`);
    expect(content).toBe(`${'😀'.repeat(9980)}\n[message truncated]`);
  });

  it('wakes a channel that has been asleep, and begins one that was empty', async () => {
    const scene = await cast(aChannel({ name: 'sleepy', isRecentlyActive: false, subscribers: ['member'] }));
    const send = sending(scene);
    const { id } = await send('member', toChannel('sleepy'));
    await send('member', toChannel('sleepy'));
    const channel = await scene.uow.read((r) => r.channels.find(scene.realm.id, scene.channel('sleepy').id));
    expect(channel).toMatchObject({ isRecentlyActive: true, firstMessageId: id });
    const types = (await told(scene)).map(([type]) => type);
    expect(types.filter((type) => type === 'channel.property_changed')).toHaveLength(1);
    expect(types.indexOf('channel.property_changed')).toBeLessThan(types.indexOf('message.sent'));
  });

  it('of a bot goes where it always does when it names none', async () => {
    const scene = await cast(aUser({ name: 'robot', botOf: 'member' }), async (theScene, tx) => {
      const robot = theScene.user('robot');
      await tx.users.update({
        ...robot,
        bot: { ...robot.bot!, defaultSendingChannelId: theScene.channel('Denmark').id },
      });
    });
    await sending(scene)('robot', { kind: 'defaultChannel' });
    expect(sentEvent(scene).view.conversation).toMatchObject({ name: 'Denmark' });
  });

  it('of a bot may go wherever its owner’s may', async () => {
    const scene = await cast(
      aUser({ name: 'robot', botOf: 'owner' }),
      aChannel({
        name: 'core',
        privacy: 'privateProtectedHistory',
        subscribers: ['owner'],
        grantedTo: { canSendMessage: 'owners' },
      }),
    );
    await sending(scene)('robot', toChannel('core'));
    expect(await told(scene)).toContainEqual(['message.sent', ['owner']]);
  });
});

describe('mentions', () => {
  it('mark those who are named and follow the channel, and whoever is in a group', async () => {
    const scene = await cast(aGroup({ name: 'cooks', members: ['guest', 'moderator'] }));
    const content = '@**owner** @*cooks* @**moderator** @_**member**';
    await expectInSync(scene, () => sending(scene)('member', toChannel('Denmark'), { content }));
    expect(await flagsOf(scene, 'owner')).toEqual(['mentioned']);
    expect(await flagsOf(scene, 'guest')).toEqual(['mentioned']);
    expect(await flagsOf(scene, 'member')).toEqual(['read']);
    expect(await flagsOf(scene, 'moderator')).toBeNull();
  });

  it('bring the message to a bot that does not follow the channel, but to no other stranger', async () => {
    const scene = await cast(
      aUser({ name: 'robot', botOf: 'member' }),
      aUser({ name: 'off', botOf: 'member', isActive: false }),
    );
    await expectInSync(scene, () =>
      sending(scene)('member', toChannel('Denmark'), {
        content: '@**robot** @**off** @**moderator** @**Notification Bot**',
      }),
    );
    expect(await told(scene)).toContainEqual(['message.sent', ['owner', 'member', 'guest', 'robot']]);
    expect(await flagsOf(scene, 'robot')).toEqual(['mentioned']);
    expect(
      sentEvent(scene)
        .exceptions.map(([id]) => id)
        .sort(),
    ).toEqual([scene.user('member').id, scene.user('robot').id]);
  });

  it('of a group do not bring it to its bots', async () => {
    const scene = await cast(aUser({ name: 'robot', botOf: 'member' }), aGroup({ name: 'cooks', members: ['robot'] }));
    await sending(scene)('member', toChannel('Denmark'), { content: '@*cooks*' });
    expect(await flagsOf(scene, 'robot')).toBeNull();
  });

  it.each(['all', 'everyone', 'channel', 'stream'])('of everybody by %s are everybody’s', async (word) => {
    const scene = await cast();
    await expectInSync(scene, () => sending(scene)('member', toChannel('Denmark'), { content: `@**${word}**` }));
    expect(await flagsOf(scene, 'guest')).toEqual(['channelWildcardMentioned']);
    expect(await flagsOf(scene, 'member')).toEqual(['read', 'channelWildcardMentioned']);
  });

  it('of the topic are for those who wrote there, as long as they follow the channel, and the sender', async () => {
    const scene = await cast(
      aMessage({ from: 'guest', to: 'Denmark', topic: 'PLANS' }),
      aMessage({ from: 'moderator', to: 'Denmark', topic: 'plans' }),
      aMessage({ from: 'owner', to: 'Denmark', topic: 'other' }),
    );
    await expectInSync(scene, () => sending(scene)('member', toChannel('Denmark'), { content: '@**topic**' }));
    expect(await flagsOf(scene, 'guest')).toEqual(['topicWildcardMentioned']);
    expect(await flagsOf(scene, 'member')).toEqual(['read', 'topicWildcardMentioned']);
    expect(await flagsOf(scene, 'owner')).toEqual([]);
    expect(await flagsOf(scene, 'moderator')).toBeNull();
  });

  it('work in direct messages too', async () => {
    const scene = await cast();
    await sending(scene)('member', toPeople(scene, 'owner'), { content: '@**owner** @**all** @**guest**' });
    expect(await flagsOf(scene, 'owner')).toEqual(['mentioned', 'channelWildcardMentioned']);
    expect(await flagsOf(scene, 'guest')).toBeNull();
  });
});

describe('mentions of a crowd', () => {
  const names = Array.from({ length: 16 }, (_, index) => `extra ${index}`);
  const crowd = () =>
    cast(
      ...names.map((name) => aUser({ name })),
      aChannel({ name: 'crowded', subscribers: ['member', ...names] }),
      ...names.map((name) => aMessage({ from: name, to: 'crowded', topic: 'plans' })),
    );

  it.each(['hi', '@**all**', '@**topic**'])('are for everybody in a direct message: %s', async (content) => {
    const scene = await crowd();
    const { id } = await sending(scene)('member', toPeople(scene, ...names), { content });
    expect(sentEvent(scene).view.message.id).toBe(id);
  });

  it.each([
    ['hi', null],
    ['@**all**', 'CHANNEL_WILDCARD_NOT_ALLOWED'],
    ['@**topic**', 'TOPIC_WILDCARD_NOT_ALLOWED'],
  ])('are for some in a channel: %s', async (content, code) => {
    const scene = await crowd();
    const sent = () => sending(scene)('member', toChannel('crowded'), { content });
    if (code === null) await sent();
    else await expectRefused(scene, sent, { code });
    await sending(scene)('administrator', toChannel('crowded'), { content });
  });
});

describe('a direct message', () => {
  it('reaches everybody in it, whoever writes, in one conversation', async () => {
    const scene = await cast();
    const send = sending(scene);
    await expectInSync(scene, () => send('member', toPeople(scene, 'owner', 'guest'), { topic: 'means nothing' }));
    const first = sentEvent(scene);
    expect(first.view.message).toMatchObject({ channelId: null, topic: '' });
    expect(first.view.conversation).toMatchObject({
      people: [{ fullName: 'owner' }, { fullName: 'member' }, { fullName: 'guest' }],
    });
    expect(await told(scene)).toEqual([['message.sent', ['owner', 'member', 'guest']]]);
    await send('guest', toPeople(scene, 'owner', 'member', 'guest'));
    expect(sentEvent(scene).view.message.recipientId).toBe(first.view.message.recipientId);
  });

  it('to oneself is alone', async () => {
    const scene = await cast();
    const send = sending(scene);
    await send('member', toPeople(scene, 'member'));
    const { recipientId } = sentEvent(scene).view.message;
    expect(await told(scene)).toEqual([['message.sent', ['member']]]);
    await send('member', toPeople(scene, 'member', 'owner'));
    expect(sentEvent(scene).view.message.recipientId).not.toBe(recipientId);
  });

  it('finds people by the addresses others see', async () => {
    const scene = await cast(wants('owner', { emailAddressVisibility: 3 }));
    const emails = [`USER${scene.user('owner').id}@chat.example`, 'guest@EXAMPLE.com'];
    await sending(scene)('member', { kind: 'emails', emails });
    expect(await told(scene)).toEqual([['message.sent', ['owner', 'member', 'guest']]]);
  });

  it('may go to the realm’s own bots', async () => {
    const scene = await cast();
    const bot = await scene.uow.read(({ users }) => users.findSystemBot(scene.realm.id, 'welcome'));
    await sending(scene)('member', { kind: 'userIds', ids: [bot.id] });
    expect(await told(scene)).toEqual([['message.sent', ['member']]]);
  });

  it('of a guest who may not know everybody goes to whom he shares a channel with, and to bots', async () => {
    const scene = await cast(
      aRealmWith({ grants: { canAccessAllUsers: 'members' } }),
      aUser({ name: 'robot', botOf: 'moderator' }),
    );
    await sending(scene)('guest', toPeople(scene, 'member', 'robot'));
    expect(await told(scene)).toEqual([
      ['user.access_changed', ['guest']],
      ['message.sent', ['member', 'guest', 'robot']],
    ]);
  });
});

describe('what sending does to the topic', () => {
  it('makes whoever starts it follow it, and tells him before the message comes', async () => {
    const scene = await cast();
    const send = sending(scene);
    await expectInSync(scene, async () => {
      expect(await send('member', toChannel('Denmark'))).toMatchObject({ newVisibility: 'followed' });
    });
    expect(await told(scene)).toEqual([
      ['topic.policy_changed', ['member']],
      ['message.sent', ['owner', 'member', 'guest']],
    ]);
    expect(await send('owner', toChannel('Denmark'), { topic: 'PLANS' })).toMatchObject({ newVisibility: null });
  });

  it('takes for new what its sender cannot see', async () => {
    const scene = await cast(
      aChannel({ name: 'club', privacy: 'privateProtectedHistory', subscribers: ['owner'] }),
      aMessage({ from: 'owner', to: 'club', topic: 'plans' }),
    );
    await scene.uow.write(async (tx) => {
      const { realmId, userId } = scene.viewer('member');
      const { id, recipientId } = scene.channel('club');
      const row = (await tx.channels.findSubscription(realmId, id, scene.user('owner').id))!;
      await tx.channels.putSubscriptions([{ ...row, userId }]);
      await tx.personal.openSpans(realmId, recipientId, [userId]);
    });
    const send = sending(scene);
    expect(await send('member', toChannel('club'))).toMatchObject({ newVisibility: 'followed' });
    expect(await send('owner', toChannel('club'))).toMatchObject({ newVisibility: null });
  });

  it('unmutes it in a channel he has muted', async () => {
    const scene = await cast(
      aMessage({ from: 'owner', to: 'Denmark', topic: 'plans' }),
      wants('member', { ...passive, automaticallyUnmuteTopicsInMutedChannelsPolicy: 2 }, ['Denmark']),
    );
    expect(await sending(scene)('member', toChannel('Denmark'))).toMatchObject({ newVisibility: 'unmuted' });
  });

  it('leaves it as it is for bots and in direct messages', async () => {
    const scene = await cast(aUser({ name: 'robot', botOf: 'member' }));
    const send = sending(scene);
    expect(await send('robot', toChannel('Denmark'))).toMatchObject({ newVisibility: null });
    expect(await send('member', toPeople(scene, 'owner'))).toMatchObject({ newVisibility: null });
    expect((await told(scene)).map(([type]) => type)).toEqual(['message.sent', 'message.sent']);
  });

  it('makes people follow it who are mentioned there and follow the channel, unless they do not want to', async () => {
    const scene = await cast(
      aUser({ name: 'robot', botOf: 'member' }),
      aGroup({ name: 'cooks', members: ['guest', 'moderator', 'robot'] }),
      wants('owner', { automaticallyFollowTopicsWhereMentioned: false }),
      wants('member', passive),
    );
    await expectInSync(scene, () => sending(scene)('member', toChannel('Denmark'), { content: '@**owner** @*cooks*' }));
    expect(await told(scene)).toEqual([
      ['topic.policy_changed', ['guest']],
      ['message.sent', ['owner', 'member', 'guest']],
    ]);
  });

  it('makes the sender follow it who mentions himself', async () => {
    const scene = await cast(aMessage({ from: 'owner', to: 'Denmark', topic: 'plans' }), wants('member', passive));
    const { newVisibility } = await sending(scene)('member', toChannel('Denmark'), { content: '@**member**' });
    expect(newVisibility).toBe('followed');
  });
});

describe('a bot that nobody hears', () => {
  const noticesTo = (scene: MemoryScene) =>
    scene.storage.announced.flatMap(({ event }) => {
      if (event.type !== 'message.sent' || event.view.sender.fullName !== 'Notification Bot') return [];
      return [[event.view.conversation.kind, event.view.message.content]];
    });
  const withBot = () => cast(aUser({ name: 'bot', botOf: 'owner' }), aChannel({ name: 'Void' }));

  it('has its owner told, every five minutes at most', async () => {
    const scene = await withBot();
    const send = sending(scene);
    const bot = `@_**bot|${scene.user('bot').id}**`;
    const empty = ['direct', `Your bot ${bot} sent a message to #**Void**, but nobody is subscribed to this channel.`];
    await send('bot', toChannel('Denmark'));
    expect(noticesTo(scene)).toEqual([]);
    await send('bot', toChannel('Void'));
    expect((await told(scene)).at(-1)).toEqual(['message.sent', ['owner']]);
    await send('bot', toChannel('Void'));
    expect(noticesTo(scene)).toEqual([empty]);
    scene.clock.advance(299);
    await expect(send('bot', toChannel('a`b'))).rejects.toMatchObject({ code: 'CHANNEL_NOT_FOUND' });
    expect(noticesTo(scene)).toEqual([empty]);
    scene.clock.advance(1);
    await expect(send('bot', toChannel('a`b'))).rejects.toMatchObject({ code: 'CHANNEL_NOT_FOUND' });
    const missing = `Your bot ${bot} tried to send a message to the channel \`a'b\`, but there is no such channel.`;
    expect(noticesTo(scene)).toEqual([empty, ['direct', missing]]);
  });

  it('has its owner told where it was even if they cannot go there, but nothing else', async () => {
    const scene = await cast(
      aUser({ name: 'bot', botOf: 'member' }),
      aGroup({ name: 'readers', members: ['bot'] }),
      aChannel({ name: 'vault', privacy: 'privateSharedHistory', grantedTo: { canSubscribe: 'readers' } }),
    );
    await sending(scene)('bot', toChannel('vault'));
    expect((await told(scene)).at(-1)).toEqual(['message.sent', ['member']]);
    expect(sentEvent(scene).view.message.renderedContent).toContain('sent a message to <a>#vault</a>, but');
    const other = await cast(
      aUser({ name: 'bot', botOf: 'member' }),
      aChannel({ name: 'Nowhere', privacy: 'privateSharedHistory' }),
    );
    await expect(sending(other)('bot', toChannel('#**Nowhere**'))).rejects.toMatchObject({ code: 'CHANNEL_NOT_FOUND' });
    expect(sentEvent(other).view.message.renderedContent).toContain('to the channel `#**Nowhere**`, but');
  });

  it.each([
    ['has left', (scene: Pick<MemoryScene, 'user'>) => scene.user('left').id],
    ['never was', () => null],
  ])('tells nobody where its owner %s', async (_, ownerOf) => {
    const scene = await cast(
      aUser({ name: 'left', isActive: false }),
      aUser({ name: 'bot', botOf: 'member' }),
      aChannel({ name: 'Void' }),
      async (theScene, tx) => {
        const bot = theScene.user('bot');
        await tx.users.update({ ...bot, bot: { ...bot.bot!, ownerId: ownerOf(theScene) } });
      },
    );
    await sending(scene)('bot', toChannel('Void'));
    expect(noticesTo(scene)).toEqual([]);
  });

  it('is no person', async () => {
    const scene = await withBot();
    await sending(scene)('administrator', toChannel('Void'));
    await expectRefused(scene, () => sending(scene)('member', { kind: 'channelId', id: 99 as ChannelId }), {
      code: 'CHANNEL_NOT_FOUND',
    });
    expect(noticesTo(scene)).toEqual([]);
  });
});
