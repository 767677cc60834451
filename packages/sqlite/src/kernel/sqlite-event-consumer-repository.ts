import {
  type EventConsumerRepository,
  type EventSeq,
  MAX_CONSUMERS,
  type RealmId,
  tooManyConsumers,
} from '@parley/domain/kernel';
import type { Connection } from '../engine/connection.js';

export class SqliteEventConsumerRepository implements EventConsumerRepository {
  private readonly names;
  private readonly exists;
  private readonly positionsOf;
  private readonly lowest;
  private readonly insert;
  private readonly insertPosition;
  private readonly move;
  private readonly delete;

  constructor(connection: Connection) {
    this.names = connection.values<string>('SELECT name FROM event_consumer ORDER BY name');
    this.exists = connection.values<number>('SELECT 1 FROM event_consumer WHERE name = ?');
    this.positionsOf = connection.tuples<readonly [RealmId, EventSeq]>(
      'SELECT realm_id, seq FROM event_consumer_position WHERE consumer = ?',
    );
    this.lowest = connection.values<number | null>(
      `SELECT min(coalesce(p.seq, 0)) FROM event_consumer c
       LEFT JOIN event_consumer_position p ON p.consumer = c.name AND p.realm_id = ?`,
    );
    this.insert = connection.command('INSERT INTO event_consumer (name) VALUES (?)');
    this.insertPosition = connection.command(
      `INSERT INTO event_consumer_position (consumer, realm_id, seq)
       SELECT name, ?, ? FROM event_consumer WHERE name = ? ON CONFLICT DO NOTHING`,
    );
    this.move = connection.command(
      'UPDATE event_consumer_position SET seq = ? WHERE consumer = ? AND realm_id = ? AND seq = ?',
    );
    this.delete = connection.command('DELETE FROM event_consumer WHERE name = ?');
  }

  async list(): Promise<readonly string[]> {
    return this.names.all();
  }

  async findPositions(name: string): Promise<ReadonlyMap<RealmId, EventSeq> | null> {
    return this.exists.get(name) === undefined ? null : new Map(this.positionsOf.all(name));
  }

  async lowestPosition(realmId: RealmId): Promise<number | null> {
    return this.lowest.get(realmId) ?? null;
  }

  async add(name: string, positions: ReadonlyMap<RealmId, EventSeq>): Promise<boolean> {
    if (this.exists.get(name) !== undefined) return false;
    if (this.names.all().length >= MAX_CONSUMERS) throw tooManyConsumers();
    this.insert.run(name);
    for (const [realmId, seq] of positions) this.insertPosition.run(realmId, seq, name);
    return true;
  }

  async advance(name: string, realmId: RealmId, from: number, to: EventSeq): Promise<boolean> {
    if (this.move.run(to, name, realmId, from).changes === 1) return true;
    return from === 0 && this.insertPosition.run(realmId, to, name).changes === 1;
  }

  async remove(name: string): Promise<boolean> {
    return this.delete.run(name).changes === 1;
  }
}
