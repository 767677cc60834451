import { getOrThrow, lastOf, type MessageId, type Ordinal, type RecipientId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
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
  grouped,
  idOf,
  inOrder,
  isMuted,
  isReceivedUnread,
  MANY_SPANS,
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
import type { Connection, Query } from '../engine/connection.js';
import { ConditionSubjects } from './conditions.js';
import { between, type Narrowing } from './message-filter.js';
import type { SqlParameter } from './message-series.js';
import type { UnreadSpans } from './read-sets.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/** Total number of ordinals in all spans examined by the first statement. */
const FIRST_ORDINALS = 4000;
/** Minimum number of ordinals per span examined by the first statement. */
const FIRST_OF_SPAN = 16;
/** Maximum length searched to close a gap. */
const TIDIED_ORDINALS = 256;
const NO_RESTRICTION = { sql: '', parameters: [] };

/**
 * Unread messages of a viewer: messages in read set gaps within spans that did not arrive read, plus messages marked
 * unread by message_flag. The cost depends on the unread messages, not on the history.
 */
export class UnreadMessages {
  private readonly queries: ReturnType<typeof newStatementCache<Query<UnreadRow>>>;
  private readonly subjects: ConditionSubjects;
  private readonly hasMovedIn: Query<1>;
  private readonly newestIdIfManySpans: Query<number>;
  private readonly markedIds: Query<MessageId>;
  private readonly ordinalsAround: Query<readonly [RecipientId, Ordinal | null, Ordinal | null]>;

  constructor(
    connection: Connection,
    private readonly states: ViewerMessageStates,
    private readonly unreadSpans: UnreadSpans,
    words: SearchWords,
  ) {
    this.queries = newStatementCache((from) => connection.tuples<UnreadRow>(`SELECT ${UNREAD_COLUMNS} ${from}`));
    this.subjects = new ConditionSubjects(connection, states, words);
    this.hasMovedIn = connection.values<1>(
      `SELECT 1 FROM message WHERE recipient_id = $1 AND (property_bits & ${PROPERTY_BITS.wasMoved}) <> 0 LIMIT 1`,
    );
    // Nearest messages outside the id range that are still at their original recipient.
    const nearest = (bound: string, order: string) =>
      `(SELECT m.ordinal FROM message m
        WHERE m.recipient_id = r.id AND m.sent_recipient_id = r.id AND m.id ${bound} ORDER BY m.id ${order} LIMIT 1)`;
    this.ordinalsAround = connection.tuples(
      `SELECT r.id, ${nearest('< $1', 'DESC')}, ${nearest('> $2', 'ASC')} FROM unnest($3::bigint[]) r (id)`,
    );
    this.newestIdIfManySpans = connection.values<number>(
      `SELECT (SELECT max(id) FROM message) FROM span WHERE user_id = $1 LIMIT 1 OFFSET $2`,
    );
    this.markedIds = connection.values<MessageId>(
      'SELECT message_id FROM message_flag WHERE user_id = $1 AND read = 0 AND realm_id = $2',
    );
  }

  async readerOf(viewer: Viewer): Promise<Reader> {
    const [mutes, marked] = await Promise.all([
      this.states.mutesOf(viewer),
      this.markedIds.all(viewer.userId, viewer.realmId),
    ]);
    return { viewer, mutes, marked: new Set(marked) };
  }

  /** Returns the newest `limit` unread messages, ascending by id. */
  async list(viewer: Viewer, narrowing: Narrowing, limit: number): Promise<readonly UnreadMessage[]> {
    const [reader, marked] = await Promise.all([this.readerOf(viewer), this.marked(viewer, narrowing, 'DESC', limit)]);
    return this.toUnread(viewer, await this.newest(reader, narrowing, limit, marked), marked);
  }

  /** Returns the newest `limit` messages marked unread or missing from read sets, ascending by id. */
  async newest(
    reader: Reader,
    narrowing: Narrowing,
    limit: number,
    marked: readonly UnreadRow[],
  ): Promise<readonly UnreadRow[]> {
    const found = await this.scan(reader, narrowing, EVER, limit, marked);
    if (found) return found.reverse();
    const spans = await this.rangesFor(reader.viewer, narrowing);
    return (await this.nearest(reader, narrowing, spans, 'end', limit, marked)).reverse();
  }

  /** Returns at most `limit` messages in page direction. */
  async page(viewer: Viewer, narrowing: Narrowing, pageBounds: PageBounds, limit: number): Promise<UnreadRow[]> {
    const isOlder = pageBounds.direction === 'older';
    const within = between(narrowing, pageBounds.first, pageBounds.last);
    const [reader, marked] = await Promise.all([
      this.readerOf(viewer),
      this.marked(viewer, within, isOlder ? 'DESC' : 'ASC', limit),
    ]);
    const found = await this.scan(reader, within, pageBounds, limit, marked);
    if (found) return found;
    const cut = await this.within(await this.rangesFor(viewer, narrowing), pageBounds);
    return this.nearest(reader, within, cut, isOlder ? 'end' : 'start', limit, marked);
  }

  /**
   * Returns the first `limit` unread messages in page direction if they are among the next messages of the server.
   * Returns null otherwise, and for viewers with few spans.
   */
  private async scan(
    reader: Reader,
    narrowing: Narrowing,
    pageBounds: PageBounds,
    limit: number,
    marked: readonly UnreadRow[],
  ): Promise<UnreadRow[] | null> {
    if (!canScan(narrowing, limit)) return null;
    const { userId, realmId } = reader.viewer;
    const newest = await this.newestIdIfManySpans.get(userId, MANY_SPANS);
    if (newest === undefined) return null;
    const { sql, parameters } = narrowing.restriction;
    const window = scannedPart(pageBounds, newest, limit);
    const received: UnreadRow[] = [];
    for (let part: PageBounds | null = window; part && received.length < limit; ) {
      // A lateral join, because the planner may read all spans for EXISTS.
      const rows: UnreadRow[] = await this.rows(
        `FROM message m CROSS JOIN LATERAL (
           SELECT 1 FROM span s WHERE s.user_id = ? AND s.recipient_id = m.sent_recipient_id AND s.realm_id = ?
           LIMIT 1) own
         WHERE m.id BETWEEN ? AND ? AND (m.property_bits & ${PROPERTY_BITS.isReadByDefault}) = 0 ${sql}
         ORDER BY m.id ${orderOf(pageBounds)} LIMIT ?`,
        [userId, realmId, part.first, part.last, ...parameters, limit],
      );
      const state = await this.states.load(reader.viewer, rows);
      const unread = rows.filter((row) => !reader.marked.has(idOf(row)) && isReceivedUnread(state, row));
      received.push(...(await this.meant(reader.viewer, unread, narrowing)));
      part = rows.length === limit ? after(part, idOf(lastOf(rows))) : null;
    }
    return scanned(pageBounds, newest, window, received, marked, limit);
  }

  async findFirst(viewer: Viewer, narrowing: Narrowing): Promise<MessageId | null> {
    const [reader, marked] = await Promise.all([this.readerOf(viewer), this.marked(viewer, narrowing, 'ASC', 1)]);
    const [first] =
      (await this.scan(reader, narrowing, { ...EVER, direction: 'newer' }, 1, marked)) ??
      (await this.nearest(reader, narrowing, await this.rangesFor(viewer, narrowing), 'start', 1, marked));
    return first ? idOf(first) : null;
  }

  /**
   * Returns the first `limit` messages marked unread or missing from read sets, from the newest or oldest end. Each
   * statement examines the next ordinals of every span that may still contain one of them.
   */
  private async nearest(
    reader: Reader,
    narrowing: Narrowing,
    spans: readonly UnreadSpan[],
    from: 'start' | 'end',
    limit: number,
    marked: readonly UnreadRow[],
  ): Promise<UnreadRow[]> {
    const nearest = new Nearest(from, limit, marked);
    const segments = await this.states.readSets.load(
      reader.viewer,
      spans.filter(({ onlyGap }) => onlyGap === null),
    );
    const size = Math.max(FIRST_OF_SPAN, Math.floor(FIRST_ORDINALS / Math.max(1, spans.length)));
    let walks = spans.map((span) => {
      const { recipientId, onlyGap, last } = span;
      const own = overlapping(segments.get(recipientId), span);
      const gaps =
        onlyGap !== null
          ? [{ first: onlyGap, last }]
          : unreadRanges(from === 'start' ? own : own.toReversed(), span, from);
      return { recipientId, parts: batches(gaps, from, size) };
    });
    while (walks.length > 0) {
      const next = walks.flatMap((walk) => {
        const { value } = walk.parts.next();
        return value
          ? [{ walk, gaps: value.map((range: OrdinalRange) => ({ recipientId: walk.recipientId, ...range })) }]
          : [];
      });
      if (next.length === 0) break;
      const rows = await this.unreadIn(
        reader,
        next.flatMap(({ gaps }) => gaps),
        narrowing,
      );
      const rowsOf = grouped(rows, (row) => row[3]);
      walks = next
        .filter(({ gaps }) => {
          const [one, other] = from === 'start' ? [gaps[0]!, gaps.at(-1)!] : [gaps.at(-1)!, gaps[0]!];
          const own = (rowsOf.get(one.recipientId) ?? []).filter((row) => row[4] >= one.first && row[4] <= other.last);
          // The rest of this span is farther away.
          return nearest.offer(inOrder(from, own));
        })
        .map(({ walk }) => walk);
    }
    return nearest.take();
  }

  /**
   * Returns for each range the part at its first or last gap without unread messages: they were deleted, moved away or
   * arrived read. One statement examines all ranges.
   */
  async findEmpty(
    reader: Reader,
    searched: readonly { readonly range: RecipientOrdinalRange; readonly from: 'start' | 'end' }[],
  ): Promise<readonly RecipientOrdinalRange[]> {
    const segments = await this.states.readSets.load(
      reader.viewer,
      searched.map(({ range }) => range),
    );
    const gaps = searched.flatMap(({ range, from }): SearchedGap[] => {
      const own = overlapping(segments.get(range.recipientId), range);
      const gap = unreadRanges(from === 'start' ? own : own.toReversed(), range, from).next().value;
      if (!gap) return [];
      const { recipientId } = range;
      return from === 'start'
        ? [{ from, recipientId, first: gap.first, last: Math.min(gap.last, gap.first + TIDIED_ORDINALS - 1) }]
        : [{ from, recipientId, first: Math.max(gap.first, gap.last - TIDIED_ORDINALS + 1), last: gap.last }];
    });
    if (gaps.length === 0) return [];
    const rows = await this.unreadIn(reader, gaps, null);
    return gaps.flatMap(({ from, recipientId, first, last }) => {
      const ordinals = rows
        .filter((row) => row[3] === recipientId && row[4] >= first && row[4] <= last)
        .map((row) => row[4]);
      if (ordinals.length === 0) return [{ recipientId, first, last }];
      const empty =
        from === 'start'
          ? { recipientId, first, last: Math.min(...ordinals) - 1 }
          : { recipientId, first: Math.max(...ordinals) + 1, last };
      return empty.first <= empty.last ? [empty] : [];
    });
  }

  /** Returns unread messages of gaps in unspecified order. */
  async unreadIn(
    reader: Reader,
    gaps: readonly RecipientOrdinalRange[],
    narrowing: Narrowing | null,
  ): Promise<readonly UnreadRow[]> {
    const { sql, parameters } = narrowing?.restriction ?? NO_RESTRICTION;
    const rows = await this.rows(
      `FROM (SELECT DISTINCT * FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) g (recipient_id, first, last)) gap
       JOIN message m ON m.sent_recipient_id = gap.recipient_id AND m.ordinal BETWEEN gap.first AND gap.last
       WHERE (m.property_bits & ${PROPERTY_BITS.isReadByDefault}) = 0 ${sql}`,
      [
        gaps.map(({ recipientId }) => recipientId),
        gaps.map(({ first }) => first),
        gaps.map(({ last }) => last),
        ...parameters,
      ],
    );
    return this.meant(reader.viewer, await this.thoseToRead(reader, rows), narrowing);
  }

  /** Filters messages in gaps that did not arrive read and have no message_flag row. */
  private async thoseToRead<Row extends MessageIndexRow>(
    { viewer, mutes, marked }: Reader,
    found: readonly Row[],
  ): Promise<readonly Row[]> {
    const rows = found.filter(
      (row) => !marked.has(idOf(row)) && (mutes.length === 0 || !isMuted(mutes, row[1], idOf(row))),
    );
    if (!rows.some(wasMoved)) return rows;
    const state = await this.states.ofOwnership(viewer, rows);
    return rows.filter((row) => state.ownership(row) === 'received');
  }

  /** Returns messages marked unread by message_flag rows, from the oldest or newest end. */
  async marked(
    viewer: Viewer,
    narrowing: Narrowing,
    order: 'ASC' | 'DESC',
    limit: number,
  ): Promise<readonly UnreadRow[]> {
    const { realmId, userId } = viewer;
    const { sql, parameters } = narrowing.restriction;
    const isJudgedLater = narrowing.personal.length > 0;
    const rows = await this.rows(
      `FROM message_flag f JOIN message m ON m.id = f.message_id
       WHERE f.user_id = ? AND f.read = 0 AND f.realm_id = ? ${sql}
       ORDER BY f.message_id ${order} LIMIT ?`,
      [userId, realmId, ...parameters, isJudgedLater ? null : limit],
    );
    return (await this.meant(viewer, rows, narrowing)).slice(0, limit);
  }

  /**
   * Returns messages that mention the whole channel but not the viewer. Only messages marked unread can qualify; all
   * others were received.
   */
  async unmentioned(viewer: Viewer, marked: readonly UnreadRow[]): Promise<ReadonlySet<MessageId>> {
    const mentioning = marked.filter((row) => (propertyBitsOf(row) & PROPERTY_BITS.mentionsChannel) !== 0);
    const state = await this.states.load(viewer, mentioning);
    return new Set(mentioning.filter((row) => !state.flags(row)?.channelWildcardMentioned).map(idOf));
  }

  /** Filters by conditions that no query can decide. */
  private async meant(
    viewer: Viewer,
    rows: readonly UnreadRow[],
    narrowing: Narrowing | null,
  ): Promise<readonly UnreadRow[]> {
    if (narrowing === null || narrowing.personal.length === 0) return rows;
    const meant = new Set((await this.subjects.matching(viewer, rows, narrowing.personal, 'own')).map(idOf));
    return rows.filter((row) => meant.has(idOf(row)));
  }

  /** Returns the spans that may contain unread messages of the conditions. */
  private async rangesFor(viewer: Viewer, narrowing: Narrowing): Promise<UnreadSpan[]> {
    const recipientId = onlyRecipient(narrowing);
    const isElsewhere = recipientId !== null && (await this.hasMovedIn.get(recipientId)) !== undefined;
    return this.unreadSpans.of(viewer, isElsewhere ? null : recipientId);
  }

  /** Limits spans to the ordinals possible for messages in an id range. */
  private async within(spans: readonly UnreadSpan[], { first, last }: PageBounds): Promise<UnreadSpan[]> {
    if (spans.length === 0) return [];
    const recipientIds = [...new Set(spans.map(({ recipientId }) => recipientId))];
    const bounds = new Map((await this.ordinalsAround.all(first, last, recipientIds)).map((each) => [each[0], each]));
    return spans.flatMap((span) => {
      const [, before, behind] = getOrThrow(bounds, span.recipientId);
      const cut = {
        ...span,
        first: Math.max(span.first, (before ?? 0) + 1),
        last: Math.min(span.last, (behind ?? Number.MAX_SAFE_INTEGER) - 1),
        onlyGap: null,
      };
      return cut.first <= cut.last ? [cut] : [];
    });
  }

  private async toUnread(
    viewer: Viewer,
    rows: readonly UnreadRow[],
    marked: readonly UnreadRow[],
  ): Promise<readonly UnreadMessage[]> {
    const [flags, unmentioned] = await Promise.all([
      this.states.flagRows(viewer, rows.map(idOf)),
      this.unmentioned(viewer, marked),
    ]);
    return toUnreadMessages(rows, flags, unmentioned);
  }

  private rows(from: string, parameters: readonly SqlParameter[]): Promise<UnreadRow[]> {
    return this.queries.memo(from).all(...parameters);
  }
}

/** Part of a gap next to one of its ends. */
interface SearchedGap extends RecipientOrdinalRange {
  readonly from: 'start' | 'end';
}

const overlapping = (segments: readonly ReadSegment[] | undefined, range: OrdinalRange): readonly ReadSegment[] =>
  (segments ?? []).filter(({ first, last }) => first <= range.last && last >= range.first);
