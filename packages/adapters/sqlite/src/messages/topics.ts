import { lastOf, type MessageId, type Ordinal, type RealmId, type RecipientId } from '@parley/domain/kernel';
import { countRead, findFirstUnread, isOrdinalRead, type ReadSegment, type Viewer } from '@parley/domain/messages';
import {
  idOf,
  isMuted,
  jsonList,
  type LastInTopic,
  type MessageIndexRow,
  type NewestInTopic,
  PROPERTY_BITS,
  type Reader,
  type RecipientOrdinalRange,
  type Series,
  SqlTopicReads,
  seriesTerms,
} from '@parley/storage';
import { asStatements, type Connection, LIMIT, type Query } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { narrowingTo } from './message-filter.js';
import { type Arrived, ArrivedMessages, MessageSeries } from './message-series.js';
import type { ReadSets, UnreadSpans } from './read-sets.js';
import { ReceivedMessagePages } from './received-message-pages.js';
import { MessageIndexQuery, MessageIndexRowsById, ViewerMessageStates } from './viewer-message-state.js';

export class SqliteTopicReads extends SqlTopicReads {
  private readonly states: ViewerMessageStates;
  private readonly receivedPages: ReceivedMessagePages;
  private readonly indexRowsById: MessageIndexRowsById;

  private readonly topics;
  private readonly counts;

  constructor(connection: Connection) {
    super(asStatements(connection));
    this.states = new ViewerMessageStates(connection);
    this.receivedPages = new ReceivedMessagePages(connection, this.states, new MessageSeries(connection));
    this.indexRowsById = new MessageIndexRowsById(connection);
    // Skips from topic to topic and reads only the last message of each.
    this.topics = connection.tuples<LastInTopic>(
      `WITH RECURSIVE topic (key) AS (
         SELECT min(topic_key) FROM message WHERE recipient_id = ? AND topic_key IS NOT NULL
         UNION ALL
         SELECT (SELECT min(n.topic_key) FROM message n WHERE n.recipient_id = ? AND n.topic_key > topic.key)
         FROM topic WHERE topic.key IS NOT NULL
       )
       SELECT m.topic_key, m.id, m.topic FROM topic CROSS JOIN message m ON m.id = (
         SELECT max(n.id) FROM message n WHERE n.recipient_id = ? AND n.topic_key = topic.key)
       WHERE m.realm_id = ?
       ORDER BY m.id DESC`,
    );
    // Two texts cost less than two values per row. Recipients without messages are included, because a condition would
    // look them up again.
    this.counts = connection.tuples<readonly [ids: string, counts: string]>(
      `SELECT json_group_array(id), json_group_array(last_ordinal - first + 1) FROM (
         SELECT r.id, r.last_ordinal, (
           SELECT m.ordinal FROM message m INDEXED BY message_by_recipient
           WHERE m.recipient_id = r.id AND m.sent_recipient_id = r.id AND m.id >= ? ORDER BY m.id LIMIT 1) AS first
         FROM recipient r WHERE r.id IN (SELECT value FROM json_each(?)) AND +r.realm_id = ?
       )`,
    );
  }

  protected lastInTopics(realmId: RealmId, recipientId: RecipientId): readonly LastInTopic[] {
    return this.topics.all(recipientId, recipientId, recipientId, realmId);
  }

  protected countFrom(
    realmId: RealmId,
    recipientIds: readonly RecipientId[],
    first: number,
  ): readonly (readonly [RecipientId, number])[] {
    const [ids, counts] = this.counts.one(first, jsonList(recipientIds), realmId);
    const sent: readonly (number | null)[] = JSON.parse(counts);
    return (JSON.parse(ids) as readonly RecipientId[]).map((id, n) => [id, sent[n] ?? 0]);
  }

  protected async newestOwn(
    viewer: Viewer,
    recipientId: RecipientId,
    newest: readonly NewestInTopic[],
  ): Promise<ReadonlyMap<string, MessageId>> {
    const indexRows = this.indexRowsById.list(
      viewer.realmId,
      newest.map(([, id]) => id),
    );
    const state = await this.states.load(viewer, indexRows);
    const own = new Set(indexRows.filter((row) => state.isOwn(row)).map(idOf));
    const found = new Map<string, MessageId>();
    for (const [key, id] of newest) {
      const [newestOwn] = own.has(id) ? [id] : await this.ownInTopic(viewer, recipientId, key, id - 1);
      if (newestOwn !== undefined) found.set(key, newestOwn);
    }
    return found;
  }

  /** Returns at most one id: the newest up to `last`. */
  private async ownInTopic(viewer: Viewer, recipientId: RecipientId, key: string, last: number): Promise<MessageId[]> {
    const narrowing = narrowingTo(recipientId, key);
    const bounds = { direction: 'older', first: 0, last } as const;
    return (await this.receivedPages.page(viewer, narrowing, bounds, 1)).map(idOf);
  }
}

export interface UnreadInTopic {
  readonly recipientId: RecipientId;
  /** Ascending ranges that may contain unread messages. */
  readonly ordinalRanges: readonly RecipientOrdinalRange[];
  /** Read set segments needed to mark these ranges. */
  readonly segments: readonly ReadSegment[];
  /** Messages that are unread because they are in a gap without other state; ascending. */
  readonly received: { readonly ids: readonly MessageId[]; readonly ordinals: readonly Ordinal[] };
  /** Other messages, ascending; a `Standing` determines their read state. */
  readonly uncertain: readonly MessageIndexRow[];
}

/** Maximum ratio of a topic's search range to the channel's unread count before counting first. */
const MOST_READ_PER_UNREAD = 32;
/** Maximum number of moved-in messages tested one by one. */
const MAX_MOVED_IN = 256;

/** Unread messages of one conversation or topic, for marking them. */
export class TopicUnread {
  private readonly arrived: ArrivedMessages;
  private readonly rangeQueries = new Map<string, MessageIndexQuery>();
  private readonly movedIn: Query<MessageId>;

  constructor(
    private readonly connection: Connection,
    private readonly readSets: ReadSets,
    private readonly unreadSpans: UnreadSpans,
  ) {
    this.arrived = new ArrivedMessages(connection);
    this.movedIn = connection.values<MessageId>(
      `SELECT id FROM message INDEXED BY message_moved_in
       WHERE recipient_id = ? AND property_bits & ${PROPERTY_BITS.wasMoved} ${LIMIT}`,
    );
  }

  /**
   * Returns the unread messages of a conversation or topic by current location. A topic is contiguous in an index,
   * while unread messages of its channel are scattered. Returns null if the gaps are shorter or the limits are
   * exceeded; use `UnreadMessages.list` then. Stops after a part of the series with at least `enough` messages.
   */
  find(reader: Reader, series: Series, enough = Number.MAX_SAFE_INTEGER): UnreadInTopic | null {
    const { viewer, marked } = reader;
    const { recipientId } = series;
    const movedIn = this.movedIn.all(recipientId, MAX_MOVED_IN);
    if (movedIn.length === MAX_MOVED_IN) return null;

    const spans = this.unreadSpans.of(viewer, recipientId).sort((a, b) => a.first - b.first);
    const [oldest] = spans;
    const segments = oldest
      ? this.readSets.around(viewer, recipientId, { first: oldest.first, last: lastOf(spans).last })
      : [];
    let unread = 0;
    let first: Ordinal | null = null;
    for (const span of spans) {
      unread += span.last - span.first + 1 - countRead(segments, span);
      first ??= findFirstUnread(segments, span);
    }
    let received: UnreadInTopic['received'] = { ids: [], ordinals: [] };
    const last = spans.length > 0 ? lastOf(spans).last : 0;
    for (let from = first; from !== null && from <= last && received.ids.length < enough; ) {
      // Counting costs as much as walking, so it is done only if the walk may be long and fruitless.
      const isSparse = last - from >= MOST_READ_PER_UNREAD * unread;
      const range = { first: from, last: isSparse ? last : (Math.min(last, from + enough - 1) as Ordinal) };
      const hasSenders = reader.mutes.length > 0;
      const sent = this.arrived.list(series, range, isSparse ? { hasSenders, limit: unread + 1 } : { hasSenders });
      if (isSparse && sent.ids.length > unread) return null;
      const found = unreadAmong(reader, sent, spans, segments);
      received = received.ids.length === 0 ? found : joined(received, found);
      from = (range.last + 1) as Ordinal;
    }
    return {
      recipientId,
      ordinalRanges: spans,
      segments,
      received,
      uncertain: this.uncertain(series, [...movedIn, ...marked]),
    };
  }

  /** Returns the messages in the series, ascending. */
  private uncertain(series: Series, ids: readonly MessageId[]): readonly MessageIndexRow[] {
    if (ids.length === 0) return [];
    const { sql, parameters } = seriesTerms(series);
    const from = `FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value WHERE true ${sql}`;
    let query = this.rangeQueries.get(from);
    if (!query) {
      query = new MessageIndexQuery(this.connection, from);
      this.rangeQueries.set(from, query);
    }
    return query.all(jsonList(new Set(ids)), ...parameters).sort((a, b) => idOf(a) - idOf(b));
  }
}

/** Keeps the messages in gaps of the read sets without other state. Changes the lists of `sent`. */
function unreadAmong(
  { marked, mutes }: Reader,
  { ids, ordinals, senderIds }: Arrived,
  spans: readonly RecipientOrdinalRange[],
  segments: readonly ReadSegment[],
): UnreadInTopic['received'] {
  // Lists are reused, since usually nothing is removed.
  let left = 0;
  let next = 0;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!;
    const ordinal = ordinals[i]!;
    // Ordinals ascend.
    while (next < spans.length && spans[next]!.last < ordinal) next++;
    if (next === spans.length) break;
    if (ordinal < spans[next]!.first || isOrdinalRead(segments, ordinal) || marked.has(id)) continue;
    if (mutes.length > 0 && isMuted(mutes, senderIds[i]!, id)) continue;
    ids[left] = id;
    ordinals[left++] = ordinal;
  }
  ids.length = left;
  ordinals.length = left;
  return { ids, ordinals };
}

const joined = (one: UnreadInTopic['received'], other: UnreadInTopic['received']): UnreadInTopic['received'] => ({
  ids: [...one.ids, ...other.ids],
  ordinals: [...one.ordinals, ...other.ordinals],
});

declare module '../engine/feature.js' {
  interface SharedObjects {
    readonly topics: SqliteTopicReads;
  }
}

export const TOPIC_FEATURE = {
  shared: () => (connection) => ({ topics: new SqliteTopicReads(connection) }),
  repositories:
    () =>
    (_, { topics }) => ({ topics }),
} satisfies SqliteFeature;
