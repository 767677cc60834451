import { lastOf, type MessageId, type Ordinal, type RecipientId, slicesOf } from '@parley/domain/kernel';
import {
  type OrdinalRange,
  type ReadSegment,
  type UnreadMessage,
  unreadRanges,
  type Viewer,
} from '@parley/domain/messages';
import {
  after,
  batches,
  canScan,
  EVER,
  idOf,
  inOrder,
  isMuted,
  isReceivedUnread,
  jsonList,
  MANY_SPANS,
  MESSAGE_INDEX_COLUMNS,
  type MessageIndexColumns,
  type MessageIndexRow,
  Nearest,
  newStatementCache,
  onlyRecipient,
  orderOf,
  type PageBounds,
  PROPERTY_BITS,
  propertyBitsOf,
  type Reader,
  type RecipientOrdinalRange,
  scanned,
  scannedPart,
  toUnreadMessages,
  UNREAD_COLUMNS,
  type UnreadRow,
  type UnreadSpan,
  wasMoved,
} from '@parley/storage';
import type { LRUCache } from 'lru-cache';
import { type Connection, LIMIT, type Parameter, type Query } from '../engine/connection.js';
import { ConditionSubjects } from './conditions.js';
import { between, type Narrowing } from './message-filter.js';
import type { UnreadSpans } from './read-sets.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/** Maximum lengths searched to close a gap. */
const TIDIED_ORDINALS = [4, 256];
/** Maximum number of short gaps per statement. */
const SHORT_GAPS_AT_ONCE = 1000;

/**
 * Unread messages of a viewer. They are gaps of read sets within spans where a message still exists that did not
 * arrive read, plus messages marked unread by message_flag. Cost depends on the unread messages, not on the history.
 * Separate from PostgreSQL's: cheap statements go from gap to gap, while PostgreSQL examines many gaps per round trip.
 */
export class UnreadMessages {
  private readonly queries: LRUCache<string, Query<string>>;
  private readonly subjects: ConditionSubjects;
  private readonly hasMovedIn: Query<1>;
  private readonly hasManySpans: Query<1>;
  private readonly newestId: Query<number | null>;
  private readonly markedIds: Query<MessageId>;
  private readonly ordinalsAround: Query<readonly [RecipientId, Ordinal | null, Ordinal | null]>;
  private readonly sentAt: Query<MessageIndexColumns>;

  constructor(
    connection: Connection,
    private readonly states: ViewerMessageStates,
    private readonly unreadSpans: UnreadSpans,
  ) {
    // One JSON text, for the reason given at `MessageIndexQuery`.
    this.queries = newStatementCache((from) =>
      connection.values<string>(
        `SELECT json_group_array(json_array(
           id, sender_id, recipient_id, sent_recipient_id, ordinal, property_bits, version, channel_id, topic))
         FROM (SELECT ${UNREAD_COLUMNS} ${from})`,
      ),
    );
    this.subjects = new ConditionSubjects(connection, states);
    this.hasMovedIn = connection.values<1>(
      `SELECT 1 FROM message INDEXED BY message_moved_in
       WHERE recipient_id = ? AND property_bits & ${PROPERTY_BITS.wasMoved} LIMIT 1`,
    );
    // Nearest messages outside the id range that are still at their original recipient.
    const nearest = (bound: string, order: string) =>
      `(SELECT m.ordinal FROM message m INDEXED BY message_by_recipient
        WHERE m.recipient_id = r.value AND m.sent_recipient_id = r.value AND m.id ${bound} ?
        ORDER BY m.id ${order} LIMIT 1)`;
    this.ordinalsAround = connection.tuples(
      `SELECT r.value, ${nearest('<', 'DESC')}, ${nearest('>', 'ASC')} FROM json_each(?) r`,
    );
    this.sentAt = connection.tuples<MessageIndexColumns>(
      `SELECT ${MESSAGE_INDEX_COLUMNS} FROM message m WHERE m.sent_recipient_id = ? AND m.ordinal = ?`,
    );
    this.hasManySpans = connection.values<1>('SELECT 1 FROM span WHERE user_id = ? LIMIT 1 OFFSET ?');
    this.newestId = connection.values<number | null>('SELECT max(id) FROM message');
    this.markedIds = connection.values<MessageId>(
      `SELECT message_id FROM message_flag INDEXED BY message_flag_unread
       WHERE user_id = ? AND read = 0 AND realm_id = ?`,
    );
  }

  readerOf(viewer: Viewer): Reader {
    return {
      viewer,
      mutes: this.states.mutesOf(viewer),
      marked: new Set(this.markedIds.all(viewer.userId, viewer.realmId)),
    };
  }

  /** Returns the newest `limit` unread messages, ascending by id. */
  list(viewer: Viewer, narrowing: Narrowing, limit: number): readonly UnreadMessage[] {
    const marked = this.marked(viewer, narrowing, 'DESC', limit);
    return this.toUnread(viewer, this.newest(this.readerOf(viewer), narrowing, limit, marked), marked);
  }

  /** Returns the newest `limit` messages marked unread or missing from read sets, ascending by id. */
  newest(reader: Reader, narrowing: Narrowing, limit: number, marked: readonly UnreadRow[]): readonly UnreadRow[] {
    const found = this.scan(reader, narrowing, EVER, limit, marked);
    if (found) return found.reverse();
    const spans = this.rangesFor(reader.viewer, narrowing);
    return this.nearest(reader, narrowing, spans, 'end', limit, marked).reverse();
  }

  /** Returns at most `limit` messages in page direction. */
  page(viewer: Viewer, narrowing: Narrowing, pageRange: PageBounds, limit: number): UnreadRow[] {
    const isOlder = pageRange.direction === 'older';
    const within = between(narrowing, pageRange.first, pageRange.last);
    const marked = this.marked(viewer, within, isOlder ? 'DESC' : 'ASC', limit);
    const reader = this.readerOf(viewer);
    const found = this.scan(reader, within, pageRange, limit, marked);
    if (found) return found;
    const spans = this.within(this.rangesFor(viewer, narrowing), pageRange);
    return this.nearest(reader, within, spans, isOlder ? 'end' : 'start', limit, marked);
  }

  /**
   * Returns the first `limit` unread messages in page direction if they are among the next messages of the server.
   * Returns null otherwise, and for viewers with few spans.
   */
  scan(
    reader: Reader,
    narrowing: Narrowing,
    pageRange: PageBounds,
    limit: number,
    marked: readonly UnreadRow[],
  ): UnreadRow[] | null {
    if (!canScan(narrowing, limit)) return null;
    const { userId, realmId } = reader.viewer;
    if (this.hasManySpans.get(userId, MANY_SPANS) === undefined) return null;
    const { sql, parameters } = narrowing.restriction;
    const newest = this.newestId.get() ?? 0;
    const window = scannedPart(pageRange, newest, limit);
    const received: UnreadRow[] = [];
    for (let part: PageBounds | null = window; part && received.length < limit; ) {
      const rows: UnreadRow[] = this.rows(
        `FROM message m NOT INDEXED
         WHERE m.id BETWEEN ? AND ? AND m.property_bits & ${PROPERTY_BITS.isReadByDefault} = 0
           AND EXISTS (SELECT 1 FROM span s
                       WHERE s.user_id = ? AND s.recipient_id = m.sent_recipient_id AND s.realm_id = ?) ${sql}
         ORDER BY m.id ${orderOf(pageRange)} ${LIMIT}`,
        [part.first, part.last, userId, realmId, ...parameters, limit],
      );
      const state = this.states.load(reader.viewer, rows);
      const unread = rows.filter((row) => !reader.marked.has(idOf(row)) && isReceivedUnread(state, row));
      received.push(...this.meant(reader.viewer, unread, narrowing));
      part = rows.length === limit ? after(part, idOf(lastOf(rows))) : null;
    }
    return scanned(pageRange, newest, window, received, marked, limit);
  }

  /** Returns the first `limit` messages marked unread or missing from read sets, from the newest or oldest end. */
  private nearest(
    reader: Reader,
    narrowing: Narrowing,
    spans: readonly UnreadSpan[],
    from: 'start' | 'end',
    limit: number,
    marked: readonly UnreadRow[],
  ): UnreadRow[] {
    const nearest = new Nearest(from, limit, marked);
    const shortGaps = spans.flatMap((span) => (span.shortGap ? [span.shortGap] : []));
    // Newer conversations usually have the newer messages, which exclude most messages of the others.
    if (from === 'end') shortGaps.reverse();
    for (const gaps of slicesOf(shortGaps, SHORT_GAPS_AT_ONCE)) {
      nearest.offer(inOrder(from, this.unreadIn(reader, gaps, nearer(narrowing, from, nearest.farthest))));
    }
    for (const span of spans) {
      if (span.shortGap) continue;
      for (const rows of this.pageRange(reader, span, from, narrowing)) {
        // The rest of this recipient is farther away.
        if (!nearest.offer(rows)) break;
      }
    }
    return nearest.take();
  }

  findFirst(viewer: Viewer, narrowing: Narrowing): MessageId | null {
    const marked = this.marked(viewer, narrowing, 'ASC', 1);
    const reader = this.readerOf(viewer);
    const [first] =
      this.scan(reader, narrowing, { ...EVER, direction: 'newer' }, 1, marked) ??
      this.nearest(reader, narrowing, this.rangesFor(viewer, narrowing), 'start', 1, marked);
    return first ? idOf(first) : null;
  }

  /**
   * Yields unread messages of a span by read sets, mutes and moves, without those marked unread. Goes in order from
   * one end, one list per batch; lists may be empty.
   */
  *pageRange(
    reader: Reader,
    ordinalRange: RecipientOrdinalRange,
    from: 'start' | 'end',
    narrowing: Narrowing | null,
  ): Generator<readonly UnreadRow[]> {
    const { recipientId } = ordinalRange;
    for (const ranges of batches(this.gaps(reader.viewer, ordinalRange, from), from)) {
      const gaps = ranges.map((range) => ({ recipientId, ...range }));
      yield inOrder(from, this.unreadIn(reader, gaps, narrowing));
    }
  }

  /**
   * Returns the searched part of the first gap from that end without unread messages: they were deleted, moved away or
   * arrived read. `segments` are the recipient's ascending segments, if already loaded.
   */
  findEmpty(
    reader: Reader,
    ordinalRange: RecipientOrdinalRange,
    from: 'start' | 'end',
    segments?: readonly ReadSegment[],
  ): OrdinalRange | null {
    const gap = (
      segments
        ? unreadRanges(from === 'start' ? segments : segments.toReversed(), ordinalRange, from)
        : this.gaps(reader.viewer, ordinalRange, from)
    ).next().value;
    // The message at the edge of a gap is usually still unread.
    if (!gap || this.isUnreadAt(reader, ordinalRange.recipientId, from === 'start' ? gap.first : gap.last)) return null;
    let empty: OrdinalRange | null = null;
    for (const length of TIDIED_ORDINALS) {
      const range =
        from === 'start'
          ? { first: gap.first, last: Math.min(gap.last, gap.first + length - 1) }
          : { first: Math.max(gap.first, gap.last - length + 1), last: gap.last };
      const ordinals = this.unreadIn(reader, [{ ...ordinalRange, ...range }], null).map((row) => row[4]);
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

  /** Returns unread messages of gaps in unspecified order. */
  unreadIn(reader: Reader, gaps: readonly RecipientOrdinalRange[], narrowing: Narrowing | null): readonly UnreadRow[] {
    const { sql, parameters } = narrowing?.restriction ?? NO_RESTRICTION;
    const ranges = JSON.stringify(gaps.map(({ recipientId, first, last }) => [recipientId, first, last]));
    const rows = this.rows(
      `FROM json_each(?) gap
       CROSS JOIN message m INDEXED BY message_by_ordinal
         ON m.sent_recipient_id = gap.value ->> 0 AND m.ordinal BETWEEN gap.value ->> 1 AND gap.value ->> 2
       WHERE true ${sql}`,
      [ranges, ...parameters],
    );
    return this.meant(reader.viewer, this.thoseToRead(reader, rows), narrowing);
  }

  private isUnreadAt(reader: Reader, recipientId: RecipientId, ordinal: Ordinal): boolean {
    const row = this.sentAt.get(recipientId, ordinal);
    return row !== undefined && this.thoseToRead(reader, [row]).length > 0;
  }

  /** Filters messages in gaps that did not arrive read and have no message_flag row. */
  private thoseToRead<Row extends MessageIndexRow>(
    { viewer, mutes, marked }: Reader,
    unreadSpans: readonly Row[],
  ): readonly Row[] {
    const rows = unreadSpans.filter(
      (row) =>
        (propertyBitsOf(row) & PROPERTY_BITS.isReadByDefault) === 0 &&
        !marked.has(idOf(row)) &&
        (mutes.length === 0 || !isMuted(mutes, row[1], idOf(row))),
    );
    if (!rows.some(wasMoved)) return rows;
    const state = this.states.ofOwnership(viewer, rows);
    return rows.filter((row) => state.ownership(row) === 'received');
  }

  /** Returns messages marked unread by message_flag rows, from the oldest or newest end. */
  marked(viewer: Viewer, narrowing: Narrowing, order: 'ASC' | 'DESC', limit: number): readonly UnreadRow[] {
    const { realmId, userId } = viewer;
    const { sql, parameters } = narrowing.restriction;
    const isJudgedLater = narrowing.personal.length > 0;
    const rows = this.rows(
      `FROM message_flag f INDEXED BY message_flag_unread CROSS JOIN message m ON m.id = f.message_id
       WHERE f.user_id = ? AND f.read = 0 AND f.realm_id = ? ${sql}
       ORDER BY f.message_id ${order} ${LIMIT}`,
      [userId, realmId, ...parameters, isJudgedLater ? Number.MAX_SAFE_INTEGER : limit],
    );
    return this.meant(viewer, rows, narrowing).slice(0, limit);
  }

  /** Filters by conditions that no query can decide. */
  private meant(viewer: Viewer, rows: readonly UnreadRow[], narrowing: Narrowing | null): readonly UnreadRow[] {
    if (narrowing === null || narrowing.personal.length === 0) return rows;
    const meant = new Set(this.subjects.matching(viewer, rows, narrowing.personal, 'own').map(idOf));
    return rows.filter((row) => meant.has(idOf(row)));
  }

  /** Returns the spans that may contain unread messages of the conditions. */
  private rangesFor(viewer: Viewer, narrowing: Narrowing): UnreadSpan[] {
    const recipientId = onlyRecipient(narrowing);
    const isElsewhere = recipientId !== null && this.hasMovedIn.get(recipientId) !== undefined;
    return this.unreadSpans.of(viewer, isElsewhere ? null : recipientId);
  }

  /** Limits spans to the ordinals possible for messages in an id range. */
  private within(spans: readonly UnreadSpan[], { first, last }: PageBounds): UnreadSpan[] {
    const recipientIds = jsonList(new Set(spans.map(({ recipientId }) => recipientId)));
    const bounds = new Map(this.ordinalsAround.all(first, last, recipientIds).map((each) => [each[0], each]));
    return spans.flatMap((span) => {
      const [, before, behind] = bounds.get(span.recipientId) ?? [span.recipientId, null, null];
      const cut = {
        ...span,
        first: Math.max(span.first, (before ?? 0) + 1),
        last: Math.min(span.last, (behind ?? Number.MAX_SAFE_INTEGER) - 1),
      };
      return cut.first <= cut.last ? [cut] : [];
    });
  }

  private toUnread(viewer: Viewer, rows: readonly UnreadRow[], marked: readonly UnreadRow[]): readonly UnreadMessage[] {
    const flags = this.states.flagRows(viewer, rows.map(idOf));
    const unmentioned = this.unmentioned(viewer, marked);
    return toUnreadMessages(rows, flags, unmentioned);
  }

  /**
   * Returns messages that mention the whole channel but not the viewer. Only messages marked unread can qualify; all
   * others were received.
   */
  unmentioned(viewer: Viewer, marked: readonly UnreadRow[]): ReadonlySet<MessageId> {
    const mentioning = marked.filter((row) => (propertyBitsOf(row) & PROPERTY_BITS.mentionsChannel) !== 0);
    const state = this.states.load(viewer, mentioning);
    return new Set(mentioning.filter((row) => !state.flags(row)?.channelWildcardMentioned).map(idOf));
  }

  private rows(from: string, parameters: readonly Parameter[]): UnreadRow[] {
    return JSON.parse(this.queries.memo(from).one(...parameters)) as UnreadRow[];
  }
}

const NO_RESTRICTION = { sql: '', parameters: [] };

/** Excludes messages beyond an id, seen from this end; null excludes none. */
const nearer = (narrowing: Narrowing, from: 'start' | 'end', farthest: number | null): Narrowing =>
  farthest === null
    ? narrowing
    : from === 'start'
      ? between(narrowing, 0, farthest)
      : between(narrowing, farthest, Number.MAX_SAFE_INTEGER);
