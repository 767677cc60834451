import type { MessageId } from '@parley/domain/kernel';
import { aChannel, aMessage, aUser, type Fixture } from '../builders.js';

export const people = [aUser({ name: 'a' }), aUser({ name: 'b' }), aUser({ name: 'c' })];

/** Ten messages in several conversations; `c` has no subscriptions. */
export const chatter = [
  ...people,
  aChannel({ name: 'general', subscribers: ['a', 'b'] }),
  aChannel({ name: 'random', subscribers: ['a'] }),
  aMessage({ from: 'a', to: 'general', topic: 'Lunch' }), // 0
  aMessage({ from: 'b', to: 'general', topic: 'lunch' }), // 1
  aMessage({ from: 'a', to: 'general', topic: '' }), // 2
  aMessage({ from: 'b', to: ['a'] }), // 3
  aMessage({ from: 'a', to: 'random', topic: 'lunch' }), // 4
  aMessage({ from: 'c', to: ['a', 'b'] }), // 5
  aMessage({ from: 'c', to: 'random', topic: 'ÄRGER' }), // 6
  aMessage({ from: 'b', to: 'general', topic: 'LUNCH' }), // 7
  aMessage({ from: 'c', to: ['c'] }), // 8
  aMessage({ from: 'a', to: 'random', topic: 'ärger' }), // 9
];

/** Ids of the messages at these indexes. */
export const pick = (fixture: Fixture, ...indexes: readonly number[]): MessageId[] =>
  indexes.map((i) => fixture.messages[i]!.id);
