import type {
  EventQueue,
  EventQueueRepository,
  EventSeq,
  QueueFilter,
  QueuePosition,
  RealmId,
  UnixSeconds,
  UserId,
} from '@parley/domain';
import type { Connection } from '../connection.js';
import { jsonList } from '../rows.js';

export class SqliteEventQueueRepository implements EventQueueRepository {
  private readonly row;
  private readonly allRows;
  private readonly insert;
  private readonly delete;
  private readonly deleteOfUser;
  private readonly storePositions;

  constructor(connection: Connection) {
    this.row = connection.rows<QueueRow>('SELECT * FROM event_queue WHERE id = ? AND realm_id = ?');
    this.allRows = connection.rows<QueueRow>('SELECT * FROM event_queue');
    this.insert = connection.command(
      `INSERT INTO event_queue (id, realm_id, owner_id, filter, presentation, start_seq, acked, floor_seq,
                                last_polled_at, idle_timeout_seconds)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.delete = connection.command(
      'DELETE FROM event_queue WHERE id IN (SELECT value FROM json_each(?)) AND realm_id = ?',
    );
    this.deleteOfUser = connection.command('DELETE FROM event_queue WHERE owner_id = ? AND realm_id = ?');
    this.storePositions = connection.command(
      `UPDATE event_queue
       SET acked = moved.value ->> 1, floor_seq = moved.value ->> 2, last_polled_at = moved.value ->> 3
       FROM json_each(?) AS moved
       WHERE event_queue.id = moved.value ->> 0 AND event_queue.realm_id = ?`,
    );
  }

  async find(realmId: RealmId, id: string): Promise<EventQueue | null> {
    const row = this.row.get(id, realmId);
    return row ? toQueue(row) : null;
  }

  async listAll(): Promise<readonly EventQueue[]> {
    return this.allRows.all().map(toQueue);
  }

  async add(queue: EventQueue): Promise<void> {
    this.insert.run(
      queue.id,
      queue.realmId,
      queue.ownerId,
      JSON.stringify(queue.filter),
      JSON.stringify(queue.presentation),
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

  async savePositions(realmId: RealmId, positions: readonly QueuePosition[]): Promise<void> {
    const moved = positions.map(({ id, acked, floorSeq, lastPolledAt }) => [id, acked, floorSeq, lastPolledAt]);
    this.storePositions.run(JSON.stringify(moved), realmId);
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

function toQueue(row: QueueRow): EventQueue {
  return {
    id: row.id,
    realmId: row.realm_id,
    ownerId: row.owner_id,
    filter: JSON.parse(row.filter) as QueueFilter,
    presentation: JSON.parse(row.presentation) as EventQueue['presentation'],
    startSeq: row.start_seq,
    acked: row.acked,
    floorSeq: row.floor_seq,
    lastPolledAt: row.last_polled_at,
    idleTimeoutSeconds: row.idle_timeout_seconds,
  };
}
