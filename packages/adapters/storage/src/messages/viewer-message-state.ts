import type { ChannelPrivacy } from '@parley/domain/channels';
import {
  type ChannelId,
  getOrThrow,
  type MessageId,
  type Ordinal,
  type RealmId,
  type RecipientId,
  type UserId,
} from '@parley/domain/kernel';
import {
  type ChannelMove,
  type ConditionSubject,
  HISTORICAL,
  isOrdinalRead,
  type MessageCondition,
  type MessageFilter,
  matchesCondition,
  type OrdinalRange,
  type Ownership,
  ownershipOf,
  type PersonalFlags,
  type ReadSegment,
  type SearchedText,
  type Span,
} from '@parley/domain/messages';
import { type Flag, grouped } from '../engine/rows.js';
import type { MaybePromise } from '../engine/statements.js';
import { OWNERSHIP_SOURCES, PROPERTY_BITS, propertiesOf } from './message-rows.js';

/** Small columns covered by the page indexes, sufficient to evaluate list conditions. */
export type MessageIndexColumns = readonly [
  id: MessageId,
  senderId: UserId,
  recipientId: RecipientId,
  sentRecipientId: RecipientId,
  ordinal: Ordinal,
  propertyBits: number,
  version: number,
];
/** Row that starts with these columns. */
export type MessageIndexRow = readonly [...MessageIndexColumns, ...unknown[]];

/** Columns for a query over `message m`. */
export const MESSAGE_INDEX_COLUMNS =
  'm.id, m.sender_id, m.recipient_id, m.sent_recipient_id, m.ordinal, m.property_bits, m.version';

/** Range of ordinals of one recipient. */
export interface RecipientOrdinalRange extends OrdinalRange {
  readonly recipientId: RecipientId;
}

export const idOf = (row: MessageIndexRow): MessageId => row[0];
export const propertyBitsOf = (row: MessageIndexRow): number => row[5];

export const wasMoved = (row: MessageIndexRow): boolean => (row[5] & PROPERTY_BITS.wasMoved) !== 0;

export type MoveTuple = readonly [
  messageId: MessageId,
  number: number,
  targetRecipientId: RecipientId,
  isHistoryProtected: Flag,
];

/** Returns moves by message, in the order of the rows. */
export function movesByMessage(rows: readonly MoveTuple[]): ReadonlyMap<MessageId, readonly ChannelMove[]> {
  const moves = grouped(rows, ([messageId]) => messageId);
  return new Map([...moves].map(([messageId, tuples]) => [messageId, tuples.map(toMove)]));
}

const toMove = ([, number, targetRecipientId, isHistoryProtected]: MoveTuple): ChannelMove => ({
  ...{ number, targetRecipientId },
  isHistoryProtected: isHistoryProtected === 1,
});

/** Message columns needed only by conditions. */
export type ConditionRow = readonly [MessageId, ChannelId | null, topic: string, ChannelPrivacy | null];

/** Converts a message for evaluating conditions. `flags`: the viewer's own, if any. */
export function conditionSubject(
  row: MessageIndexRow,
  [id, channelId, topic, channelPrivacy]: ConditionRow,
  flags: PersonalFlags | null,
  text: ConditionSubject['text'],
): ConditionSubject {
  const place = { recipientId: row[2], channelId, topic };
  const message = { id, senderId: row[1], ...place, ...propertiesOf(propertyBitsOf(row)) };
  return { message, channelPrivacy, flags: flags ?? HISTORICAL, text, data: testedByQueries };
}

/** Conditions on data are never combined with those that no query can decide. */
function testedByQueries(): never {
  throw new Error('Queries test the data of messages');
}

/** Contents of a message_flag row. */
/** Read and flags of a page, with the data of its messages that conditions need. */
interface JudgedMessages {
  readonly state: ViewerMessageState;
  readonly details: readonly ConditionRow[];
  /** Present if a condition reads texts. */
  readonly texts: ReadonlyMap<MessageId, SearchedText> | null;
}

/** Returns the messages that match all conditions, in order; in scope `own`, only the viewer's own. */
export function matchingRows(
  rows: readonly MessageIndexRow[],
  { state, details, texts }: JudgedMessages,
  conditions: readonly MessageCondition[],
  scope: MessageFilter['scope'],
): MessageIndexRow[] {
  const byId = new Map(details.map((each) => [each[0], each]));
  return rows.filter((row) => {
    const own = state.flags(row);
    if (!own && scope === 'own') return false;
    const subject = conditionSubject(row, getOrThrow(byId, idOf(row)), own, () => getOrThrow(texts!, idOf(row)));
    return conditions.every((condition) => matchesCondition(subject, condition));
  });
}

export interface FlagRow {
  readonly source: number;
  /** Null to derive it from spans, moves and read sets. */
  readonly read: Flag | null;
  readonly starred: Flag;
  readonly collapsed: Flag;
  readonly mentioned: Flag;
  readonly topicWildcardMentioned: Flag;
  readonly hasAlertWord: Flag;
}

export type FlagTuple = readonly [MessageId, number, Flag | null, Flag, Flag, Flag, Flag, Flag];
export type SpanTuple = readonly [RecipientId, Ordinal, Ordinal | null, number, number | null];
/**
 * Messages of the sender from the first id (inclusive) to the last (exclusive) arrive read; null while the mute lasts.
 */
export type MutedRange = readonly [senderId: UserId, from: MessageId, until: MessageId | null];

const NONE: readonly never[] = [];
const NO_FLAGS: PersonalFlags = { ...HISTORICAL, read: false, historical: false };
const READ: PersonalFlags = { ...NO_FLAGS, read: true };

/** State of a fixed set of messages for one viewer; undefined for ids outside the set. */
export class ViewerMessageState {
  constructor(
    private readonly spans: ReadonlyMap<RecipientId, readonly Span[]>,
    private readonly moves: ReadonlyMap<MessageId, readonly ChannelMove[]>,
    private readonly rows: ReadonlyMap<MessageId, FlagRow>,
    private readonly segments: ReadonlyMap<RecipientId, readonly ReadSegment[]>,
    private readonly mutes: readonly MutedRange[],
  ) {}

  row(id: MessageId): FlagRow | undefined {
    return this.rows.get(id);
  }

  isOwn(message: MessageIndexRow): boolean {
    return this.source(message) !== null;
  }

  /** Returns the reason why the message belongs to the viewer; null if it does not. */
  source(message: MessageIndexRow): OwnershipSource | null {
    const row = this.rows.get(idOf(message));
    if (row !== undefined && row.source !== OWNERSHIP_SOURCES.spans) return 'row';
    const ownership = this.ownership(message);
    return ownership === 'none' ? null : ownership;
  }

  /** Determines ownership by spans and moves, ignoring message_flag rows. */
  ownership(message: MessageIndexRow): Ownership {
    const sent = { recipientId: message[3], ordinal: message[4] };
    const spans = this.spans.get(sent.recipientId) ?? NONE;
    const moves = this.moves.get(idOf(message));
    if (!moves) return ownershipOf(spans, sent, NONE);
    const targets = moves.flatMap(({ targetRecipientId }) => this.spans.get(targetRecipientId) ?? NONE);
    return ownershipOf([...spans, ...targets], sent, moves);
  }

  /** True if the message arrives read without any action by the viewer. */
  isReadOnArrival(message: MessageIndexRow): boolean {
    if ((propertyBitsOf(message) & PROPERTY_BITS.isReadByDefault) !== 0) return true;
    return this.mutes.length > 0 && isMuted(this.mutes, message[1], idOf(message));
  }

  isRead(message: MessageIndexRow, source: OwnershipSource): boolean {
    const row = this.rows.get(idOf(message));
    if (row !== undefined && row.read !== null) return row.read === 1;
    return (
      source === 'gained' ||
      this.isReadOnArrival(message) ||
      isOrdinalRead(this.segments.get(message[3]) ?? NONE, message[4])
    );
  }

  /** Returns null if the message does not belong to the viewer. */
  flags(message: MessageIndexRow): PersonalFlags | null {
    const source = this.source(message);
    if (source === null) return null;
    const read = this.isRead(message, source);
    const row = this.rows.get(idOf(message));
    const mentionsChannel = (propertyBitsOf(message) & PROPERTY_BITS.mentionsChannel) !== 0;
    if (!row && !mentionsChannel) return read ? READ : NO_FLAGS;
    return {
      read,
      starred: row?.starred === 1,
      collapsed: row?.collapsed === 1,
      mentioned: row?.mentioned === 1,
      channelWildcardMentioned:
        mentionsChannel && (source === 'received' || row?.source === OWNERSHIP_SOURCES.sentWithoutSpan),
      topicWildcardMentioned: row?.topicWildcardMentioned === 1,
      hasAlertWord: row?.hasAlertWord === 1,
      historical: row?.source === OWNERSHIP_SOURCES.historical,
    };
  }
}

/**
 * Reason for ownership: received, gained by a move, or only by a message_flag row. Read sets apply only to received
 * messages.
 */
export type OwnershipSource = 'received' | 'gained' | 'row';

export function isMuted(mutes: readonly MutedRange[], senderId: UserId, id: MessageId): boolean {
  return mutes.some(([muted, from, until]) => muted === senderId && from <= id && (until === null || id < until));
}

export function byRecipient(rows: readonly SpanTuple[]): ReadonlyMap<RecipientId, readonly Span[]> {
  const spans = new Map<RecipientId, Span[]>();
  for (const [recipientId, fromOrdinal, toOrdinal, fromMove, toMove] of rows) {
    const span = { recipientId, fromOrdinal, toOrdinal, fromMove, toMove };
    const existing = spans.get(recipientId);
    if (existing) existing.push(span);
    else spans.set(recipientId, [span]);
  }
  return spans;
}

/** Returns the range of ordinals per original recipient. */
export function ordinalRangesOf(messages: readonly MessageIndexRow[]): RecipientOrdinalRange[] {
  const ranges = new Map<RecipientId, { recipientId: RecipientId; first: Ordinal; last: Ordinal }>();
  for (const message of messages) {
    const recipientId = message[3];
    const ordinal = message[4];
    const range = ranges.get(recipientId);
    if (!range) ranges.set(recipientId, { recipientId, first: ordinal, last: ordinal });
    else if (ordinal < range.first) range.first = ordinal;
    else if (ordinal > range.last) range.last = ordinal;
  }
  return [...ranges.values()];
}

/** Returns recipients with spans that determine ownership: the original ones and the targets of moves. */
export function recipientsOf(
  ranges: readonly RecipientOrdinalRange[],
  moves: ReadonlyMap<MessageId, readonly ChannelMove[]>,
): ReadonlySet<RecipientId> {
  const recipientIds = new Set(ranges.map(({ recipientId }) => recipientId));
  for (const list of moves.values()) for (const move of list) recipientIds.add(move.targetRecipientId);
  return recipientIds;
}

export function toFlagRow(row: FlagTuple): FlagRow {
  const [, source, read, starred, collapsed, mentioned, topicWildcardMentioned, hasAlertWord] = row;
  return { source, read, starred, collapsed, mentioned, topicWildcardMentioned, hasAlertWord };
}

/** Index rows of messages by id, ascending; unknown ids and ids of other realms are absent. */
export interface IndexRowsById {
  list(realmId: RealmId, ids: readonly MessageId[]): MaybePromise<MessageIndexRow[]>;
}
