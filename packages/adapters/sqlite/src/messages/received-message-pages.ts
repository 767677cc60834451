import { lastOf, type RecipientId } from '@parley/domain/kernel';
import type { Viewer } from '@parley/domain/messages';
import {
  after,
  idOf,
  type MaybePromise,
  type MessageIndexRow,
  merge,
  orderOf,
  type PageBounds,
  PROPERTY_BITS,
  type Series,
  upTo,
} from '@parley/storage';
import { type Connection, LIMIT, type Query } from '../engine/connection.js';
import type { Narrowing } from './message-filter.js';
import type { MessageSeries } from './message-series.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/** Ids of messages received at their original recipient. */
interface ReceivedRange {
  readonly first: number;
  readonly last: number;
}

const MAX_ID = Number.MAX_SAFE_INTEGER;

/** Number of ids to scan before merging pages by conversation, which is faster for readers with few subscriptions. */
const SCANNED_IDS = { atLeast: 500, perMessage: 10 };
const MOVED_BATCH = 200;

const isUnmoved = `AND m.property_bits & ${PROPERTY_BITS.wasMoved} = 0`;
const isMoved = `AND m.property_bits & ${PROPERTY_BITS.wasMoved}`;

/**
 * Pages of a viewer's own messages, using rows of `message` alone. Each own message is in a conversation with a present
 * or past span of the viewer, or has a row in message_flag. Messages moved elsewhere are lost.
 */
export class ReceivedMessagePages {
  private readonly received: Query<readonly [RecipientId, number | null, number | null]>;
  private readonly withMovedIn: Query<RecipientId>;
  private readonly newestId: Query<number | null>;

  constructor(
    connection: Connection,
    private readonly states: ViewerMessageStates,
    private readonly series: MessageSeries,
  ) {
    // Converts span bounds to ids. No message since the start means no range; none since the end means no upper bound.
    const idAt = (ordinal: string) =>
      `(SELECT m.id FROM message m INDEXED BY message_by_ordinal
        WHERE m.sent_recipient_id = s.recipient_id AND m.ordinal >= s.${ordinal} ORDER BY m.ordinal LIMIT 1)`;
    this.received = connection.tuples(
      `SELECT s.recipient_id,
              CASE WHEN s.from_ordinal = 1 THEN 0 ELSE ${idAt('from_ordinal')} END,
              CASE WHEN s.to_ordinal IS NULL THEN NULL ELSE ${idAt('to_ordinal')} - 1 END
       FROM span s WHERE s.user_id = ? AND s.recipient_id BETWEEN ? AND ? AND s.realm_id = ?
       ORDER BY s.recipient_id, s.number`,
    );
    this.newestId = connection.values<number | null>('SELECT max(id) FROM message');
    this.withMovedIn = connection.values<RecipientId>(
      `SELECT DISTINCT s.recipient_id FROM span s
       WHERE s.user_id = ? AND s.realm_id = ? AND EXISTS (
         SELECT 1 FROM message m INDEXED BY message_moved_in WHERE m.recipient_id = s.recipient_id ${isMoved})`,
    );
  }

  /** Returns at most `limit` rows in page direction. */
  async page(viewer: Viewer, narrowing: Narrowing, pageRange: PageBounds, limit: number): Promise<MessageIndexRow[]> {
    const marked = this.marked(viewer, narrowing, pageRange, limit);
    if (narrowing.messageId !== null)
      return merge([await this.single(viewer, narrowing, pageRange), marked], pageRange, limit);
    const [only, another] = narrowing.series ?? [];
    if (only && !another) {
      const ranges = this.rangesOf(viewer, only.recipientId).get(only.recipientId) ?? [];
      const received = await this.conversation(viewer, narrowing, only, { ranges, hasMovedIn: true }, pageRange, limit);
      return merge([received, marked], pageRange, limit);
    }
    if (isLookedForByIndex(narrowing)) {
      return merge([await this.conversations(viewer, narrowing, pageRange, limit), marked], pageRange, limit);
    }
    const { found, rest } = await this.scan(viewer, narrowing, pageRange, limit);
    const further = rest ? await this.conversations(viewer, narrowing, rest, limit - found.length) : [];
    return merge([found, further, marked], pageRange, limit);
  }

  /** Returns the single message named by the conditions. */
  private async single(
    viewer: Viewer,
    { restriction, messageId }: Narrowing,
    pageRange: PageBounds,
  ): Promise<MessageIndexRow[]> {
    if (messageId! < pageRange.first || messageId! > pageRange.last) return [];
    const from = `FROM message m WHERE m.realm_id = ? ${restriction.sql}`;
    return this.states.own(viewer, this.series.select(from, viewer.realmId, ...restriction.parameters));
  }

  /** Scans all messages while many of them belong to conversations of the viewer. */
  private async scan(
    viewer: Viewer,
    { restriction }: Narrowing,
    pageRange: PageBounds,
    limit: number,
  ): Promise<{ readonly found: MessageIndexRow[]; readonly rest: PageBounds | null }> {
    const newest = this.newestId.get() ?? 0;
    const width = SCANNED_IDS.atLeast + SCANNED_IDS.perMessage * limit;
    const last = Math.min(pageRange.last, newest);
    const window: PageBounds =
      pageRange.direction === 'older'
        ? { ...pageRange, first: Math.max(pageRange.first, last - width), last }
        : { ...pageRange, last: Math.min(last, pageRange.first + width) };
    const found: MessageIndexRow[] = [];
    for (let part: PageBounds | null = window; part && found.length < limit; ) {
      const rows = this.series.select(
        `FROM message m NOT INDEXED
         WHERE EXISTS (SELECT 1 FROM span s WHERE s.user_id = ? AND s.recipient_id = m.recipient_id AND s.realm_id = ?)
           ${restriction.sql} AND m.id BETWEEN ? AND ?
         ORDER BY m.id ${orderOf(pageRange)} ${LIMIT}`,
        ...[viewer.userId, viewer.realmId, ...restriction.parameters, part.first, part.last, limit],
      );
      found.push(...(await this.states.own(viewer, rows)));
      part = rows.length === limit ? after(part, idOf(lastOf(rows))) : null;
    }
    const isAll = pageRange.direction === 'older' ? window.first <= pageRange.first : window.last >= last;
    if (found.length >= limit || isAll) return { found, rest: null };
    return { found, rest: after(pageRange, pageRange.direction === 'older' ? window.first : window.last) };
  }

  /** Merges the series of the conditions, or all the viewer's conversations if there are none. */
  private async conversations(
    viewer: Viewer,
    narrowing: Narrowing,
    pageRange: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const starts = narrowing.series
      ? this.series.starts(narrowing.series, narrowing, pageRange)
      : this.series.ownStarts(viewer, narrowing, pageRange);
    if (starts.length === 0) return [];
    const ranges = this.rangesOf(viewer, null);
    const movedInto = new Set(this.withMovedIn.all(viewer.userId, viewer.realmId));
    return this.series.merged(starts, pageRange, limit, (series, part, count) =>
      this.conversation(
        viewer,
        narrowing,
        series,
        { ranges: ranges.get(series.recipientId) ?? [], hasMovedIn: movedInto.has(series.recipientId) },
        part,
        count,
      ),
    );
  }

  /** Returns the viewer's own messages of one series by spans and moves. */
  private conversation(
    viewer: Viewer,
    narrowing: Narrowing,
    series: Series,
    { ranges, hasMovedIn }: { readonly ranges: readonly ReceivedRange[]; readonly hasMovedIn: boolean },
    pageRange: PageBounds,
    limit: number,
  ): MaybePromise<MessageIndexRow[]> {
    const received: MessageIndexRow[] = [];
    for (const range of pageRange.direction === 'older' ? ranges.toReversed() : ranges) {
      const part = {
        ...pageRange,
        first: Math.max(pageRange.first, range.first),
        last: Math.min(pageRange.last, range.last),
      };
      if (received.length >= limit || part.first > part.last) continue;
      received.push(...this.series.list(series, narrowing, part, limit - received.length, { also: isUnmoved }));
    }
    return hasMovedIn ? this.withMoved(viewer, narrowing, series, received, pageRange, limit) : received;
  }

  /** Adds the viewer's messages that were moved into the series. */
  private async withMoved(
    viewer: Viewer,
    narrowing: Narrowing,
    series: Series,
    received: MessageIndexRow[],
    pageRange: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const moved: MessageIndexRow[] = [];
    const wayIn = { index: 'message_moved_in', also: isMoved };
    // Messages beyond the page are not needed.
    let part: PageBounds | null = received.length < limit ? pageRange : upTo(pageRange, idOf(lastOf(received)));
    while (part && moved.length < limit) {
      const rows = this.series.list(series, narrowing, part, MOVED_BATCH, wayIn);
      moved.push(...(await this.states.own(viewer, rows)));
      part = rows.length === MOVED_BATCH ? after(part, idOf(lastOf(rows))) : null;
    }
    return merge([received, moved], pageRange, limit);
  }

  /** Returns messages that belong to the viewer because of a message_flag row. */
  marked(
    { realmId, userId }: Viewer,
    { restriction }: Narrowing,
    pageRange: PageBounds,
    limit: number,
  ): MessageIndexRow[] {
    return this.series.select(
      `FROM message_flag f INDEXED BY message_flag_own CROSS JOIN message m ON m.id = f.message_id
       WHERE f.user_id = ? AND f.source <> 0 AND f.realm_id = ? AND f.message_id BETWEEN ? AND ? ${restriction.sql}
       ORDER BY f.message_id ${orderOf(pageRange)} ${LIMIT}`,
      ...[userId, realmId, pageRange.first, pageRange.last, ...restriction.parameters, limit],
    );
  }

  /** Returns ascending disjoint ranges per recipient. */
  private rangesOf(
    { realmId, userId }: Viewer,
    recipientId: RecipientId | null,
  ): ReadonlyMap<RecipientId, ReceivedRange[]> {
    const ranges = new Map<RecipientId, ReceivedRange[]>();
    for (const [id, first, last] of this.received.all(userId, recipientId ?? 0, recipientId ?? MAX_ID, realmId)) {
      if (first === null) continue;
      const range = { first, last: last ?? MAX_ID };
      const existing = ranges.get(id);
      if (existing) existing.push(range);
      else ranges.set(id, [range]);
    }
    return ranges;
  }
}

/** True if an index finds the matches in each conversation, which makes a scan of all messages wasteful. */
const isLookedForByIndex = ({ series, topicKey, senderId, property, isDirect, privacies }: Narrowing): boolean =>
  series !== null ||
  topicKey !== null ||
  senderId !== null ||
  property !== null ||
  isDirect === true ||
  privacies !== null;
