import { decodeQueue, encodeQueue } from '@parley/domain/composition';
import type {
  EventQueue,
  EventQueueRepository,
  EventSeq,
  Expiry,
  QueueKey,
  QueuePosition,
  RealmId,
  UnixSeconds,
  UnreadableQueue,
  UserId,
} from '@parley/domain/kernel';
import { type Connection, LIMIT } from '../engine/connection.js';
import { jsonList } from '../engine/rows.js';

export class SqliteEventQueueRepository implements EventQueueRepository {
  private readonly row;
  private readonly ofUser;
  private readonly lowest;
  private readonly insert;
  private readonly delete;
  private readonly deleteOfUser;
  private readonly deleteIdle;
  private readonly deleteBehind;
  private readonly storePosition;

  constructor(connection: Connection) {
    this.row = connection.rows<QueueRow>('SELECT * FROM event_queue WHERE id = ? AND realm_id = ?');
    this.ofUser = connection.tuples<[string, UnixSeconds]>(
      'SELECT id, last_polled_at FROM event_queue WHERE owner_id = ? AND realm_id = ? ORDER BY last_polled_at',
    );
    this.lowest = connection.values<EventSeq | null>('SELECT min(floor_seq) FROM event_queue WHERE realm_id = ?');
    this.insert = connection.command(
      `INSERT INTO event_queue (id, realm_id, owner_id, filter, presentation, start_seq, acked, floor_seq,
                                last_polled_at, idle_timeout_seconds)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    // Without the plus sign the index by floor would lead to every queue of the realm.
    this.delete = connection.command(
      'DELETE FROM event_queue WHERE id IN (SELECT value FROM json_each(?)) AND +realm_id = ?',
    );
    this.deleteOfUser = connection.command('DELETE FROM event_queue WHERE owner_id = ? AND realm_id = ?');
    this.deleteIdle = connection.tuples<[RealmId, string]>(
      `DELETE FROM event_queue WHERE id IN (
         SELECT id FROM event_queue INDEXED BY event_queue_by_deadline
         WHERE last_polled_at + idle_timeout_seconds <= ? AND ? + idle_timeout_seconds <= ?
           AND id NOT IN (SELECT value FROM json_each(?))
         ${LIMIT})
       RETURNING realm_id, id`,
    );
    this.deleteBehind = connection.tuples<[RealmId, string]>(
      `DELETE FROM event_queue WHERE id IN (
         SELECT id FROM event_queue INDEXED BY event_queue_by_floor WHERE realm_id = ? AND floor_seq < ? ${LIMIT})
       RETURNING realm_id, id`,
    );
    // Row by row: joined to a list of them, every row of the realm is compared with every one of the list.
    this.storePosition = connection.command(
      'UPDATE event_queue SET acked = ?, floor_seq = ?, last_polled_at = ? WHERE id = ? AND realm_id = ?',
    );
  }

  async find(realmId: RealmId, id: string): Promise<EventQueue | UnreadableQueue | null> {
    const row = this.row.get(id, realmId);
    return row ? toQueue(row) : null;
  }

  async listOf(realmId: RealmId, ownerId: UserId): Promise<readonly Pick<QueuePosition, 'id' | 'lastPolledAt'>[]> {
    return this.ofUser.all(ownerId, realmId).map(([id, lastPolledAt]) => ({ id, lastPolledAt }));
  }

  async lowestFloor(realmId: RealmId): Promise<EventSeq | null> {
    return this.lowest.get(realmId) ?? null;
  }

  async add(queue: EventQueue): Promise<void> {
    const { filter, presentation } = encodeQueue(queue);
    this.insert.run(
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
    this.delete.run(jsonList(ids), realmId);
  }

  async removeOfUser(realmId: RealmId, ownerId: UserId): Promise<void> {
    this.deleteOfUser.run(ownerId, realmId);
  }

  async removeIdle({ now, servedSince, except }: Expiry, limit: number): Promise<readonly QueueKey[]> {
    return this.deleteIdle.all(now, servedSince, now, jsonList(except), limit).map(toKey);
  }

  async removeBehind(realmId: RealmId, floorSeq: number, limit: number): Promise<readonly QueueKey[]> {
    return this.deleteBehind.all(realmId, floorSeq, limit).map(toKey);
  }

  async savePositions(realmId: RealmId, positions: readonly QueuePosition[]): Promise<void> {
    for (const { id, acked, floorSeq, lastPolledAt } of positions) {
      this.storePosition.run(acked, floorSeq, lastPolledAt, id, realmId);
    }
  }
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

const toKey = ([realmId, id]: readonly [RealmId, string]): QueueKey => ({ realmId, id });

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
