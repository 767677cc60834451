import type { FileUser } from '../files/files.use-cases.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { ChannelId, FileId, HoldId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import { isLongerThan, trim } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Message } from '../messages/message.js';
import type { MessageEdit } from '../messages/message-edit.js';
import type { ArchivedMessage } from './deletion.js';

/** Messages that a hold covers. All non-null criteria must match, and at least one is not null. */
export interface HoldCriteria {
  /** Author, or participant of the direct conversation. */
  readonly personId: UserId | null;
  /** Present or former channel of the message. */
  readonly channelId: ChannelId | null;
  readonly messageId: MessageId | null;
  /** Earliest time of sending. */
  readonly since: UnixSeconds | null;
  /** Latest time of sending. */
  readonly until: UnixSeconds | null;
}

/** Order to keep messages with their edits and files, unseen by members, whatever deletes them (docs/personal-data.md). */
export interface Hold extends HoldCriteria {
  readonly id: HoldId;
  readonly realmId: RealmId;
  readonly reason: string;
  readonly createdAt: UnixSeconds;
  /** Null for the operator. */
  readonly createdBy: UserId | null;
  /** Null while the hold is in force. */
  readonly releasedAt: UnixSeconds | null;
  /** Null for the operator, and while the hold is in force. */
  readonly releasedBy: UserId | null;
}

/** Facts about a message, deleted or not, that decide whether a hold covers it. */
export interface HoldFacts extends Pick<Message, 'id' | 'senderId' | 'sentAt'> {
  /** Present and former channels; empty for direct messages. */
  readonly channelIds: readonly ChannelId[];
  /** Participants of a direct conversation; empty for messages in channels. */
  readonly participantIds: readonly UserId[];
}

/** True if the hold covers the message. */
export function covers(hold: HoldCriteria, { id, senderId, sentAt, channelIds, participantIds }: HoldFacts): boolean {
  const { personId, channelId, messageId, since, until } = hold;
  return (
    (personId === null || personId === senderId || participantIds.includes(personId)) &&
    (channelId === null || channelIds.includes(channelId)) &&
    (messageId === null || messageId === id) &&
    (since === null || sentAt >= since) &&
    (until === null || sentAt <= until)
  );
}

/** Message that a hold covers. */
export interface HeldMessage
  extends Pick<
    Message,
    'id' | 'channelId' | 'senderId' | 'recipientId' | 'topic' | 'content' | 'renderedContent' | 'sentAt'
  > {
  /** Null unless the message is deleted. */
  readonly deletion: Pick<ArchivedMessage, 'deletedAt' | 'deletedBy'> | null;
  /** All edits, newest first. */
  readonly edits: readonly MessageEdit[];
}

export interface HeldPage {
  readonly held: readonly HeldMessage[];
  /** Id to continue after; null at the end. */
  readonly next: number | null;
}

/** Questions about messages under holds in force. Every implementation passes held-messages.contract.ts. */
export interface HeldMessageReads {
  /** Returns the messages, none of them deleted, that a hold covers; ascending. */
  filter(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
  /** True if a held message links to the file, or did so before its deletion or an edit. */
  holdsFile(realmId: RealmId, id: FileId): Promise<boolean>;
  /** Returns the messages of one hold among the next `limit` messages with ids above `after`, ascending. */
  list(hold: Hold, after: number, limit: number): Promise<HeldPage>;
  /** Returns the deleted messages of one hold among the next `limit` copies with ids above `after`, ascending. */
  listCopies(hold: Hold, after: number, limit: number): Promise<HeldPage>;
  /** Returns the files to which the messages link or linked before their deletion or an edit, by message; ascending. */
  listFiles(realmId: RealmId, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, readonly FileId[]>>;
}

export const HOLD_ROWS: RowRules<Hold> = { kind: 'hold', owner: 'realm', order: ['id'] };

/** Per organization. */
export const MAX_ACTIVE_HOLDS = 100;
/** Per organization, with released ones. */
export const MAX_HOLDS = 10_000;
/** Code points of a reason. */
export const MAX_HOLD_REASON_LENGTH = 1000;

export const HOLD_ERRORS = declareErrors({
  /** There is no such hold. */
  UNKNOWN_HOLD: 'unknown',
  /** The hold is no longer in force. */
  HOLD_RELEASED: 'conflict',
  /** The criteria select nothing in particular, contradict each other, or the reason is missing or too long. */
  INVALID_HOLD: 'invalid',
  /** The organization has too many holds. */
  TOO_MANY_HOLDS: 'conflict',
});

type HoldErrors = typeof HOLD_ERRORS;

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    holds: [reads: RealmRowReads<Hold>, repository: RealmRows<Hold>];
    heldMessages: [reads: HeldMessageReads, repository: HeldMessageReads];
  }
  interface ErrorCodes extends HoldErrors {}
}

const fileUser: FileUser = {
  outlivesDeletion: ({ heldMessages }, { realmId, id }) => heldMessages.holdsFile(realmId, id),
};

export const HOLD_FEATURE = {
  rows: { holds: HOLD_ROWS },
  fileUser,
  notExported: {
    holds: 'They apply to the original server.',
    heldMessages: 'They apply to the original server.',
  },
};

/** Returns the reason as stored. @throws DomainError INVALID_HOLD */
export function requireHold({ reason, ...criteria }: HoldRequest): string {
  const { since, until } = criteria;
  const trimmed = trim(reason);
  if (trimmed === '' || isLongerThan(trimmed, MAX_HOLD_REASON_LENGTH)) {
    throw new DomainError('INVALID_HOLD', `The reason must have 1 to ${MAX_HOLD_REASON_LENGTH} characters.`);
  }
  if (Object.values(criteria).every((value) => value === null)) {
    throw new DomainError('INVALID_HOLD', 'A hold needs a person, a channel, a message or a time.');
  }
  if (since !== null && until !== null && since > until) {
    throw new DomainError('INVALID_HOLD', 'The hold ends before it begins.');
  }
  return trimmed;
}

/**
 * Extends the holds of one account of a person to another one, which gets the messages: to those sent in the given time.
 * Limits do not apply, because nothing held may be lost. Idempotent.
 */
export async function extendHolds(
  tx: Transaction,
  realmId: RealmId,
  { from, to }: { readonly from: UserId; readonly to: UserId },
  time: Pick<HoldCriteria, 'since' | 'until'> = { since: null, until: null },
): Promise<void> {
  const active = (await tx.holds.list(realmId)).filter(({ releasedAt }) => releasedAt === null);
  for (const { id: _, ...hold } of active.filter(({ personId }) => personId === from)) {
    const since = hold.since === null ? time.since : Math.max(hold.since, time.since ?? hold.since);
    const until = hold.until === null ? time.until : Math.min(hold.until, time.until ?? hold.until);
    const extended = { ...hold, personId: to, since, until };
    if (since !== null && until !== null && since > until) continue;
    if (!active.some((other) => isSame(other, extended))) await tx.holds.add(extended);
  }
}

type HoldRequest = HoldCriteria & Pick<Hold, 'reason'>;

const isSame = (one: HoldRequest, other: HoldRequest): boolean =>
  (['reason', 'personId', 'channelId', 'messageId', 'since', 'until'] as const).every((key) => one[key] === other[key]);
