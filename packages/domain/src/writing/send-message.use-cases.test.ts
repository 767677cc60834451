import {
  aChannel,
  aGroup,
  aMessage,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  committingLate,
  createFixture,
  eventsWithReceivers,
  expectInSync,
  expectRefused,
  type FixtureStep,
  failingToCommit,
  type MemoryFixture,
  sending,
} from '@parley/testkit';
import { MAX_REPEATED_MUTES } from '../channels/topic-policies.js';
import type { ChannelId, EventSeq } from '../kernel/ids.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { UserSettings } from '../realms/user-settings.js';

const toChannel = (name: string) => ({ kind: 'channelName', name }) as const;
const toPeople = (fixture: MemoryFixture, ...names: readonly string[]) =>
  ({ kind: 'userIds', ids: names.map((name) => fixture.user(name).id) }) as const;
const cast = (...pieces: readonly FixtureStep[]) =>
  createFixture(aUserOfEachRole(), aChannel({ name: 'Denmark', subscribers: ['owner', 'member', 'guest'] }), ...pieces);
const sentEvent = (fixture: MemoryFixture) => {
  const event = fixture.storage.announced.at(-1)!.event;
  if (event.type !== 'message.sent') throw new Error(`Announced last: ${event.type}`);
  return event;
};
const flagsOf = (fixture: MemoryFixture, name: string) =>
  fixture.uow.read(fixture.realm.id, async (r) => {
    const id = sentEvent(fixture).view.message.id;
    const flags = (await r.personal.listFlags(fixture.viewer(name), [id])).get(id);
    return flags ? Object.entries(flags).flatMap(([flag, on]) => (on ? [flag] : [])) : null;
  });
/** Sets a user's topic policy settings and muted channels. */
const wants =
  (name: string, settings: Partial<UserSettings>, muted: readonly string[] = []): FixtureStep =>
  async (fixture, tx) => {
    const user = fixture.user(name);
    await tx.users.update({ ...user, settings: { ...user.settings, ...settings } });
    for (const channel of muted) {
      const row = (await tx.channels.findSubscription(fixture.realm.id, fixture.channel(channel).id, user.id))!;
      await tx.channels.putSubscriptions([{ ...row, isMuted: true }]);
    }
  };
const aQueue =
  (id: string, owner: string): FixtureStep =>
  (fixture, tx) =>
    tx.queues.add({
      id,
      realmId: fixture.realm.id,
      ownerId: fixture.user(owner).id,
      filter: { allPublicChannels: false, narrow: [] },
      presentation: {},
      startSeq: 0 as EventSeq,
      acked: -1,
      floorSeq: 0 as EventSeq,
      lastPolledAt: fixture.clock.now(),
      idleTimeoutSeconds: 600,
    });
const passive = {
  automaticallyFollowTopicsPolicy: 'never',
  automaticallyUnmuteTopicsInMutedChannelsPolicy: 'never',
} as const;

describe('SendMessage to a channel', () => {
  it('stores the message and delivers it to subscribers', async () => {
    const fixture = await cast(aQueue('q', 'member'));
    const echo = { queueId: 'q', localId: '7.1' };
    const { id } = await sending(fixture)('member', toChannel('DENMARK'), {
      content: '\n  hi <b> \n',
      topic: ' Plans ',
      echo,
    });
    const { message, conversation, sender } = sentEvent(fixture).view;
    expect(message).toMatchObject({
      id,
      topic: 'Plans',
      content: '  hi <b>',
      renderedContent: '<p>  hi &lt;b&gt;</p>',
      sentAt: fixture.clock.now(),
      clientName: 'website',
    });
    expect(conversation).toEqual({ kind: 'channel', channelId: fixture.channel('Denmark').id, name: 'Denmark' });
    expect(sender).toMatchObject({ fullName: 'member' });
    expect(sentEvent(fixture)).toMatchObject({ isPublic: true, echo });
    expect(fixture.storage.announced.at(-1)).toMatchObject({ audience: { kind: 'subscribers' } });
    expect(await eventsWithReceivers(fixture)).toContainEqual(['message.sent', ['owner', 'member', 'guest']]);
    expect(await flagsOf(fixture, 'member')).toEqual(['read']);
    expect(await flagsOf(fixture, 'owner')).toEqual([]);
    expect(await flagsOf(fixture, 'moderator')).toBeNull();
  });

  it.each`
    queueId         | whose
    ${'the owners'} | ${'another user’s'}
    ${'none'}       | ${'unknown'}
  `('ignores the local echo for a queue that is $whose', async ({ queueId }) => {
    const fixture = await cast(aQueue('the owners', 'owner'));
    const echo = { queueId, localId: '7.1' };
    await sending(fixture)('member', toChannel('Denmark'), { topic: 'Plans', echo });
    expect(sentEvent(fixture).echo).toBeNull();
  });

  it('keeps the message unread for its sender if requested', async () => {
    const fixture = await cast();
    await sending(fixture)('member', toChannel('Denmark'), { isReadBySender: false });
    expect(await flagsOf(fixture, 'member')).toEqual([]);
  });

  it('does not make the message the sender’s own without a subscription', async () => {
    const fixture = await cast();
    await expectInSync(fixture, () => sending(fixture)('moderator', toChannel('Denmark')));
    expect(await flagsOf(fixture, 'moderator')).toBeNull();
  });

  it.each(['', '(no topic)', 'general chat', '  '])('maps the topic %j to the empty topic', async (topic) => {
    const fixture = await cast();
    await sending(fixture)('member', toChannel('Denmark'), { topic });
    expect(sentEvent(fixture).view.message.topic).toBe('');
  });

  it('truncates the topic and content', async () => {
    const fixture = await cast();
    await sending(fixture)('member', toChannel('Denmark'), { topic: '😀'.repeat(61), content: '😀'.repeat(10_001) });
    const { topic, content } = sentEvent(fixture).view.message;
    expect(topic).toBe(`${'😀'.repeat(57)}...`);
    expect(content).toBe(`${'😀'.repeat(9980)}\n[message truncated]`);
  });

  it('marks an inactive channel as active and sets its first message', async () => {
    const fixture = await cast(aChannel({ name: 'sleepy', isRecentlyActive: false, subscribers: ['member'] }));
    const send = sending(fixture);
    const { id } = await send('member', toChannel('sleepy'));
    await send('member', toChannel('sleepy'));
    const channel = await fixture.uow.read(fixture.realm.id, (r) =>
      r.channels.find(fixture.realm.id, fixture.channel('sleepy').id),
    );
    expect(channel).toMatchObject({ isRecentlyActive: true, firstMessageId: id });
    const types = (await eventsWithReceivers(fixture)).map(([type]) => type);
    expect(types.filter((type) => type === 'channel.property_changed')).toHaveLength(1);
    expect(types.indexOf('channel.property_changed')).toBeLessThan(types.indexOf('message.sent'));
  });

  it("uses the bot's default channel if none is given", async () => {
    const fixture = await cast(aUser({ name: 'robot', botOf: 'member' }), async (theScene, tx) => {
      const robot = theScene.user('robot');
      await tx.users.update({
        ...robot,
        bot: { ...robot.bot!, defaultSendingChannelId: theScene.channel('Denmark').id },
      });
    });
    await sending(fixture)('robot', { kind: 'defaultChannel' });
    expect(sentEvent(fixture).view.conversation).toMatchObject({ name: 'Denmark' });
  });

  it('allows a bot to post where its owner may', async () => {
    const fixture = await cast(
      aUser({ name: 'robot', botOf: 'owner' }),
      aChannel({
        name: 'core',
        privacy: 'privateProtectedHistory',
        subscribers: ['owner'],
        grantedTo: { canSendMessage: 'owners' },
      }),
    );
    await sending(fixture)('robot', toChannel('core'));
    expect(await eventsWithReceivers(fixture)).toContainEqual(['message.sent', ['owner']]);
  });
});

describe('SendMessage with mentions', () => {
  it('flags mentioned subscribers and group members', async () => {
    const fixture = await cast(aGroup({ name: 'cooks', members: ['guest', 'moderator'] }));
    const content = '@**owner** @*cooks* @**moderator** @_**member**';
    await expectInSync(fixture, () => sending(fixture)('member', toChannel('Denmark'), { content }));
    expect(await flagsOf(fixture, 'owner')).toEqual(['mentioned']);
    expect(await flagsOf(fixture, 'guest')).toEqual(['mentioned']);
    expect(await flagsOf(fixture, 'member')).toEqual(['read']);
    expect(await flagsOf(fixture, 'moderator')).toBeNull();
  });

  it('delivers the message to mentioned bots without a subscription but to no other unsubscribed users', async () => {
    const fixture = await cast(
      aUser({ name: 'robot', botOf: 'member' }),
      aUser({ name: 'off', botOf: 'member', isActive: false }),
    );
    await expectInSync(fixture, () =>
      sending(fixture)('member', toChannel('Denmark'), {
        content: '@**robot** @**off** @**moderator** @**Notification Bot**',
      }),
    );
    expect(await eventsWithReceivers(fixture)).toContainEqual(['message.sent', ['owner', 'member', 'guest', 'robot']]);
    expect(await flagsOf(fixture, 'robot')).toEqual(['mentioned']);
    expect(
      sentEvent(fixture)
        .exceptions.map(([id]) => id)
        .sort(),
    ).toEqual([fixture.user('member').id, fixture.user('robot').id]);
  });

  it('does not deliver group mentions to unsubscribed bots', async () => {
    const fixture = await cast(
      aUser({ name: 'robot', botOf: 'member' }),
      aGroup({ name: 'cooks', members: ['robot'] }),
    );
    await sending(fixture)('member', toChannel('Denmark'), { content: '@*cooks*' });
    expect(await flagsOf(fixture, 'robot')).toBeNull();
  });

  it.each(['all', 'everyone', 'channel', 'stream'])('flags all receivers for the wildcard %s', async (word) => {
    const fixture = await cast();
    await expectInSync(fixture, () => sending(fixture)('member', toChannel('Denmark'), { content: `@**${word}**` }));
    expect(await flagsOf(fixture, 'guest')).toEqual(['channelWildcardMentioned']);
    expect(await flagsOf(fixture, 'member')).toEqual(['read', 'channelWildcardMentioned']);
  });

  it('flags subscribed topic participants and the sender for a topic wildcard', async () => {
    const fixture = await cast(
      aMessage({ from: 'guest', to: 'Denmark', topic: 'PLANS' }),
      aMessage({ from: 'moderator', to: 'Denmark', topic: 'plans' }),
      aMessage({ from: 'owner', to: 'Denmark', topic: 'other' }),
    );
    await expectInSync(fixture, () => sending(fixture)('member', toChannel('Denmark'), { content: '@**topic**' }));
    expect(await flagsOf(fixture, 'guest')).toEqual(['topicWildcardMentioned']);
    expect(await flagsOf(fixture, 'member')).toEqual(['read', 'topicWildcardMentioned']);
    expect(await flagsOf(fixture, 'owner')).toEqual([]);
    expect(await flagsOf(fixture, 'moderator')).toBeNull();
  });

  it('flags participants of direct messages', async () => {
    const fixture = await cast();
    await sending(fixture)('member', toPeople(fixture, 'owner'), { content: '@**owner** @**all** @**guest**' });
    expect(await flagsOf(fixture, 'owner')).toEqual(['mentioned', 'channelWildcardMentioned']);
    expect(await flagsOf(fixture, 'guest')).toBeNull();
  });
});

describe('SendMessage with wildcard mentions', () => {
  const names = Array.from({ length: 16 }, (_, index) => `extra ${index}`);
  const crowd = () =>
    cast(
      ...names.map((name) => aUser({ name })),
      aChannel({ name: 'crowded', subscribers: ['member', ...names] }),
      ...names.map((name) => aMessage({ from: name, to: 'crowded', topic: 'plans' })),
    );

  it.each(['hi', '@**all**', '@**topic**'])('needs no permission in a direct message: %s', async (content) => {
    const fixture = await crowd();
    const { id } = await sending(fixture)('member', toPeople(fixture, ...names), { content });
    expect(sentEvent(fixture).view.message.id).toBe(id);
  });

  it.each([
    ['hi', null],
    ['@**all**', 'CHANNEL_WILDCARD_NOT_ALLOWED'],
    ['@**topic**', 'TOPIC_WILDCARD_NOT_ALLOWED'],
  ])('checks mentions in a channel: %s', async (content, code) => {
    const fixture = await crowd();
    const sent = () => sending(fixture)('member', toChannel('crowded'), { content });
    if (code === null) await sent();
    else await expectRefused(fixture, sent, { code });
    await sending(fixture)('administrator', toChannel('crowded'), { content });
  });
});

describe('SendMessage to users', () => {
  it('delivers to all participants in one conversation regardless of the sender', async () => {
    const fixture = await cast();
    const send = sending(fixture);
    await expectInSync(fixture, () => send('member', toPeople(fixture, 'owner', 'guest'), { topic: 'means nothing' }));
    const first = sentEvent(fixture);
    expect(first.view.message).toMatchObject({ channelId: null, topic: '' });
    expect(first.view.conversation).toMatchObject({
      participants: [{ fullName: 'owner' }, { fullName: 'member' }, { fullName: 'guest' }],
    });
    expect(await eventsWithReceivers(fixture)).toEqual([['message.sent', ['owner', 'member', 'guest']]]);
    await send('guest', toPeople(fixture, 'owner', 'member', 'guest'));
    expect(sentEvent(fixture).view.message.recipientId).toBe(first.view.message.recipientId);
  });

  it('uses a separate conversation for messages to oneself', async () => {
    const fixture = await cast();
    const send = sending(fixture);
    await send('member', toPeople(fixture, 'member'));
    const { recipientId } = sentEvent(fixture).view.message;
    expect(await eventsWithReceivers(fixture)).toEqual([['message.sent', ['member']]]);
    await send('member', toPeople(fixture, 'member', 'owner'));
    expect(sentEvent(fixture).view.message.recipientId).not.toBe(recipientId);
  });

  it('finds recipients by their visible emails', async () => {
    const fixture = await cast(wants('owner', { emailAddressVisibility: 'administrators' }));
    const emails = [`USER${fixture.user('owner').id}@chat.example`, 'guest@EXAMPLE.com'];
    await sending(fixture)('member', { kind: 'emails', emails });
    expect(await eventsWithReceivers(fixture)).toEqual([['message.sent', ['owner', 'member', 'guest']]]);
  });

  it('allows system bots as recipients', async () => {
    const fixture = await cast();
    const bot = await fixture.uow.read(fixture.realm.id, ({ users }) =>
      users.findSystemBot(fixture.realm.id, 'welcome'),
    );
    await sending(fixture)('member', { kind: 'userIds', ids: [bot.id] });
    expect(await eventsWithReceivers(fixture)).toEqual([['message.sent', ['member']]]);
  });

  it('allows a limited guest to write to users of shared channels and to bots', async () => {
    const fixture = await cast(
      aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } }),
      aUser({ name: 'robot', botOf: 'moderator' }),
    );
    await sending(fixture)('guest', toPeople(fixture, 'member', 'robot'));
    expect(await eventsWithReceivers(fixture)).toEqual([
      ['user.access_changed', ['guest']],
      ['message.sent', ['member', 'guest', 'robot']],
    ]);
  });
});

describe('SendMessage with topic policies', () => {
  it('follows a new topic for its sender and publishes the policy first', async () => {
    const fixture = await cast();
    const send = sending(fixture);
    await expectInSync(fixture, async () => {
      expect(await send('member', toChannel('Denmark'))).toMatchObject({ newVisibility: 'followed' });
    });
    expect(await eventsWithReceivers(fixture)).toEqual([
      ['topic.policy_changed', ['member']],
      ['message.sent', ['owner', 'member', 'guest']],
    ]);
    expect(await send('owner', toChannel('Denmark'), { topic: 'PLANS' })).toMatchObject({ newVisibility: null });
  });

  it('treats a topic as new if the sender sees none of its messages', async () => {
    const fixture = await cast(
      aChannel({ name: 'club', privacy: 'privateProtectedHistory', subscribers: ['owner'] }),
      aMessage({ from: 'owner', to: 'club', topic: 'plans' }),
    );
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      const { realmId, userId } = fixture.viewer('member');
      const { id, recipientId } = fixture.channel('club');
      const row = (await tx.channels.findSubscription(realmId, id, fixture.user('owner').id))!;
      await tx.channels.putSubscriptions([{ ...row, userId }]);
      await tx.personal.openSpans(realmId, [recipientId], [userId]);
    });
    const send = sending(fixture);
    expect(await send('member', toChannel('club'))).toMatchObject({ newVisibility: 'followed' });
    expect(await send('owner', toChannel('club'))).toMatchObject({ newVisibility: null });
  });

  it('unmutes the topic in a muted channel', async () => {
    const fixture = await cast(
      aMessage({ from: 'owner', to: 'Denmark', topic: 'plans' }),
      wants('member', { ...passive, automaticallyUnmuteTopicsInMutedChannelsPolicy: 'sending' }, ['Denmark']),
    );
    expect(await sending(fixture)('member', toChannel('Denmark'))).toMatchObject({ newVisibility: 'unmuted' });
  });

  it('does not change policies for bots or direct messages', async () => {
    const fixture = await cast(aUser({ name: 'robot', botOf: 'member' }));
    const send = sending(fixture);
    expect(await send('robot', toChannel('Denmark'))).toMatchObject({ newVisibility: null });
    expect(await send('member', toPeople(fixture, 'owner'))).toMatchObject({ newVisibility: null });
    expect((await eventsWithReceivers(fixture)).map(([type]) => type)).toEqual(['message.sent', 'message.sent']);
  });

  it('follows the topic for mentioned subscribers unless their settings prevent it', async () => {
    const fixture = await cast(
      aUser({ name: 'robot', botOf: 'member' }),
      aGroup({ name: 'cooks', members: ['guest', 'moderator', 'robot'] }),
      wants('owner', { automaticallyFollowTopicsWhereMentioned: false }),
      wants('member', passive),
    );
    await expectInSync(fixture, () =>
      sending(fixture)('member', toChannel('Denmark'), { content: '@**owner** @*cooks*' }),
    );
    expect(await eventsWithReceivers(fixture)).toEqual([
      ['topic.policy_changed', ['guest']],
      ['message.sent', ['owner', 'member', 'guest']],
    ]);
  });

  it.each([
    ['repeats a list', MAX_REPEATED_MUTES, MAX_REPEATED_MUTES],
    ['omits a longer list', MAX_REPEATED_MUTES + 1, undefined],
  ])('%s of muted topics when a mentioned user follows a topic', async (_what, count, length) => {
    const fixture = await cast(wants('member', passive));
    const owner = fixture.user('owner').id;
    const { id: channelId } = fixture.channel('Denmark');
    await fixture.uow.write(fixture.realm.id, async ({ topicPolicies }) => {
      for (let n = 0; n < count; n++) {
        const topic = {
          realmId: fixture.realm.id,
          userId: owner,
          channelId,
          topic: `topic ${n}`,
          changedAt: fixture.clock.now(),
        };
        await topicPolicies.put({ ...topic, visibility: 'muted' });
      }
    });
    await sending(fixture)('member', toChannel('Denmark'), { content: '@**owner**' });
    const events = fixture.storage.announced.map(({ event }) => event);
    const followed = events.find((event) => event.type === 'topic.policy_changed');
    expect([followed?.visibility, followed?.muted?.length]).toEqual(['followed', length]);
  });

  it('follows the topic for a sender who mentions themselves', async () => {
    const fixture = await cast(aMessage({ from: 'owner', to: 'Denmark', topic: 'plans' }), wants('member', passive));
    const { newVisibility } = await sending(fixture)('member', toChannel('Denmark'), { content: '@**member**' });
    expect(newVisibility).toBe('followed');
  });
});

describe('bot owner warning', () => {
  const noticesTo = (fixture: MemoryFixture) =>
    fixture.storage.announced.flatMap(({ event }) => {
      if (event.type !== 'message.sent' || event.view.sender.fullName !== 'Notification Bot') return [];
      return [[event.view.conversation.kind, event.view.message.content]];
    });
  const withBot = () => cast(aUser({ name: 'bot', botOf: 'owner' }), aChannel({ name: 'Void' }));

  it('is sent to the bot owner at most once per five minutes', async () => {
    const fixture = await withBot();
    const send = sending(fixture);
    const bot = `@_**bot|${fixture.user('bot').id}**`;
    const empty = ['direct', `Your bot ${bot} sent a message to #**Void**, but nobody is subscribed to this channel.`];
    await send('bot', toChannel('Denmark'));
    expect(noticesTo(fixture)).toEqual([]);
    await send('bot', toChannel('Void'));
    expect((await eventsWithReceivers(fixture)).at(-1)).toEqual(['message.sent', ['owner']]);
    await send('bot', toChannel('Void'));
    expect(noticesTo(fixture)).toEqual([empty]);
    fixture.clock.advance(299);
    await expect(send('bot', toChannel('a`b'))).rejects.toMatchObject({ code: 'UNKNOWN_DESTINATION' });
    expect(noticesTo(fixture)).toEqual([empty]);
    fixture.clock.advance(1);
    await expect(send('bot', toChannel('a`b'))).rejects.toMatchObject({ code: 'UNKNOWN_DESTINATION' });
    const missing = `Your bot ${bot} tried to send a message to the channel \`a'b\`, but there is no such channel.`;
    expect(noticesTo(fixture)).toEqual([empty, ['direct', missing]]);
  });

  it('is retried if its transaction was not committed', async () => {
    const fixture = await withBot();
    let uow = failingToCommit(fixture.uow);
    const troubled: UnitOfWork = {
      read: (realmId, work) => uow.read(realmId, work),
      readAcross: (work) => uow.readAcross(work),
      write: (realmId, work) => uow.write(realmId, work),
      writeAcross: (work) => uow.writeAcross(work),
    };
    const send = sending({ uow: troubled, clock: fixture.clock, caller: fixture.caller });
    await expect(send('bot', toChannel('Void'))).rejects.toThrow('The disk is full');
    await expect(send('bot', toChannel('nowhere'))).rejects.toThrow('The disk is full');
    uow = fixture.uow;
    await send('bot', toChannel('Void'));
    expect(noticesTo(fixture)).toHaveLength(1);
  });

  it('is sent once for concurrent messages', async () => {
    const fixture = await withBot();
    const send = sending({ uow: committingLate(fixture.uow), clock: fixture.clock, caller: fixture.caller });
    await Promise.all([send('bot', toChannel('Void')), send('bot', toChannel('Void'))]);
    expect(noticesTo(fixture)).toHaveLength(1);
  });

  it('contains only the channel name if the owner cannot see the channel', async () => {
    const fixture = await cast(
      aUser({ name: 'bot', botOf: 'member' }),
      aGroup({ name: 'readers', members: ['bot'] }),
      aChannel({ name: 'vault', privacy: 'privateSharedHistory', grantedTo: { canSubscribe: 'readers' } }),
    );
    await sending(fixture)('bot', toChannel('vault'));
    expect((await eventsWithReceivers(fixture)).at(-1)).toEqual(['message.sent', ['member']]);
    expect(sentEvent(fixture).view.message.renderedContent).toContain('sent a message to <a>#vault</a>, but');
    const other = await cast(
      aUser({ name: 'bot', botOf: 'member' }),
      aChannel({ name: 'Nowhere', privacy: 'privateSharedHistory' }),
    );
    await expect(sending(other)('bot', toChannel('#**Nowhere**'))).rejects.toMatchObject({
      code: 'UNKNOWN_DESTINATION',
    });
    expect(sentEvent(other).view.message.renderedContent).toContain('to the channel `#**Nowhere**`, but');
  });

  it.each([
    ['has left', (fixture: Pick<MemoryFixture, 'user'>) => fixture.user('left').id],
    ['never was', () => null],
  ])("is not sent if the bot's owner %s", async (_, ownerOf) => {
    const fixture = await cast(
      aUser({ name: 'left', isActive: false }),
      aUser({ name: 'bot', botOf: 'member' }),
      aChannel({ name: 'Void' }),
      async (theScene, tx) => {
        const bot = theScene.user('bot');
        await tx.users.update({ ...bot, bot: { ...bot.bot!, ownerId: ownerOf(theScene) } });
      },
    );
    await sending(fixture)('bot', toChannel('Void'));
    expect(noticesTo(fixture)).toEqual([]);
  });

  it('is not sent for human senders', async () => {
    const fixture = await withBot();
    await sending(fixture)('administrator', toChannel('Void'));
    await expectRefused(fixture, () => sending(fixture)('member', { kind: 'channelId', id: 99 as ChannelId }), {
      code: 'UNKNOWN_DESTINATION',
    });
    expect(noticesTo(fixture)).toEqual([]);
  });
});
