import { DomainError } from '../kernel/errors.js';
import { foldCase, isLongerThan, positionOfUnprintable, takeCodePoints, trim } from '../kernel/text.js';

/** In code points (protocol §14). */
export const MAX_TOPIC_LENGTH = 60;
/** What people see in place of the empty topic. */
export const EMPTY_TOPIC_DISPLAY_NAME = 'general chat';
export const RESOLVED_PREFIX = '✔ ';

/** What a client means by a topic's name: trimmed, the names of the empty topic as `''` (messages §1.5). */
export function normalizeTopic(raw: string): string {
  const topic = trim(raw);
  return topic === '(no topic)' || topic === EMPTY_TOPIC_DISPLAY_NAME ? '' : topic;
}

/** A topic somebody writes to: normalized, checked, cut to length. @throws DomainError INVALID_TOPIC */
export function parseTopic(raw: string): string {
  const trimmed = trim(raw);
  const position = positionOfUnprintable(trimmed);
  if (position > 0) throw new DomainError('INVALID_TOPIC', `Invalid character in topic, at position ${position}!`);
  return cutTopic(normalizeTopic(trimmed));
}

/** As it is stored, when it is too long. */
export const cutTopic = (topic: string): string =>
  isLongerThan(topic, MAX_TOPIC_LENGTH) ? `${takeCodePoints(topic, MAX_TOPIC_LENGTH - 3)}...` : topic;

/** Topics are the same whatever their letter case; each message keeps the spelling it was sent with. */
export const topicKey = (topic: string): string => foldCase(topic);
