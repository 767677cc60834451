import { completeEvents, decodeEvent, decodeQueue, encodeQueue, sizeOfEvent } from '@parley/domain/composition';
import {
  decodePresentation,
  type EncodedRow,
  type EndedQueue,
  type EventQueue,
  type EventQueueRepository,
  type EventSeq,
  type Expiry,
  type LoggedEvent,
  type MessageId,
  type QueuePosition,
  type RealmId,
  type UnixSeconds,
  type UnreadableQueue,
  type UserId,
} from '@parley/domain/kernel';
import type { MessagePageReads } from '@parley/domain/messages';
import type { FeatureTables } from '../engine/feature.js';
import { EXPIRES, KEY } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

export type EventTuple = readonly [
  seq: EventSeq,
  at: UnixSeconds,
  quotes: MessageId | null,
  format: number,
  audience: string,
  payload: string,
];

export const encodedRow = (realmId: RealmId, [seq, at, quotes, format, audience, payload]: EventTuple): EncodedRow => ({
  realmId,
  seq,
  at,
  quotes,
  format,
  audience,
  payload,
});

/** Decodes events up to the first one at which they have `maxBytes`, at least one if there are any. */
export function decodeUpTo(
  realmId: RealmId,
  rows: Iterable<EventTuple>,
  maxBytes: number,
  pages: Pick<MessagePageReads, 'listViews'>,
): Promise<readonly LoggedEvent[]> {
  const listed: ReturnType<typeof decodeEvent>[] = [];
  let bytes = 0;
  for (const tuple of rows) {
    const row = encodedRow(realmId, tuple);
    const logged = decodeEvent(row);
    listed.push(logged);
    bytes += sizeOfEvent(row, logged);
    if (bytes >= maxBytes) break;
  }
  return completeEvents(listed, (ids) => pages.listViews(realmId, ids));
}

interface QueueRow {
  readonly id: string;
  readonly realm_id: RealmId;
  readonly owner_id: UserId;
  readonly filter: string;
  readonly presentation: string;
  readonly start_seq: EventSeq;
  readonly acked: number;
  readonly floor_seq: EventSeq;
  readonly last_polled_at: UnixSeconds;
  readonly idle_timeout_seconds: number;
}

const ENDED = 'realm_id, id, owner_id, last_polled_at, presentation';
type EndedTuple = readonly [RealmId, string, UserId, UnixSeconds, presentation: string];

const toEndedQueue = ([realmId, id, ownerId, lastPolledAt, presentation]: EndedTuple): EndedQueue => ({
  ...{ realmId, id, ownerId, lastPolledAt },
  presentation: decodePresentation(presentation),
});

const toQueue = (row: QueueRow): EventQueue | UnreadableQueue =>
  decodeQueue({
    id: row.id,
    realmId: row.realm_id,
    ownerId: row.owner_id,
    filter: row.filter,
    presentation: row.presentation,
    startSeq: row.start_seq,
    acked: row.acked,
    floorSeq: row.floor_seq,
    lastPolledAt: row.last_polled_at,
    idleTimeoutSeconds: row.idle_timeout_seconds,
  });

/** Maximum number of events that a removal appends before the event announcing it. */
const EVENTS_OF_A_UNIT = 1000;

/** Maximum number of spans removed at once. */
const MAX_SPANS = 2500;

/** Rows needed only by events: traces of deleted messages, and ended spans without a message. */
export class Tombstones {
  private readonly statements;
  private readonly deleteSpans;

  constructor(statements: Statements) {
    const forgotten = 'SELECT id FROM removed_message WHERE realm_id = ? AND removed_at_seq < ?';
    this.statements = [
      statements.command(`DELETE FROM removed_message_holder WHERE message_id IN (${forgotten})`),
      statements.command(`DELETE FROM moved_message WHERE message_id IN (${forgotten})`),
      statements.command('DELETE FROM removed_message WHERE realm_id = ? AND removed_at_seq < ?'),
    ];
    this.deleteSpans = statements.command(
      `DELETE FROM span WHERE (user_id, recipient_id, number) IN (
         SELECT user_id, recipient_id, number FROM span ${statements.dialect.indexedBy('span_without_messages')}
         WHERE realm_id = ? AND to_seq <= ? AND to_ordinal <= from_ordinal AND to_move = from_move
         ORDER BY to_seq LIMIT ${MAX_SPANS})`,
    );
  }

  /** Must be called when events up to this sequence number are pruned. */
  prune(realmId: RealmId, upTo: EventSeq): void {
    for (const statement of this.statements) statement.defer(realmId, upTo - EVENTS_OF_A_UNIT);
    this.deleteSpans.defer(realmId, upTo);
  }
}

/** Event queue repository without saving positions, which differs between the databases. */
export class SqlEventQueueRepository implements Omit<EventQueueRepository, 'savePositions'> {
  private readonly row;
  private readonly ofUser;
  private readonly lowest;
  private readonly insert;
  private readonly delete;
  private readonly deleteOfUser;
  private readonly deleteIdle;
  private readonly deleteBehind;

  constructor(private readonly statements: Statements) {
    const { dialect } = statements;
    this.row = statements.rows<QueueRow>('SELECT * FROM event_queue WHERE id = ? AND realm_id = ?');
    this.ofUser = statements.tuples<[string, UnixSeconds]>(
      'SELECT id, last_polled_at FROM event_queue WHERE owner_id = ? AND realm_id = ? ORDER BY last_polled_at',
    );
    this.lowest = statements.values<EventSeq | null>('SELECT min(floor_seq) FROM event_queue WHERE realm_id = ?');
    this.insert = statements.command(
      `INSERT INTO event_queue (id, realm_id, owner_id, filter, presentation, start_seq, acked, floor_seq,
                                last_polled_at, idle_timeout_seconds)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    // The plus sign keeps SQLite from using the floor index, which would visit every queue of the realm.
    this.delete = statements.command(`DELETE FROM event_queue WHERE id ${dialect.inSet} AND +realm_id = ?`);
    this.deleteOfUser = statements.command('DELETE FROM event_queue WHERE owner_id = ? AND realm_id = ?');
    this.deleteIdle = statements.tuples<EndedTuple>(
      `DELETE FROM event_queue WHERE id IN (
         SELECT id FROM event_queue ${dialect.indexedBy('event_queue_by_deadline')}
         WHERE last_polled_at + idle_timeout_seconds <= ? AND ? + idle_timeout_seconds <= ?
         LIMIT ? + 0)
       RETURNING ${ENDED}`,
    );
    this.deleteBehind = statements.tuples<EndedTuple>(
      `DELETE FROM event_queue WHERE id IN (
         SELECT id FROM event_queue ${dialect.indexedBy('event_queue_by_floor')}
         WHERE realm_id = ? AND floor_seq < ? LIMIT ? + 0)
       RETURNING ${ENDED}`,
    );
  }

  async find(realmId: RealmId, id: string): Promise<EventQueue | UnreadableQueue | null> {
    const row = await this.row.get(id, realmId);
    return row ? toQueue(row) : null;
  }

  async listOf(realmId: RealmId, ownerId: UserId): Promise<readonly Pick<QueuePosition, 'id' | 'lastPolledAt'>[]> {
    return (await this.ofUser.all(ownerId, realmId)).map(([id, lastPolledAt]) => ({ id, lastPolledAt }));
  }

  async lowestFloor(realmId: RealmId): Promise<EventSeq | null> {
    return (await this.lowest.get(realmId)) ?? null;
  }

  async add(queue: EventQueue): Promise<void> {
    const { filter, presentation } = encodeQueue(queue);
    await this.insert.run(
      queue.id,
      queue.realmId,
      queue.ownerId,
      filter,
      presentation,
      queue.startSeq,
      queue.acked,
      queue.floorSeq,
      queue.lastPolledAt,
      queue.idleTimeoutSeconds,
    );
  }

  async remove(realmId: RealmId, ids: readonly string[]): Promise<void> {
    this.delete.defer(this.statements.dialect.set(ids), realmId);
  }

  async removeOfUser(realmId: RealmId, ownerId: UserId): Promise<void> {
    await this.deleteOfUser.run(ownerId, realmId);
  }

  async removeIdle({ before, servedSince }: Expiry, limit: number): Promise<readonly EndedQueue[]> {
    return (await this.deleteIdle.all(before, servedSince, before, limit)).map(toEndedQueue);
  }

  async removeBehind(realmId: RealmId, floorSeq: number, limit: number): Promise<readonly EndedQueue[]> {
    return (await this.deleteBehind.all(realmId, floorSeq, limit)).map(toEndedQueue);
  }
}

export const EVENT_PERSONS = {
  event_queue: {
    data: 'Event queues of clients',
    fate: { ...KEY, ends: [...KEY.ends, 'deactivation', 'inherit', 'merge'] },
    erase: 'owner_id = {id}',
  },
  event_consumer_position: { other: ['consumer'] },
  event: { data: 'Events that clients have not read', fate: EXPIRES, anonymise: ['audience', 'payload'] },
} satisfies FeatureTables['persons'];
