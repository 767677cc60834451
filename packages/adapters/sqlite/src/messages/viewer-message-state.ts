import { firstOf, lastOf, type MessageId, type RealmId, type RecipientId, type UserId } from '@parley/domain/kernel';
import type { ReadSegment, Viewer } from '@parley/domain/messages';
import {
  FLAG_COLUMNS,
  type FlagRow,
  type FlagTuple,
  idOf,
  MESSAGE_INDEX_COLUMNS,
  type MessageIndexRow,
  ordinalRangesOf,
  PROPERTY_BITS,
  type RecipientOrdinalRange,
  recipientsOf,
  SqlViewerMessageStates,
  toFlagRow,
  ViewerMessageState,
} from '@parley/storage';
import { asStatements, type Connection, LIMIT, type Parameter, type Query } from '../engine/connection.js';
import { ReadSets } from './read-sets.js';

/**
 * Query for index rows, which SQLite returns as one JSON text. Reading single rows through the driver costs more than
 * finding them.
 */
export class MessageIndexQuery {
  private readonly query: Query<string>;

  /** @param from part of a query over `message m` after its columns */
  constructor(connection: Connection, from: string) {
    this.query = connection.values<string>(
      `SELECT json_group_array(json_array(id, sender_id, recipient_id, sent_recipient_id, ordinal, property_bits, version))
       FROM (SELECT ${MESSAGE_INDEX_COLUMNS} ${from})`,
    );
  }

  all(...parameters: Parameter[]): MessageIndexRow[] {
    return JSON.parse(this.query.one(...parameters)) as MessageIndexRow[];
  }
}

/** Minimum number of ids for trying neighbours in an index. */
const MANY = 64;

/** Index rows of messages by id. */
export class MessageIndexRowsById {
  private readonly byId: MessageIndexQuery;
  private readonly topicOf: Query<readonly [RecipientId, string | null]>;
  private readonly inTopic: Query<readonly string[]>;

  constructor(connection: Connection) {
    this.byId = new MessageIndexQuery(
      connection,
      'FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value WHERE m.realm_id = ?',
    );
    this.topicOf = connection.tuples('SELECT recipient_id, topic_key FROM message WHERE id = ? AND realm_id = ?');
    this.inTopic = connection.tuples(
      `SELECT json_group_array(id), json_group_array(sender_id), json_group_array(ordinal), json_group_array(property_bits),
              json_group_array(version)
       FROM (SELECT id, sender_id, ordinal, property_bits, version FROM message INDEXED BY message_by_topic
             WHERE recipient_id = ? AND topic_key = ? AND id BETWEEN ? AND ? AND property_bits & ${PROPERTY_BITS.wasMoved} = 0
             ORDER BY id ${LIMIT})`,
    );
  }

  /** Ascending; unknown ids and ids of other realms are absent. */
  list(realmId: RealmId, ids: readonly MessageId[]): MessageIndexRow[] {
    if (ids.length === 0) return [];
    const wanted = isAscending(ids) ? ids : [...new Set(ids)].sort((a, b) => a - b);
    const near = wanted.length < MANY ? [] : this.neighbours(realmId, wanted);
    if (near.length === wanted.length) return near;
    const found = new Set(near.map(idOf));
    const rest = wanted.filter((id) => !found.has(id));
    return [...near, ...this.byId.all(JSON.stringify(rest), realmId)].sort((a, b) => idOf(a) - idOf(b));
  }

  /**
   * Returns the messages that share the topic of the first one. Large sets usually belong to one topic, whose index
   * entries are adjacent while message rows are scattered. Finding them by id takes 1.3 to 1.7 times as long.
   */
  private neighbours(realmId: RealmId, wanted: readonly MessageId[]): MessageIndexRow[] {
    const [recipientId, topicKey] = this.topicOf.get(firstOf(wanted), realmId) ?? [];
    if (recipientId === undefined || topicKey == null) return [];
    const columns = this.inTopic.one(recipientId, topicKey, firstOf(wanted), lastOf(wanted), 2 * wanted.length);
    const [ids, senders, ordinals, propertyBits, versions] = columns.map((column) => JSON.parse(column) as number[]);
    const rows: MessageIndexRow[] = [];
    let next = 0;
    for (let i = 0; i < ids!.length && next < wanted.length; i++) {
      const id = ids![i] as MessageId;
      while (wanted[next]! < id) next++;
      if (wanted[next] !== id) continue;
      const senderId = senders![i] as UserId;
      // A message never moved is still at its original recipient.
      rows.push([id, senderId, recipientId, recipientId, ordinals![i]!, propertyBits![i]!, versions![i]!]);
    }
    return rows;
  }
}

/** True for ascending ids without duplicates, as clients usually send them. */
const isAscending = (ids: readonly number[]): boolean => ids.every((id, i) => i === 0 || ids[i - 1]! < id);

/**
 * Number of rows, in addition to two per message, that a range query may return before messages are looked up
 * individually. A page of a quiet channel spans a long time with rows of other channels.
 */
const RANGE_ALLOWANCE = 64;

/**
 * Reads ranges of ids and ordinals for a single viewer. Lists, as for several viewers, take 1.2 to 2 times as long for a
 * page of 100 messages.
 */
export class ViewerMessageStates extends SqlViewerMessageStates<ReadSets> {
  private readonly flagsBetween: Query<FlagTuple>;

  constructor(connection: Connection) {
    super(asStatements(connection), new ReadSets(connection));
    this.flagsBetween = connection.tuples<FlagTuple>(
      `SELECT ${FLAG_COLUMNS} FROM message_flag WHERE user_id = ? AND message_id BETWEEN ? AND ? ${LIMIT}`,
    );
  }

  override async load(viewer: Viewer, messages: readonly MessageIndexRow[]): Promise<ViewerMessageState> {
    if (messages.length === 0) return super.load(viewer, messages);
    const moves = await this.movesOf(messages);
    const ranges = ordinalRangesOf(messages);
    const spans = await this.spansOf(viewer, recipientsOf(ranges, moves));
    return new ViewerMessageState(
      spans,
      moves,
      await this.flagRows(viewer, messages.map(idOf)),
      // Without a span there is no read set.
      this.segments(
        viewer,
        messages,
        ranges.filter(({ recipientId }) => spans.has(recipientId)),
      ),
      await this.mutesOf(viewer),
    );
  }

  override async flagRows(viewer: Viewer, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, FlagRow>> {
    if (ids.length === 0) return new Map();
    let first = firstOf(ids);
    let last = first;
    for (const id of ids) {
      if (id < first) first = id;
      if (id > last) last = id;
    }
    const limit = 2 * ids.length + RANGE_ALLOWANCE;
    const rows = this.flagsBetween.all(viewer.userId, first, last, limit);
    if (rows.length === limit) return super.flagRows(viewer, ids);
    return new Map(rows.map((row) => [row[0], toFlagRow(row)]));
  }

  private segments(
    viewer: Viewer,
    messages: readonly MessageIndexRow[],
    ranges: readonly RecipientOrdinalRange[],
  ): ReadonlyMap<RecipientId, readonly ReadSegment[]> {
    if (ranges.length === 0) return new Map();
    const limit = 2 * messages.length + RANGE_ALLOWANCE;
    const segments = this.readSets.load(viewer, ranges, limit);
    let count = 0;
    for (const list of segments.values()) count += list.length;
    if (count < limit) return segments;
    const each = messages.map(([, , , recipientId, ordinal]) => ({ recipientId, first: ordinal, last: ordinal }));
    return this.readSets.load(
      viewer,
      each.sort((a, b) => a.recipientId - b.recipientId || a.first - b.first),
    );
  }
}
