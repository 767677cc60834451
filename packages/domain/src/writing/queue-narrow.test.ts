import { aChannel, aUser, createFixture, sending } from '@parley/testkit';
import type { QueueNarrowTerm } from '../kernel/event-queue.js';
import { isInNarrow, queueConditionOf } from '../messages/message-delivery.js';
import type { Addressee } from './message-sender.js';

const cast = () =>
  createFixture(
    aUser({ name: 'hamlet' }),
    aUser({ name: 'iago', email: 'Iago@example.com' }),
    aUser({ name: 'shy' }),
    aChannel({ name: 'Denmark', subscribers: ['hamlet', 'iago'] }),
    async (fixture, tx) => {
      const shy = fixture.user('shy');
      await tx.users.update({ ...shy, settings: { ...shy.settings, emailAddressVisibility: 'nobody' } });
    },
  );

/** Returns true if hamlet's queue receives the message. */
async function isUnmuted(terms: readonly QueueNarrowTerm[], content: string, topic: string | null, from = 'iago') {
  const fixture = await cast();
  const to: Addressee =
    topic === null ? { kind: 'userIds', ids: [fixture.user('hamlet').id] } : { kind: 'channelName', name: 'Denmark' };
  await sending(fixture)(from, to, { topic, content });
  const event = fixture.storage.announced.at(-1)!.event;
  if (event.type !== 'message.sent') throw new Error(`Announced last: ${event.type}`);
  return isInNarrow(terms, event, fixture.user('hamlet').id);
}

const is = (operand: string) => ({ operator: 'is', operand });
const channel = (operand: string) => ({ operator: 'channel', operand });
const topicTerm = (operand: string) => ({ operator: 'topic', operand });
const sender = (operand: string) => ({ operator: 'sender', operand });

describe('isInNarrow', () => {
  it.each<[readonly QueueNarrowTerm[], string, string | null, boolean]>([
    [[], 'hi', 'plans', true],
    [[channel('DENMARK')], 'hi', 'plans', true],
    [[channel('Rome')], 'hi', 'plans', false],
    [[{ operator: 'stream', operand: 'Denmark' }], 'hi', 'plans', true],
    [[channel('Denmark')], 'hi', null, false],
    [[channel('Denmark'), topicTerm('PLANS')], 'hi', 'plans', true],
    [[channel('Denmark'), topicTerm('other')], 'hi', 'plans', false],
    [[topicTerm('')], 'hi', null, false],
    [[topicTerm('general chat')], 'hi', '', true],
    [[sender('IAGO@example.com')], 'hi', 'plans', true],
    [[sender('hamlet@example.com')], 'hi', 'plans', false],
    [[is('dm')], 'hi', null, true],
    [[is('private')], 'hi', 'plans', false],
    [[is('unread')], 'hi', 'plans', true],
    [[is('starred')], 'hi', 'plans', false],
    [[is('resolved')], 'hi', '✔ plans', true],
    [[is('resolved')], 'hi', 'plans', false],
    [[is('mentioned')], '@**hamlet**', 'plans', true],
    [[is('alerted')], '@**hamlet**', 'plans', true],
    [[is('mentioned')], '@_**hamlet**', 'plans', false],
    [[is('mentioned')], '@**all** @**topic**', 'plans', false],
    [[is('whatever')], 'hi', 'plans', true],
    [[is('followed')], 'hi', 'plans', true],
    [[is('toString')], 'hi', 'plans', true],
  ])('matches %j with %j in %j: %s', async (terms, content, topic, heard) => {
    expect(await isUnmuted(terms, content, topic)).toBe(heard);
  });

  it('does not treat the owner’s own messages as unread', async () => {
    expect(await isUnmuted([is('unread')], 'hi', 'plans', 'hamlet')).toBe(false);
  });

  it('matches a sender only by the publicly visible email', async () => {
    const { id } = (await cast()).user('shy');
    expect(await isUnmuted([sender(`USER${id}@chat.example`)], 'hi', null, 'shy')).toBe(true);
    expect(await isUnmuted([sender(`user${id + 1}@chat.example`)], 'hi', null, 'shy')).toBe(false);
    expect(await isUnmuted([sender('shy@example.com')], 'hi', null, 'shy')).toBe(false);
  });
});

describe('queueConditionOf', () => {
  it.each(['channel', 'stream', 'topic', 'sender', 'is'])('supports the operator %s', (operator) => {
    expect(queueConditionOf({ operator, operand: 'x' })).not.toBeNull();
  });

  it.each(['near', 'dm', 'id', 'has', 'in', 'channels', 'with', 'search', 'colour', 'constructor', ''])(
    'does not support %j',
    (operator) => {
      expect(queueConditionOf({ operator, operand: 'x' })).toBeNull();
    },
  );
});
