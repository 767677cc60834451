import { type ChannelId, lastOf, type MessageId, type Ordinal, type RecipientId } from '@parley/domain/kernel';
import type { ConversationBatch, OrdinalRange, UnreadMessage, Viewer } from '@parley/domain/messages';
import { ascending } from '../engine/rows.js';
import { PROPERTY_BITS } from './message-rows.js';
import type { Narrowing } from './narrowing.js';
import type { PageBounds } from './page-range.js';
import {
  type FlagRow,
  idOf,
  MESSAGE_INDEX_COLUMNS,
  type MessageIndexColumns,
  type MutedRange,
  type RecipientOrdinalRange,
  type ViewerMessageState,
} from './viewer-message-state.js';

export interface UnreadSpan extends RecipientOrdinalRange {
  /** Null for a direct conversation. */
  readonly channelId: ChannelId | null;
  /** Start of the only unread range, if it extends to the end. */
  readonly onlyGap: Ordinal | null;
  /** The only unread range if it is short; such ranges are searched together. */
  readonly shortGap: RecipientOrdinalRange | null;
}

/** Returns the spans of a batch, and the start of the next batch; see `PersonalMessages.markAllRead`. */
export function conversationsIn(
  incomplete: readonly UnreadSpan[],
  { after, limit }: ConversationBatch = { after: null, limit: Number.POSITIVE_INFINITY },
): { readonly spans: readonly UnreadSpan[]; readonly next: RecipientId | null } {
  const following = incomplete.filter(({ recipientId }) => recipientId > (after ?? 0));
  const recipients = [...new Set(following.map(({ recipientId }) => recipientId))].sort(ascending);
  if (recipients.length <= limit) return { spans: following, next: null };
  const next = recipients[limit - 1]!;
  return { spans: following.filter(({ recipientId }) => recipientId <= next), next };
}

export type UnreadRow = readonly [...MessageIndexColumns, channelId: ChannelId | null, topic: string];

/** Viewer with the data that determines the read state in addition to read sets. */
export interface Reader {
  readonly viewer: Viewer;
  readonly mutes: readonly MutedRange[];
  /** Messages marked unread by message_flag rows, which override read sets. */
  readonly marked: ReadonlySet<MessageId>;
}

/** @param unmentioned messages that mention their channel but not the viewer */
export const toUnreadMessages = (
  rows: readonly UnreadRow[],
  flags: ReadonlyMap<MessageId, FlagRow>,
  unmentioned: ReadonlySet<MessageId>,
): readonly UnreadMessage[] =>
  rows.map(([id, senderId, recipientId, , , property_bits, , channelId, topic]) => {
    const flag = flags.get(id);
    const mentionsChannel = (property_bits & PROPERTY_BITS.mentionsChannel) !== 0 && !unmentioned.has(id);
    return {
      ...{ id, senderId, recipientId, channelId, topic },
      isMentioned: flag?.mentioned === 1,
      isWildcardMentioned: mentionsChannel || flag?.topicWildcardMentioned === 1,
    };
  });

/** Columns of an `UnreadRow` in a query over `message m`. */
export const UNREAD_COLUMNS = `${MESSAGE_INDEX_COLUMNS}, m.channel_id, m.topic`;
const directionOf = (from: 'start' | 'end'): number => (from === 'end' ? -1 : 1);

export const inOrder = (from: 'start' | 'end', rows: readonly UnreadRow[]): UnreadRow[] =>
  rows.toSorted((a, b) => directionOf(from) * (idOf(a) - idOf(b)));

/** Collects the first messages from one end of several ordered lists. */
export class Nearest {
  private rows: UnreadRow[];
  /** Messages beyond this id are not among the first. */
  farthest: number | null = null;
  private readonly sign: number;

  constructor(
    from: 'start' | 'end',
    private readonly limit: number,
    rows: readonly UnreadRow[],
  ) {
    this.sign = directionOf(from);
    this.rows = [...rows];
  }

  /** Returns true if farther messages may still be needed. */
  offer(rows: readonly UnreadRow[]): boolean {
    if (rows.length === 0) return true;
    for (const row of rows) if (this.isNear(row)) this.rows.push(row);
    // Sorts when the limit is reached, then occasionally instead of on each call.
    if (this.rows.length >= (this.farthest === null ? 1 : 2) * this.limit) this.cut();
    return this.isNear(lastOf(rows));
  }

  take(): UnreadRow[] {
    this.cut();
    return this.rows;
  }

  private isNear(row: UnreadRow): boolean {
    return this.farthest === null || this.sign * (idOf(row) - this.farthest) < 0;
  }

  private cut(): void {
    this.rows.sort((a, b) => this.sign * (idOf(a) - idOf(b)));
    if (this.rows.length < this.limit) return;
    this.rows.length = this.limit;
    this.farthest = idOf(lastOf(this.rows));
  }
}

/** Number of spans above which a viewer's unread messages are first looked for among the first or last messages. */
export const MANY_SPANS = 500;
/** Maximum number of unread messages looked for in this way. */
const MAX_SCANNED = 1001;
/** Number of ids that are examined for unread messages. */
const SCANNED_IDS = { atLeast: 500, perMessage: 3 };

/** True if a scan of messages of all conversations may find unread messages that satisfy the conditions. */
export const canScan = (
  { series, messageId, searched, topicKey, senderId, property, isDirect, privacies }: Narrowing<unknown>,
  limit: number,
): boolean =>
  limit <= MAX_SCANNED &&
  [series, messageId, searched, topicKey, senderId, property, privacies].every((selection) => selection === null) &&
  isDirect !== true;

/** Returns the first part of a page range that is examined for that number of unread messages. */
export function scannedPart(pageBounds: PageBounds, newest: number, limit: number): PageBounds {
  const { direction, first } = pageBounds;
  const last = Math.min(pageBounds.last, newest);
  const width = SCANNED_IDS.atLeast + SCANNED_IDS.perMessage * limit;
  return direction === 'older'
    ? { direction, first: Math.max(first, last - width), last }
    : { direction, first, last: Math.min(first + width, last) };
}

/** Completes what a scan found by messages marked unread. Returns null if the rest of the page range is needed. */
export function scanned(
  pageBounds: PageBounds,
  newest: number,
  part: PageBounds,
  found: readonly UnreadRow[],
  marked: readonly UnreadRow[],
  limit: number,
): UnreadRow[] | null {
  const rows = [...found, ...marked.filter((row) => part.first <= idOf(row) && idOf(row) <= part.last)];
  const isWhole = part.first <= pageBounds.first && part.last >= Math.min(pageBounds.last, newest);
  if (rows.length < limit && !isWhole) return null;
  return inOrder(pageBounds.direction === 'older' ? 'end' : 'start', rows).slice(0, limit);
}

/** True for unread messages that belong to the viewer because of spans. */
export const isReceivedUnread = (state: ViewerMessageState, row: UnreadRow): boolean =>
  state.source(row) === 'received' && !state.isRead(row, 'received');

/** Ordinals per statement; few at first, for callers that need one message. */
const FIRST_BATCH = 16;
const LARGEST_BATCH = 4096;
/** Splits ranges into batches of ordinals, with sizes increasing from batch to batch. */
export function* batches(
  ranges: Iterable<OrdinalRange>,
  from: 'start' | 'end',
  firstSize = FIRST_BATCH,
): Generator<readonly OrdinalRange[]> {
  let size = firstSize;
  let room = size;
  let batch: OrdinalRange[] = [];
  for (let { first, last } of ranges) {
    while (first <= last) {
      const length = Math.min(last - first + 1, room);
      batch.push(from === 'start' ? { first, last: first + length - 1 } : { first: last - length + 1, last });
      if (from === 'start') first += length;
      else last -= length;
      room -= length;
      if (room > 0) continue;
      yield batch;
      batch = [];
      size = Math.min(2 * size, LARGEST_BATCH);
      room = size;
    }
  }
  if (batch.length > 0) yield batch;
}
