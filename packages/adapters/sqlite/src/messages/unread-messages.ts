import { type Ordinal, type RecipientId, slicesOf } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { type OrdinalRange, type ReadSegment, unreadRanges, type Viewer } from '@parley/domain/messages';
import {
  batches,
  inOrder,
  MESSAGE_INDEX_COLUMNS,
  type MessageIndexColumns,
  Nearest,
  newStatementCache,
  PROPERTY_BITS,
  type Reader,
  type RecipientOrdinalRange,
  SqlUnreadMessages,
  UNREAD_COLUMNS,
  type UnreadRow,
  type UnreadSpan,
} from '@parley/storage';
import type { LRUCache } from 'lru-cache';
import { asStatements, type Connection, type Parameter, type Query } from '../engine/connection.js';
import { between, type Narrowing, type Restriction } from './message-filter.js';
import type { UnreadSpans } from './read-sets.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/** Maximum lengths searched to close a gap. */
const TIDIED_ORDINALS = [4, 256];
/** Maximum number of short gaps per statement. */
const SHORT_GAPS_AT_ONCE = 1000;

/**
 * Goes from gap to gap by cheap statements. PostgreSQL examines many gaps per statement to save round trips, which takes
 * two to five times as long here for a page or the first unread message among 200,000 messages.
 */
export class UnreadMessages extends SqlUnreadMessages<string, ViewerMessageStates> {
  private readonly queries: LRUCache<string, Query<string>>;
  private readonly sentAt: Query<MessageIndexColumns>;

  constructor(connection: Connection, states: ViewerMessageStates, unreadSpans: UnreadSpans, words: SearchWords) {
    super(asStatements(connection), states, unreadSpans, words, between, {
      isMoved: `property_bits & ${PROPERTY_BITS.wasMoved}`,
      inIdOrder: 'NOT INDEXED',
    });
    // One JSON text, for the reason given at `MessageIndexQuery`.
    this.queries = newStatementCache((from) =>
      connection.values<string>(
        `SELECT json_group_array(json_array(
           id, sender_id, recipient_id, sent_recipient_id, ordinal, property_bits, version, channel_id, topic))
         FROM (SELECT ${UNREAD_COLUMNS} ${from})`,
      ),
    );
    this.sentAt = connection.tuples<MessageIndexColumns>(
      `SELECT ${MESSAGE_INDEX_COLUMNS} FROM message m
       WHERE m.sent_recipient_id = ? AND m.ordinal = ? AND ${ARRIVED_UNREAD}`,
    );
  }

  protected rows(from: string, parameters: readonly Parameter[]): UnreadRow[] {
    return JSON.parse(this.queries.memo(from).one(...parameters)) as UnreadRow[];
  }

  protected rowsIn(gaps: readonly RecipientOrdinalRange[], { sql, parameters }: Restriction): UnreadRow[] {
    const ranges = JSON.stringify(gaps.map(({ recipientId, first, last }) => [recipientId, first, last]));
    return this.rows(
      `FROM json_each(?) gap
       CROSS JOIN message m INDEXED BY message_by_ordinal
         ON m.sent_recipient_id = gap.value ->> 0 AND m.ordinal BETWEEN gap.value ->> 1 AND gap.value ->> 2
       WHERE ${ARRIVED_UNREAD} ${sql}`,
      [ranges, ...parameters],
    );
  }

  /** Returns the first `limit` messages marked unread or missing from read sets, from the newest or oldest end. */
  protected async nearest(
    reader: Reader,
    narrowing: Narrowing,
    spans: readonly UnreadSpan[],
    from: 'start' | 'end',
    limit: number,
    marked: readonly UnreadRow[],
  ): Promise<UnreadRow[]> {
    const nearest = new Nearest(from, limit, marked);
    const shortGaps = spans.flatMap((span) => (span.shortGap ? [span.shortGap] : []));
    // Newer conversations usually have the newer messages, which exclude most messages of the others.
    if (from === 'end') shortGaps.reverse();
    for (const gaps of slicesOf(shortGaps, SHORT_GAPS_AT_ONCE)) {
      nearest.offer(inOrder(from, await this.unreadIn(reader, gaps, nearer(narrowing, from, nearest.farthest))));
    }
    for (const span of spans) {
      if (span.shortGap) continue;
      for await (const rows of this.pageRange(reader, span, from, narrowing)) {
        // The rest of this recipient is farther away.
        if (!nearest.offer(rows)) break;
      }
    }
    return nearest.take();
  }

  /**
   * Yields unread messages of a span by read sets, mutes and moves, without those marked unread. Goes in order from
   * one end, one list per batch; lists may be empty.
   */
  private async *pageRange(
    reader: Reader,
    ordinalRange: RecipientOrdinalRange,
    from: 'start' | 'end',
    narrowing: Narrowing | null,
  ): AsyncGenerator<readonly UnreadRow[]> {
    const { recipientId } = ordinalRange;
    for (const ranges of batches(this.gaps(reader.viewer, ordinalRange, from), from)) {
      const gaps = ranges.map((range) => ({ recipientId, ...range }));
      yield inOrder(from, await this.unreadIn(reader, gaps, narrowing));
    }
  }

  /**
   * Returns the searched part of the first gap from that end without unread messages: they were deleted, moved away or
   * arrived read. `segments` are the recipient's ascending segments, if already loaded.
   */
  async findEmpty(
    reader: Reader,
    ordinalRange: RecipientOrdinalRange,
    from: 'start' | 'end',
    segments?: readonly ReadSegment[],
  ): Promise<OrdinalRange | null> {
    const gap = (
      segments
        ? unreadRanges(from === 'start' ? segments : segments.toReversed(), ordinalRange, from)
        : this.gaps(reader.viewer, ordinalRange, from)
    ).next().value;
    // The message at the edge of a gap is usually still unread.
    if (!gap || (await this.isUnreadAt(reader, ordinalRange.recipientId, from === 'start' ? gap.first : gap.last)))
      return null;
    let empty: OrdinalRange | null = null;
    for (const length of TIDIED_ORDINALS) {
      const range =
        from === 'start'
          ? { first: gap.first, last: Math.min(gap.last, gap.first + length - 1) }
          : { first: Math.max(gap.first, gap.last - length + 1), last: gap.last };
      const rows = await this.unreadIn(reader, [{ ...ordinalRange, ...range }], null);
      const ordinals = rows.map((row) => row[4]);
      if (ordinals.length === 0) {
        empty = range;
        continue;
      }
      const { first, last } =
        from === 'start'
          ? { first: range.first, last: Math.min(...ordinals) - 1 }
          : { first: Math.max(...ordinals) + 1, last: range.last };
      return first <= last ? { first, last } : null;
    }
    return empty;
  }

  private gaps(viewer: Viewer, ordinalRange: RecipientOrdinalRange, from: 'start' | 'end'): Generator<OrdinalRange> {
    const { readSets } = this.states;
    const segments =
      from === 'start'
        ? readSets.ascending(viewer, ordinalRange.recipientId, ordinalRange.first)
        : readSets.descending(viewer, ordinalRange.recipientId, ordinalRange.last);
    return unreadRanges(segments, ordinalRange, from);
  }

  private async isUnreadAt(reader: Reader, recipientId: RecipientId, ordinal: Ordinal): Promise<boolean> {
    const row = this.sentAt.get(recipientId, ordinal);
    return row !== undefined && (await this.thoseToRead(reader, [row])).length > 0;
  }
}

const ARRIVED_UNREAD = `(m.property_bits & ${PROPERTY_BITS.isReadByDefault}) = 0`;

/** Excludes messages beyond an id, seen from this end; null excludes none. */
const nearer = (narrowing: Narrowing, from: 'start' | 'end', farthest: number | null): Narrowing =>
  farthest === null
    ? narrowing
    : from === 'start'
      ? between(narrowing, 0, farthest)
      : between(narrowing, farthest, Number.MAX_SAFE_INTEGER);
