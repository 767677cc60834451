import type { EventSeq, MessageId, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { Message, NewMessage, PersonalFlags } from '@parley/domain/messages';
import { ascending, keyOf, type MemoryUnit } from './tables.js';

/** Period in which a user receives messages of a recipient. */
interface SpanRow {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly recipientId: RecipientId;
  readonly fromSeq: EventSeq;
  readonly toSeq: EventSeq | null;
}

/** Per-user state of a message; real storages do not store it as a row. */
interface PersonalRow {
  readonly userId: UserId;
  readonly messageId: MessageId;
  readonly flags: PersonalFlags;
  /** True if the message was sent to the user, false if gained by a move or from history. */
  readonly isReceived: boolean;
}

declare module './tables.js' {
  interface Tables {
    /** State by `keyOf(user, message)`. */
    readonly personalRows: Map<string, PersonalRow>;
    /** Spans by number in order of opening. */
    readonly spans: Map<number, SpanRow>;
  }
}

/**
 * Naive model of read state: one row per user and message, created on delivery. Real storages keep only differences
 * (architecture §5) but must return the same results.
 */
export const NO_FLAGS: PersonalFlags = {
  read: false,
  starred: false,
  collapsed: false,
  mentioned: false,
  channelWildcardMentioned: false,
  topicWildcardMentioned: false,
  hasAlertWord: false,
  historical: false,
};
/** Flags of messages moved to a channel with protected history, for its subscribers. */
export const GAINED_BY_MOVE: PersonalFlags = { ...NO_FLAGS, read: true };

export function findFlags(unit: MemoryUnit, userId: UserId, messageId: MessageId): PersonalFlags | null {
  return unit.read('personalRows').get(keyOf(userId, messageId))?.flags ?? null;
}

export function isReceived(unit: MemoryUnit, userId: UserId, messageId: MessageId): boolean {
  return unit.read('personalRows').get(keyOf(userId, messageId))?.isReceived ?? false;
}

export function putFlags(
  unit: MemoryUnit,
  userId: UserId,
  messageId: MessageId,
  flags: PersonalFlags,
  wasReceived = isReceived(unit, userId, messageId),
): void {
  unit.change('personalRows').set(keyOf(userId, messageId), { userId, messageId, flags, isReceived: wasReceived });
}

/** Returns the users who own the message, ascending. */
export function holdersOf(unit: MemoryUnit, messageId: MessageId): UserId[] {
  return [...unit.read('users').keys()].filter((userId) => findFlags(unit, userId, messageId)).sort(ascending);
}

export function forget(unit: MemoryUnit, userId: UserId, messageId: MessageId): void {
  unit.change('personalRows').delete(keyOf(userId, messageId));
}

/** Adds a row for each user with an open span and for mentioned users without one. */
export function deliver(unit: MemoryUnit, message: Message, { exceptions, readBy }: NewMessage): void {
  const { id, senderId, realmId, sentRecipientId, mentionsChannel, isReadByDefault } = message;
  for (const userId of new Set([...receiversOf(unit, realmId, sentRecipientId), ...exceptions.keys()])) {
    const sent = exceptions.get(userId) ?? {};
    const flags = {
      ...NO_FLAGS,
      read:
        readBy.includes(userId) || unit.read('mutes').has(keyOf(userId, senderId)) || (isReadByDefault && !sent.unread),
      mentioned: sent.mentioned ?? false,
      channelWildcardMentioned: mentionsChannel,
      topicWildcardMentioned: sent.topicWildcardMentioned ?? false,
      hasAlertWord: sent.hasAlertWord ?? false,
    };
    putFlags(unit, userId, id, flags, true);
  }
}

/** Returns users with an open span of the recipient. */
export function receiversOf(unit: MemoryUnit, realmId: RealmId, recipientId: RecipientId): ReadonlySet<UserId> {
  const receivers = new Set<UserId>();
  for (const span of unit.read('spans').values()) {
    if (span.recipientId === recipientId && span.realmId === realmId && span.toSeq === null) receivers.add(span.userId);
  }
  return receivers;
}

/** Opens spans. A span begins with the next event, which is the subscription event. */
export function openSpans(
  unit: MemoryUnit,
  realmId: RealmId,
  recipientId: RecipientId,
  userIds: readonly UserId[],
): void {
  const receivers = receiversOf(unit, realmId, recipientId);
  for (const userId of new Set(userIds)) {
    if (receivers.has(userId)) continue;
    const span = { realmId, userId, recipientId, fromSeq: nextSeq(unit, realmId), toSeq: null };
    unit.change('spans').set(unit.nextNumber('span'), span);
  }
}

export function closeSpans(
  unit: MemoryUnit,
  realmId: RealmId,
  recipientId: RecipientId,
  userIds: readonly UserId[],
): void {
  const spans = unit.change('spans');
  for (const [number, span] of spans) {
    const isMeant = span.realmId === realmId && span.recipientId === recipientId && userIds.includes(span.userId);
    if (isMeant && span.toSeq === null) spans.set(number, { ...span, toSeq: nextSeq(unit, realmId) });
  }
}

function nextSeq(unit: MemoryUnit, realmId: RealmId): EventSeq {
  return ((unit.read('counters').get(keyOf('seq', realmId)) ?? 0) + 1) as EventSeq;
}
