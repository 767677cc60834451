import type { MessageId, Ordinal, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import {
  countRead,
  findFirstUnread,
  isOrdinalRead,
  type ReadSegment,
  type TopicReads,
  type TopicSummary,
  type Viewer,
} from '@parley/domain/messages';
import {
  idOf,
  isMuted,
  jsonList,
  type MessageIndexRow,
  PROPERTY_BITS,
  type Reader,
  type RecipientOrdinalRange,
  SentSince,
  type Series,
  seriesTerms,
} from '@parley/storage';
import { asStatements, type Connection, LIMIT, type Query } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { narrowingTo } from './message-filter.js';
import { type Arrived, ArrivedMessages, MessageSeries } from './message-series.js';
import type { ReadSets, UnreadSpans } from './read-sets.js';
import { ReceivedMessagePages } from './received-message-pages.js';
import { MessageIndexQuery, MessageIndexRowsById, ViewerMessageStates } from './viewer-message-state.js';

export class SqliteTopicReads implements TopicReads {
  private readonly states: ViewerMessageStates;
  private readonly receivedPages: ReceivedMessagePages;
  private readonly indexRowsById: MessageIndexRowsById;
  private readonly sentSince: SentSince;

  private readonly anyMessage;
  private readonly anyInTopic;
  private readonly anyNamedTopic;
  private readonly newestInTopics;
  private readonly topicSenders;
  private readonly topics;
  private readonly topicNames;
  private readonly counts;

  constructor(connection: Connection) {
    this.states = new ViewerMessageStates(connection);
    this.receivedPages = new ReceivedMessagePages(connection, this.states, new MessageSeries(connection));
    this.indexRowsById = new MessageIndexRowsById(connection);
    this.sentSince = new SentSince(asStatements(connection));

    const inRealm = 'AND EXISTS (SELECT 1 FROM recipient r WHERE r.id = m.recipient_id AND r.realm_id = ?)';
    this.anyMessage = connection.values<1>(`SELECT 1 FROM message m WHERE m.recipient_id = ? ${inRealm} LIMIT 1`);
    this.anyInTopic = connection.values<1>(
      `SELECT 1 FROM message m INDEXED BY message_by_topic
       WHERE m.recipient_id = ? AND m.topic_key = ? ${inRealm} LIMIT 1`,
    );
    this.anyNamedTopic = connection.values<1>(
      `SELECT 1 FROM message m INDEXED BY message_by_topic
       WHERE m.recipient_id = ? AND m.topic_key > '' ${inRealm} LIMIT 1`,
    );
    this.newestInTopics = connection.tuples<readonly [key: string, id: MessageId]>(
      `SELECT key, id FROM (
         SELECT topic.value AS key, (
           SELECT max(m.id) FROM message m INDEXED BY message_by_topic
           WHERE m.recipient_id = r.id AND m.topic_key = topic.value) AS id
         FROM recipient r CROSS JOIN json_each(?) topic WHERE r.id = ? AND r.realm_id = ?)
       WHERE id IS NOT NULL`,
    );
    this.topicSenders = connection.values<UserId>(
      `SELECT DISTINCT m.sender_id FROM message m INDEXED BY message_by_topic
       WHERE m.recipient_id = ? AND m.topic_key = ? ${inRealm} ORDER BY m.sender_id`,
    );
    // Skips from topic to topic and reads only the last message of each.
    this.topics = connection.tuples<readonly [key: string, id: MessageId, topic: string]>(
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
    this.topicNames = connection.tuples<readonly [MessageId, string]>(
      'SELECT id, topic FROM message WHERE id IN (SELECT value FROM json_each(?))',
    );
  }

  async hasMessages(realmId: RealmId, recipientId: RecipientId, key?: string): Promise<boolean> {
    const found =
      key === undefined ? this.anyMessage.get(recipientId, realmId) : this.anyInTopic.get(recipientId, key, realmId);
    return found !== undefined;
  }

  async hasNamedTopics(realmId: RealmId, recipientId: RecipientId): Promise<boolean> {
    return this.anyNamedTopic.get(recipientId, realmId) !== undefined;
  }

  async listNewestInTopics(
    realmId: RealmId,
    recipientId: RecipientId,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>> {
    return new Map(this.newestInTopics.all(jsonList(keys), recipientId, realmId));
  }

  async listNewestOwnInTopics(
    viewer: Viewer,
    recipientId: RecipientId,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>> {
    return this.newestOwn(viewer, recipientId, this.newestInTopics.all(jsonList(keys), recipientId, viewer.realmId));
  }

  async listTopicSenders(realmId: RealmId, recipientId: RecipientId, key: string): Promise<readonly UserId[]> {
    return this.topicSenders.all(recipientId, key, realmId);
  }

  async listTopics(realmId: RealmId, recipientId: RecipientId): Promise<readonly TopicSummary[]> {
    const rows = this.topics.all(recipientId, recipientId, recipientId, realmId);
    return rows.map(([, maxMessageId, name]) => ({ name, maxMessageId }));
  }

  async listOwnTopics(viewer: Viewer, recipientId: RecipientId): Promise<readonly TopicSummary[]> {
    const topics = this.topics.all(recipientId, recipientId, recipientId, viewer.realmId);
    const newestOwn = this.newestOwn(
      viewer,
      recipientId,
      topics.map(([key, id]) => [key, id]),
    );
    const summaries: TopicSummary[] = [];
    const older: MessageId[] = [];
    for (const [key, id, name] of topics) {
      const maxMessageId = newestOwn.get(key);
      if (maxMessageId === id) summaries.push({ name, maxMessageId });
      else if (maxMessageId !== undefined) older.push(maxMessageId);
    }
    for (const [maxMessageId, name] of this.topicNames.all(jsonList(older))) summaries.push({ name, maxMessageId });
    return summaries.sort((a, b) => b.maxMessageId - a.maxMessageId);
  }

  async countSince(
    realmId: RealmId,
    recipientIds: readonly RecipientId[],
    since: number,
  ): Promise<ReadonlyMap<RecipientId, number>> {
    const first = await this.sentSince.firstId(realmId, since);
    const [ids, counts] = this.counts.get(first, jsonList(recipientIds), realmId)!;
    const sent: readonly (number | null)[] = JSON.parse(counts);
    const found = new Map<RecipientId, number>();
    (JSON.parse(ids) as readonly RecipientId[]).forEach((id, n) => {
      const count = sent[n];
      if (typeof count === 'number') found.set(id, count);
    });
    return found;
  }

  /**
   * Returns the viewer's newest message per topic key. `newest` holds the last message of each topic, which usually
   * belongs to the viewer already.
   */
  private newestOwn(
    viewer: Viewer,
    recipientId: RecipientId,
    newest: readonly (readonly [key: string, id: MessageId])[],
  ): ReadonlyMap<string, MessageId> {
    const indexRows = this.indexRowsById.list(
      viewer.realmId,
      newest.map(([, id]) => id),
    );
    const state = this.states.load(viewer, indexRows);
    const own = new Set(indexRows.filter((row) => state.isOwn(row)).map(idOf));
    const found = new Map<string, MessageId>();
    for (const [key, id] of newest) {
      const [newestOwn] = own.has(id) ? [id] : this.ownInTopic(viewer, recipientId, key, id - 1);
      if (newestOwn !== undefined) found.set(key, newestOwn);
    }
    return found;
  }

  /** Returns at most one id: the newest up to `last`. */
  private ownInTopic(viewer: Viewer, recipientId: RecipientId, key: string, last: number): MessageId[] {
    const narrowing = narrowingTo(recipientId, key);
    return this.receivedPages.page(viewer, narrowing, { direction: 'older', first: 0, last }, 1).map(idOf);
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
   * exceeded; use `UnreadMessages.list` then.
   */
  find(reader: Reader, series: Series): UnreadInTopic | null {
    const { viewer, marked, mutes } = reader;
    const { recipientId } = series;
    const movedIn = this.movedIn.all(recipientId, MAX_MOVED_IN);
    if (movedIn.length === MAX_MOVED_IN) return null;

    const spans = this.unreadSpans.of(viewer, recipientId).sort((a, b) => a.first - b.first);
    const [oldest] = spans;
    const segments = oldest
      ? this.readSets.around(viewer, recipientId, { first: oldest.first, last: spans.at(-1)!.last })
      : [];
    let unread = 0;
    let first: Ordinal | null = null;
    for (const span of spans) {
      unread += span.last - span.first + 1 - countRead(segments, span);
      first ??= findFirstUnread(segments, span);
    }
    let sent: Arrived = { ids: [], ordinals: [], senderIds: [] };
    if (first !== null) {
      // Counting costs as much as walking, so it is done only if the walk may be long and fruitless.
      const range = { first, last: spans.at(-1)!.last };
      const isSparse = range.last - first >= MOST_READ_PER_UNREAD * unread;
      const hasSenders = mutes.length > 0;
      sent = this.arrived.list(series, range, isSparse ? { hasSenders, limit: unread + 1 } : { hasSenders });
      if (isSparse && sent.ids.length > unread) return null;
    }

    // Usually nothing is removed, so the lists are reused.
    const { ids, ordinals } = sent;
    let left = 0;
    let next = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      const ordinal = ordinals[i]!;
      // Later messages have higher ordinals.
      while (next < spans.length && spans[next]!.last < ordinal) next++;
      if (next === spans.length) break;
      if (ordinal < spans[next]!.first || isOrdinalRead(segments, ordinal) || marked.has(id)) continue;
      if (mutes.length > 0 && isMuted(mutes, sent.senderIds[i]!, id)) continue;
      ids[left] = id;
      ordinals[left++] = ordinal;
    }
    ids.length = left;
    ordinals.length = left;
    return {
      recipientId,
      ordinalRanges: spans,
      segments,
      received: { ids, ordinals },
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
