import {
  aChannel,
  aMessage,
  aUserOfEachRole,
  given,
  type MemoryScene,
  plainAddresses,
  subscribe,
} from '@parley/testkit';
import { leaveChannels } from '../channels/leave-channels.js';
import type { ChannelId, MessageId, RecipientId, UserId } from '../shared/ids.js';
import type { Message } from './message.js';
import type { MessageCondition } from './message-repository.js';
import { matchesConditions, mutedRecipients, type NarrowTerm, ownMessagesIn, resolveNarrow } from './narrow.js';

const term = (operator: string, operand: NarrowTerm['operand'], negated = false): NarrowTerm => ({
  operator,
  operand,
  negated,
});

const town = () =>
  given(
    aUserOfEachRole(),
    aChannel({ name: 'public', subscribers: ['member'] }),
    aChannel({ name: 'shared', privacy: 'privateSharedHistory', subscribers: ['member'] }),
    aChannel({ name: 'vault', privacy: 'privateProtectedHistory', subscribers: ['member'] }),
    aMessage({ from: 'owner', to: 'public', topic: 'Lunch' }),
    aMessage({ from: 'member', to: ['owner'] }),
    aMessage({ from: 'member', to: ['owner', 'guest'] }),
    aMessage({ from: 'member', to: ['member'] }),
  );

const resolve = (scene: MemoryScene, who: string, ...terms: readonly NarrowTerm[]) =>
  scene.uow.read(async (r) => resolveNarrow(r, await r.actors.get(scene.caller(who)), terms, plainAddresses));
const conditionsOf = async (scene: MemoryScene, who: string, ...terms: readonly NarrowTerm[]) =>
  (await resolve(scene, who, ...terms)).filter.conditions;

describe('a term of a narrow', () => {
  it.each<[string, (scene: MemoryScene) => NarrowTerm, (scene: MemoryScene) => object | null]>([
    [
      'a channel by name',
      () => term('channel', ' PUBLIC '),
      (s) => ({ kind: 'recipient', recipientId: s.channel('public').recipientId }),
    ],
    [
      'a channel by number',
      (s) => term('channel', s.channel('vault').id),
      (s) => ({ kind: 'recipient', recipientId: s.channel('vault').recipientId }),
    ],
    ['a topic', () => term('topic', ' LUNCH '), () => ({ kind: 'topic', topicKey: 'lunch' })],
    ['a topic that is a number', () => term('topic', 7), () => ({ kind: 'topic', topicKey: '7' })],
    ['the empty topic by its name', () => term('topic', 'general chat'), () => ({ kind: 'topic', topicKey: '' })],
    [
      'a conversation',
      (s) => term('dm', [s.user('owner').id]),
      (s) => ({ kind: 'recipient', recipientId: s.messages[1]!.recipientId }),
    ],
    [
      'a conversation with oneself named too',
      (s) => term('dm', [s.user('owner').id, s.user('member').id, s.user('owner').id]),
      (s) => ({ kind: 'recipient', recipientId: s.messages[1]!.recipientId }),
    ],
    [
      'a conversation of three, by address',
      () => term('dm', ' guest@example.com ,, OWNER@example.com,'),
      (s) => ({ kind: 'recipient', recipientId: s.messages[2]!.recipientId }),
    ],
    [
      'a conversation with oneself',
      (s) => term('dm', s.user('member').id),
      (s) => ({ kind: 'recipient', recipientId: s.messages[3]!.recipientId }),
    ],
    // A conversation that nobody has had matches nothing, and negated everything: it is no recipient of its own.
    ['a conversation that nobody has had', () => term('dm', 'moderator@example.com'), () => ({ kind: 'nothing' })],
    ['no conversation', () => term('dm', []), () => ({ kind: 'nothing' })],
    ['no conversation, by no address', () => term('dm', ' , '), () => ({ kind: 'nothing' })],
    [
      'a sender by address',
      () => term('sender', 'OWNER@example.com '),
      (s) => ({ kind: 'sender', userId: s.user('owner').id }),
    ],
    [
      'a sender by number',
      (s) => term('sender', s.user('guest').id),
      (s) => ({ kind: 'sender', userId: s.user('guest').id }),
    ],
    ['a message', () => term('id', '12'), () => ({ kind: 'message', messageId: 12 })],
    ['a message by number', () => term('id', 2_147_483_647), () => ({ kind: 'message', messageId: 2_147_483_647 })],
    ['what is near', () => term('near', 7), () => null],
  ])('is %s, negated or not', async (_, termOf, conditionOf) => {
    const scene = await town();
    const condition = conditionOf(scene);
    for (const negated of [false, true]) {
      expect(await conditionsOf(scene, 'member', { ...termOf(scene), negated })).toEqual(
        condition === null ? [] : [{ ...condition, negated }],
      );
    }
  });

  it.each<[NarrowTerm, string]>([
    [term('hasOwnProperty', 'x'), 'unknown operator hasOwnProperty'],
    [term('channel', 'nowhere'), 'unknown channel nowhere'],
    [term('channel', 999), 'unknown channel 999'],
    [term('sender', ''), 'unknown user '],
    [term('sender', 'owner@example.com,member@example.com'), 'unknown user owner@example.com,member@example.com'],
    [term('sender', 999), 'unknown user 999'],
    [term('dm', [1, 999]), 'unknown user in [1, 999]'],
    [term('dm', 'x@y.z'), 'unknown user in x@y.z'],
    [term('id', 2_147_483_648), 'Invalid message ID'],
    [term('id', ''), 'Invalid message ID'],
    [term('id', '1e3'), 'Invalid message ID'],
  ])('%j is none', async (wrong, description) => {
    const scene = await town();
    await expect(resolve(scene, 'member', wrong)).rejects.toMatchObject({
      code: 'INVALID_NARROW',
      details: { description },
    });
  });

  it.each<[readonly NarrowTerm[], boolean]>([
    [[term('channel', 'public'), term('dm', [])], true],
    [[term('dm', []), term('topic', 'x')], true],
    [[term('channel', 'public', true), term('dm', [])], false],
    [[term('channel', 'public'), term('dm', [], true)], false],
    [[term('channel', 'public'), term('topic', 'x'), term('sender', 'owner@example.com')], false],
    [[term('dm', []), term('sender', 'owner@example.com'), term('near', '1')], false],
  ])('contradicts another in %j: %s', async (terms, contradicts) => {
    const resolving = resolve(await town(), 'member', ...terms);
    const description = 'No message can be both a channel message and direct message';
    if (contradicts) await expect(resolving).rejects.toMatchObject({ details: { description } });
    else await expect(resolving).resolves.toBeDefined();
  });
});

describe('whose history a narrow is of (messages §5.4)', () => {
  it.each`
    who                | terms                                                    | scope       | named
    ${'member'}        | ${[]}                                                    | ${'own'}    | ${false}
    ${'moderator'}     | ${[term('channel', 'public')]}                           | ${'shared'} | ${true}
    ${'moderator'}     | ${[term('channel', 'public', true)]}                     | ${'own'}    | ${false}
    ${'guest'}         | ${[term('channel', 'public')]}                           | ${'own'}    | ${true}
    ${'member'}        | ${[term('channel', 'shared')]}                           | ${'shared'} | ${true}
    ${'administrator'} | ${[term('channel', 'shared')]}                           | ${'own'}    | ${true}
    ${'member'}        | ${[term('channel', 'vault')]}                            | ${'own'}    | ${true}
    ${'member'}        | ${[term('topic', 'x')]}                                  | ${'own'}    | ${false}
    ${'member'}        | ${[term('dm', [])]}                                      | ${'own'}    | ${false}
    ${'member'}        | ${[term('channel', 'vault'), term('channel', 'public')]} | ${'shared'} | ${true}
  `('$terms by $who: $scope', async ({ who, terms, scope, named }) => {
    const resolved = await resolve(await town(), who, ...terms);
    expect(resolved.filter.scope).toBe(scope);
    expect(resolved.namesChannel).toBe(named);
  });

  it('leaves out of their own history channels that they may no longer read, and no others', async () => {
    const scene = await town();
    const left = ['public', 'shared', 'vault'].map(scene.channel);
    await scene.add(...['shared', 'vault', 'public'].map((to) => aMessage({ from: 'owner', to })));
    await scene.uow.write((tx) => leaveChannels(tx, left, [scene.user('member').id]));
    const without = async (...terms: readonly NarrowTerm[]) =>
      (await resolve(scene, 'member', ...terms)).filter.withoutRecipients;
    const hidden = [scene.channel('shared').recipientId, scene.channel('vault').recipientId];
    expect(await without()).toEqual(hidden);
    expect(await without(term('channel', 'vault'))).toEqual(hidden);
    // What everybody may read need not be looked through for what they may not.
    expect(await without(term('channel', 'public'))).toEqual([]);
    await scene.uow.write((tx) => subscribe(tx, scene.channel('vault'), [scene.user('member').id]));
    expect(await without()).toEqual([scene.channel('shared').recipientId]);
  });
});

describe('a message that is at hand', () => {
  const message = {
    id: 7 as MessageId,
    senderId: 10 as UserId,
    recipientId: 30 as RecipientId,
    channelId: 3 as ChannelId,
    topic: 'Lunch',
  } as Message;
  const direct = { ...message, channelId: null, topic: '' };

  it.each<[object, boolean, boolean]>([
    [{ kind: 'recipient', recipientId: 30 }, true, true],
    [{ kind: 'recipient', recipientId: 31 }, false, false],
    [{ kind: 'topic', topicKey: 'lunch' }, true, false],
    [{ kind: 'topic', topicKey: '' }, false, false],
    [{ kind: 'sender', userId: 10 }, true, true],
    [{ kind: 'sender', userId: 11 }, false, false],
    [{ kind: 'message', messageId: 7 }, true, true],
    [{ kind: 'message', messageId: 8 }, false, false],
    [{ kind: 'nothing' }, false, false],
  ])('is %j: %s of a channel, %s between people', (condition, ofChannel, ofPeople) => {
    for (const [one, holds] of [
      [message, ofChannel],
      [direct, ofPeople],
    ] as const) {
      expect(matchesConditions(one, [{ ...condition, negated: false } as MessageCondition])).toBe(holds);
      expect(matchesConditions(one, [{ ...condition, negated: true } as MessageCondition])).toBe(!holds);
    }
  });

  it('is what all conditions say', () => {
    const is = (id: number) => ({ kind: 'sender', userId: id, negated: false }) as MessageCondition;
    expect(matchesConditions(message, [])).toBe(true);
    expect(matchesConditions(message, [is(10), is(10)])).toBe(true);
    expect(matchesConditions(message, [is(10), is(11)])).toBe(false);
  });
});

describe('filters of their own', () => {
  const recipientId = 30 as RecipientId;

  it('hold what was received in a channel, or in a topic of it', () => {
    const channel = { kind: 'recipient', recipientId, negated: false };
    const topic = { kind: 'topic', topicKey: '', negated: false };
    expect(ownMessagesIn(recipientId)).toEqual({ conditions: [channel], scope: 'own', withoutRecipients: [] });
    expect(ownMessagesIn(recipientId, '')).toEqual({
      conditions: [channel, topic],
      scope: 'own',
      withoutRecipients: [],
    });
  });

  it('leave out channels that are muted while one is subscribed to them', async () => {
    const scene = await town();
    const { realmId, userId } = scene.viewer('member');
    await scene.uow.write(async (tx) => {
      for (const name of ['public', 'vault']) {
        const row = (await tx.channels.findSubscription(realmId, scene.channel(name).id, userId))!;
        await tx.channels.putSubscriptions([{ ...row, isMuted: true }]);
      }
      await leaveChannels(tx, [scene.channel('vault')], [userId]);
    });
    const muted = await scene.uow.read(async (r) => mutedRecipients(r, await r.actors.get(scene.caller('member'))));
    expect(muted).toEqual([scene.channel('public').recipientId]);
  });
});
