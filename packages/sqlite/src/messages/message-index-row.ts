import type { MessageId, Ordinal, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import { type Connection, LIMIT, type Parameter, type Query } from '../engine/connection.js';
import { PROPERTY_BITS } from './stored-values.js';

/** The small columns of a message, all of them in the indexes that pages walk: what a list needs to judge it. */
export type MessageIndexColumns = readonly [
  id: MessageId,
  senderId: UserId,
  recipientId: RecipientId,
  sentRecipientId: RecipientId,
  ordinal: Ordinal,
  propertyBits: number,
  version: number,
];
/** A row that begins with them. */
export type MessageIndexRow = readonly [...MessageIndexColumns, ...unknown[]];

/** For a query over `message m`. */
export const MESSAGE_INDEX_COLUMNS =
  'm.id, m.sender_id, m.recipient_id, m.sent_recipient_id, m.ordinal, m.property_bits, m.version';

/**
 * A query for places. SQLite makes one JSON text of the answer, since rows handed over one by one, a column at a time,
 * cost more than finding them.
 */
export class MessageIndexQuery {
  private readonly query: Query<string>;

  /** `from` is what follows the columns in a query over `message m`. */
  constructor(connection: Connection, from: string) {
    this.query = connection.values<string>(
      `SELECT json_group_array(json_array(id, sender_id, recipient_id, sent_recipient_id, ordinal, property_bits, version))
       FROM (SELECT ${MESSAGE_INDEX_COLUMNS} ${from})`,
    );
  }

  all(...parameters: Parameter[]): MessageIndexRow[] {
    return JSON.parse(this.query.get(...parameters)!) as MessageIndexRow[];
  }
}

/** From how many ids on it is worth looking whether they are neighbours. */
const MANY = 64;

/** Places of messages that are known by id. */
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

  /** Ascending; unknown ids, and those of other realms, are absent. */
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
   * Those in the topic of the first one: whoever marks many messages mostly marks a topic, where they stand side by side
   * in an index, while the messages themselves are scattered.
   */
  private neighbours(realmId: RealmId, wanted: readonly MessageId[]): MessageIndexRow[] {
    const [recipientId, topicKey] = this.topicOf.get(wanted[0]!, realmId) ?? [];
    if (recipientId === undefined || topicKey == null) return [];
    const columns = this.inTopic.get(recipientId, topicKey, wanted[0]!, wanted.at(-1)!, 2 * wanted.length)!;
    const [ids, senders, ordinals, propertyBits, versions] = columns.map((column) => JSON.parse(column) as number[]);
    const rows: MessageIndexRow[] = [];
    let next = 0;
    for (let i = 0; i < ids!.length && next < wanted.length; i++) {
      const id = ids![i] as MessageId;
      while (wanted[next]! < id) next++;
      if (wanted[next] !== id) continue;
      const senderId = senders![i] as UserId;
      // What was never moved is where it was sent.
      rows.push([id, senderId, recipientId, recipientId, ordinals![i]!, propertyBits![i]!, versions![i]!]);
    }
    return rows;
  }
}

/** Without duplicates, as clients mostly name messages. */
const isAscending = (ids: readonly number[]): boolean => ids.every((id, i) => i === 0 || ids[i - 1]! < id);

export const idOf = (row: MessageIndexRow): MessageId => row[0];
export const propertyBitsOf = (row: MessageIndexRow): number => row[5];

export const wasMoved = (row: MessageIndexRow): boolean => (row[5] & PROPERTY_BITS.wasMoved) !== 0;
