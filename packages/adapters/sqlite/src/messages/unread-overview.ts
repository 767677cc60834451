import { firstOf, type MessageId, type Ordinal, type RecipientId, type UserId } from '@parley/domain/kernel';
import {
  isOrdinalRead,
  type ReadSegment,
  type UnreadOverview,
  unreadRanges,
  type Viewer,
} from '@parley/domain/messages';
import {
  ascending,
  countOf,
  EVER,
  isMuted,
  isUnreadIn,
  PROPERTY_BITS,
  type Reader,
  type RecipientOrdinalRange,
  rangeFrom,
  toUnread,
  UNREAD_COLUMNS,
  UnreadCollection,
  type UnreadRange,
  type UnreadRow,
  wasMoved,
} from '@parley/storage';
import { type Connection, LIMIT, type Query } from '../engine/connection.js';
import { EVERYTHING } from './message-filter.js';
import type { UnreadSpans } from './read-sets.js';
import type { UnreadMessages } from './unread-messages.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/** Parallel columns of ids and, on request, ordinals and senders, plus messages that mention the channel. */
type Columns = readonly [
  ids: MessageId[],
  mentioning: readonly MessageId[],
  ordinals: readonly Ordinal[],
  senderIds: readonly number[],
];
type MovedRow = readonly [MessageId, sentTo: RecipientId, Ordinal];
type TopicRow = readonly [place: number, left: number, topicKey: string, columns: string];

/** Up to this count, messages are looked up one by one. */
const FEW_UNREAD = 4;
/** Maximum ratio of read to unread messages for which a range is scanned as a whole. */
const MOST_READ_PER_UNREAD = 8;
/** Maximum number of moved messages examined. */
const MAX_MOVED = 10_000;

/**
 * Unread messages by conversation, without a row or object per message, because covering indexes list topics and
 * conversations contiguously. Falls back to `UnreadMessages` if the scan would be too long.
 */
export class UnreadOverviews {
  private readonly topicQueries = new Map<string, Query<TopicRow>>();
  private readonly directQueries = new Map<string, Query<readonly [place: number, columns: string]>>();
  private readonly movedFrom: Query<MovedRow>;
  private readonly firstFrom: Query<Ordinal | null>;
  private readonly newestId: Query<number | null>;
  private readonly oldestOf: Query<number | null>;
  private readonly rowsById: Query<UnreadRow>;
  private readonly topicsOf: Query<readonly [MessageId, string]>;

  constructor(
    private readonly connection: Connection,
    private readonly states: ViewerMessageStates,
    private readonly unreadSpans: UnreadSpans,
    private readonly unread: UnreadMessages,
  ) {
    // A user who loses a message by a move no longer has it, so its current location counts.
    this.movedFrom = connection.tuples<MovedRow>(
      `SELECT m.id, m.sent_recipient_id, m.ordinal
       FROM (SELECT DISTINCT recipient_id FROM span WHERE user_id = ?) s
       CROSS JOIN message m INDEXED BY message_moved_in
         ON m.recipient_id = s.recipient_id AND m.id >= ? AND m.property_bits & ${PROPERTY_BITS.wasMoved} ${LIMIT}`,
    );
    this.firstFrom = connection.values<Ordinal | null>(
      `SELECT (SELECT m.ordinal FROM message m INDEXED BY message_by_recipient
               WHERE m.recipient_id = p.value AND m.id >= ? AND m.property_bits & ${PROPERTY_BITS.wasMoved} = 0
               ORDER BY m.id LIMIT 1)
       FROM json_each(?) p ORDER BY p.key`,
    );
    this.newestId = connection.values<number | null>('SELECT max(id) FROM message');
    this.oldestOf = connection.values<number | null>(
      `SELECT min((SELECT f.id FROM message f INDEXED BY message_by_ordinal
                   WHERE f.sent_recipient_id = p.value ->> 0 AND f.ordinal >= p.value ->> 1
                   ORDER BY f.ordinal LIMIT 1))
       FROM json_each(?) p`,
    );
    this.rowsById = connection.tuples<UnreadRow>(
      `SELECT ${UNREAD_COLUMNS} FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value`,
    );
    this.topicsOf = connection.tuples<readonly [MessageId, string]>(
      'SELECT m.id, m.topic FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value',
    );
  }

  async of(viewer: Viewer, limit: number): Promise<UnreadOverview> {
    const reader = await this.unread.readerOf(viewer);
    const marked = await this.unread.marked(viewer, EVERYTHING, 'DESC', limit + 1);
    const recent = await this.unread.scan(reader, EVERYTHING, EVER, limit + 1, marked);
    if (recent) {
      const found = new UnreadCollection();
      found.addRows(recent);
      found.keepNewest(limit);
      return this.present(viewer, found, await this.unread.unmentioned(viewer, marked), found.isCut);
    }
    const everywhere = this.unreadRanges(viewer);
    for (let wanted = limit; ; wanted *= 2) {
      const { from, ordinalRanges } = this.newest(everywhere, wanted);
      const found = new UnreadCollection();
      const moved = await this.movedUnread(reader, everywhere, from);
      if (moved === null) found.addRows(await this.unread.newest(reader, EVERYTHING, limit + 1, marked));
      else await this.collect(reader, ordinalRanges, from, [...marked, ...moved], found);
      // Some counted ordinals belong to deleted messages.
      if (from > 0 && found.count < limit) continue;
      const oldest = found.keepNewest(limit);
      const first = from > 0 && !found.isCut ? await this.unread.findFirst(viewer, EVERYTHING) : null;
      const isCut = found.isCut || (first !== null && first < oldest);
      return this.present(viewer, found, await this.unread.unmentioned(viewer, marked), isCut);
    }
  }

  private unreadRanges(viewer: Viewer): UnreadRange[] {
    const spans = this.unreadSpans.of(viewer).sort((a, b) => a.recipientId - b.recipientId || a.first - b.first);
    const partly = spans.filter(({ onlyGap }) => onlyGap === null);
    const segments = partly.length > 0 ? this.states.readSets.load(viewer, partly) : NOTHING_READ;
    return spans.flatMap((span) => toUnread(span, segments.get(span.recipientId) ?? []) ?? []);
  }

  /** Returns the end of the ranges with about `limit` unread messages, and its first id; 0 if that includes all. */
  private newest(
    ordinalRanges: readonly UnreadRange[],
    wanted: number,
  ): { readonly from: number; readonly ordinalRanges: readonly UnreadRange[] } {
    if (countOf(ordinalRanges) <= wanted) return { from: 0, ordinalRanges };
    let end = { from: 0, ordinalRanges };
    let high = this.newestId.get() ?? 0;
    while (high - end.from > 1) {
      const from = Math.floor((end.from + high) / 2);
      // Ranges that end before `end.from` have no newer messages.
      const firsts = this.firstFrom.all(from, JSON.stringify(end.ordinalRanges.map(({ recipientId }) => recipientId)));
      const newer = end.ordinalRanges.flatMap(
        (ordinalRange, index) => rangeFrom(ordinalRange, firsts[index] ?? null) ?? [],
      );
      const count = countOf(newer);
      if (count < wanted) high = from;
      else end = { from, ordinalRanges: newer };
      if (count >= wanted && count <= 1.25 * wanted) break;
    }
    return end;
  }

  private async collect(
    reader: Reader,
    ordinalRanges: readonly UnreadRange[],
    from: number,
    known: readonly UnreadRow[],
    found: UnreadCollection,
  ): Promise<void> {
    const oneByOne: UnreadRange[] = [];
    const isLong = (ordinalRange: UnreadRange) =>
      ordinalRange.last - ordinalRange.first >= MOST_READ_PER_UNREAD * ordinalRange.count;
    const along: UnreadRange[] = [];
    for (const ordinalRange of ordinalRanges)
      (ordinalRange.count <= FEW_UNREAD || isLong(ordinalRange) ? oneByOne : along).push(ordinalRange);
    const channels = along.filter(({ channelId }) => channelId !== null);
    const direct = along.filter(({ channelId }) => channelId === null);
    for (const isAlike of [isWholly, isPartly]) {
      oneByOne.push(...this.addTopics(reader, channels.filter(isAlike), from, found));
      this.addDirect(reader, direct.filter(isAlike), from, found);
    }
    // Messages that changed channel or conversation are included in the known ones.
    const rows = await this.unread.unreadIn(reader, this.gapsOf(oneByOne), null);
    found.addRows([...rows.filter((row) => !wasMoved(row)), ...known].filter(([id]) => id >= from));
  }

  /** Adds channels topic by topic. Returns channels with too many topics for this. */
  private addTopics(
    reader: Reader,
    ordinalRanges: readonly UnreadRange[],
    from: number,
    found: UnreadCollection,
  ): readonly UnreadRange[] {
    if (ordinalRanges.length === 0) return [];
    const rows = this.topicQuery(needsOf(ordinalRanges, reader)).all(from, parameterOf(ordinalRanges));
    const tooMany = new Set(rows.filter(([, left]) => left === 0).map(([place]) => place));
    for (const [index, , key, columns] of rows) {
      if (!tooMany.has(index)) this.addGroup(reader, ordinalRanges[index]!, key, JSON.parse(columns) as Columns, found);
    }
    return ordinalRanges.filter((_, index) => tooMany.has(index));
  }

  private addDirect(
    reader: Reader,
    ordinalRanges: readonly UnreadRange[],
    from: number,
    found: UnreadCollection,
  ): void {
    if (ordinalRanges.length === 0) return;
    for (const [index, columns] of this.directQuery(needsOf(ordinalRanges, reader)).all(
      from,
      parameterOf(ordinalRanges),
    )) {
      this.addGroup(reader, ordinalRanges[index]!, '', JSON.parse(columns) as Columns, found);
    }
  }

  private addGroup(
    { marked, mutes }: Reader,
    ordinalRange: UnreadRange,
    key: string,
    [ids, mentioning, ordinals, senderIds]: Columns,
    found: UnreadCollection,
  ): void {
    const { segments } = ordinalRange;
    // Usually nothing must be excluded.
    const unread =
      segments === null && marked.size === 0 && mutes.length === 0
        ? ids
        : ids.filter(
            (id, i) =>
              !(segments !== null && isOrdinalRead(segments, ordinals[i]!)) &&
              !marked.has(id) &&
              !(mutes.length > 0 && isMuted(mutes, senderIds[i] as UserId, id)),
          );
    found.add(ordinalRange, key, unread);
    for (const id of mentioning) found.mentioning.add(id);
  }

  private gapsOf(ordinalRanges: readonly UnreadRange[]): RecipientOrdinalRange[] {
    return ordinalRanges.flatMap((ordinalRange) =>
      ordinalRange.segments === null
        ? [ordinalRange]
        : [...unreadRanges(ordinalRange.segments, ordinalRange, 'start')].map((gap) => ({ ...ordinalRange, ...gap })),
    );
  }

  /** Returns received, unread messages that changed channel or conversation; null above the limit. */
  private async movedUnread(
    { viewer, marked }: Reader,
    ordinalRanges: readonly UnreadRange[],
    from: number,
  ): Promise<readonly UnreadRow[] | null> {
    if (ordinalRanges.length === 0) return [];
    const oldest = from > 0 ? from : this.oldestOf.get(parameterOf(ordinalRanges));
    const moved = this.movedFrom.all(viewer.userId, oldest ?? 0, MAX_MOVED + 1);
    if (moved.length > MAX_MOVED) return null;
    const rangesOf = new Map<RecipientId, UnreadRange[]>();
    for (const ordinalRange of moved.length === 0 ? [] : ordinalRanges) {
      const existing = rangesOf.get(ordinalRange.recipientId);
      if (existing) existing.push(ordinalRange);
      else rangesOf.set(ordinalRange.recipientId, [ordinalRange]);
    }
    const unread = moved.filter(
      ([id, recipientId, ordinal]) =>
        !marked.has(id) && rangesOf.get(recipientId)?.some((ordinalRange) => isUnreadIn(ordinalRange, ordinal)),
    );
    if (unread.length === 0) return [];
    const rows = this.rowsById.all(JSON.stringify(unread.map(([id]) => id)));
    const state = await this.states.load(viewer, rows);
    return rows.filter((row) => state.source(row) === 'received' && !state.isRead(row, 'received'));
  }

  private async present(
    viewer: Viewer,
    found: UnreadCollection,
    unmentioned: ReadonlySet<MessageId>,
    oldOnesAreMissing: boolean,
  ): Promise<UnreadOverview> {
    const groups = found.groups();
    const flags = await this.states.flagRows(viewer, found.ids());
    const inChannels = groups.filter(({ channelId }) => channelId !== null);
    const topics = new Map(this.topicsOf.all(JSON.stringify(inChannels.map(({ ids }) => firstOf(ids)))));
    const mentioned: MessageId[] = [];
    const wildcardMentioned = new Set<MessageId>();
    for (const [id, row] of flags) {
      if (!found.has(id)) continue;
      if (row.mentioned === 1) mentioned.push(id);
      if (row.topicWildcardMentioned === 1) wildcardMentioned.add(id);
    }
    for (const id of found.mentioning) if (!unmentioned.has(id) && found.has(id)) wildcardMentioned.add(id);
    return {
      conversations: groups.map(({ recipientId, channelId, ids }) => ({
        recipientId,
        channelId,
        topic: topics.get(firstOf(ids)) ?? '',
        ids,
      })),
      mentionedIds: mentioned.sort(ascending),
      wildcardMentionedIds: [...wildcardMentioned].sort(ascending),
      oldOnesAreMissing,
    };
  }

  /** Lists the topics of each recipient in order until all its unread messages are covered, which sets `left` to 0. */
  private topicQuery(needs: Needs): Query<TopicRow> {
    const next = (recipient: string, after: string) =>
      `(SELECT t.topic_key FROM message t INDEXED BY message_by_topic
        WHERE t.recipient_id = ${recipient} AND t.topic_key ${after} ORDER BY t.topic_key LIMIT 1)`;
    return remembered(this.topicQueries, needs, () =>
      this.connection.tuples(
        `${WITH_RANGES}, topic (number, recipient_id, first_id, last_id, left, key) AS (
           SELECT number, recipient_id, first_id, last_id, count, ${next('place.recipient_id', 'IS NOT NULL')} FROM place
           UNION ALL
           SELECT number, recipient_id, first_id, last_id, left - 1, ${next('topic.recipient_id', '> topic.key')}
           FROM topic WHERE key IS NOT NULL AND left > 0
         )
         SELECT number, left, key, (
           SELECT ${columnsOf(needs)} FROM message m INDEXED BY message_by_topic
           WHERE m.recipient_id = topic.recipient_id AND m.topic_key = topic.key AND ${isWanted('topic')})
         FROM topic WHERE key IS NOT NULL`,
      ),
    );
  }

  private directQuery(needs: Needs): Query<readonly [number, string]> {
    return remembered(this.directQueries, needs, () =>
      this.connection.tuples(
        `${WITH_RANGES}
         SELECT place.number, (
           SELECT ${columnsOf(needs)} FROM message m INDEXED BY message_by_recipient
           WHERE m.recipient_id = place.recipient_id AND ${isWanted('place')})
         FROM place`,
      ),
    );
  }
}

/** Columns besides ids needed to decide the read state. */
interface Needs {
  readonly ordinals: boolean;
  readonly senders: boolean;
}

/** Parameters: the minimum message id and the ranges. Each bound is looked up once. */
const WITH_RANGES = `WITH RECURSIVE place (number, recipient_id, count, first_id, last_id) AS MATERIALIZED (
  SELECT p.key, p.value ->> 0, p.value ->> 3, max(?,
    (SELECT f.id FROM message f INDEXED BY message_by_ordinal
     WHERE f.sent_recipient_id = p.value ->> 0 AND f.ordinal >= p.value ->> 1 ORDER BY f.ordinal LIMIT 1)),
    (SELECT l.id FROM message l INDEXED BY message_by_ordinal
     WHERE l.sent_recipient_id = p.value ->> 0 AND l.ordinal <= p.value ->> 2 ORDER BY l.ordinal DESC LIMIT 1)
  FROM json_each(?) p)`;

/** SQL condition that `message m` is within the bounds, arrived unread and never changed channel or conversation. */
const isWanted = (bounds: 'place' | 'topic'): string =>
  `m.id BETWEEN ${bounds}.first_id AND ${bounds}.last_id
   AND m.property_bits & ${PROPERTY_BITS.wasMoved | PROPERTY_BITS.isReadByDefault} = 0`;

/** Index order is id order, because all preceding columns are fixed. */
const columnsOf = ({ ordinals, senders }: Needs): string =>
  `json_array(json_group_array(m.id), json_group_array(m.id) FILTER (WHERE m.property_bits & ${PROPERTY_BITS.mentionsChannel}),
     ${ordinals ? 'json_group_array(m.ordinal)' : "json('[]')"}, ${senders ? 'json_group_array(m.sender_id)' : "json('[]')"})`;

const parameterOf = (ordinalRanges: readonly UnreadRange[]): string =>
  JSON.stringify(ordinalRanges.map(({ recipientId, first, last, count }) => [recipientId, first, last, count]));

const NOTHING_READ: ReadonlyMap<RecipientId, readonly ReadSegment[]> = new Map();

/** Returns the needs of ranges of the same kind. */
const needsOf = (ordinalRanges: readonly UnreadRange[], { mutes }: Reader): Needs => ({
  ordinals: isPartly(firstOf(ordinalRanges)),
  senders: mutes.length > 0,
});
const isWholly = ({ segments }: UnreadRange): boolean => segments === null;
const isPartly = ({ segments }: UnreadRange): boolean => segments !== null;

function remembered<Row>(queries: Map<string, Query<Row>>, needs: Needs, make: () => Query<Row>): Query<Row> {
  const key = `${needs.ordinals}/${needs.senders}`;
  const existing = queries.get(key) ?? make();
  queries.set(key, existing);
  return existing;
}
