import {
  type EventConsumerRepository,
  type EventSeq,
  MAX_CONSUMERS,
  type RealmId,
  tooManyConsumers,
} from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import type { Statements } from '../engine/statements.js';

export class SqlEventConsumerRepository implements EventConsumerRepository {
  private readonly names;
  private readonly exists;
  private readonly positionsOf;
  private readonly lowest;
  private readonly insert;
  private readonly insertPosition;
  private readonly move;
  private readonly delete;

  constructor(connection: Statements) {
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
       SELECT c.name, r.id, ? FROM event_consumer c, realm r WHERE r.id = ? AND c.name = ? ON CONFLICT DO NOTHING`,
    );
    this.move = connection.command(
      'UPDATE event_consumer_position SET seq = ? WHERE consumer = ? AND realm_id = ? AND seq = ?',
    );
    this.delete = connection.command('DELETE FROM event_consumer WHERE name = ?');
  }

  async list(): Promise<readonly string[]> {
    return await this.names.all();
  }

  async findPositions(name: string): Promise<ReadonlyMap<RealmId, EventSeq> | null> {
    return (await this.exists.get(name)) === undefined ? null : new Map(await this.positionsOf.all(name));
  }

  async lowestPosition(realmId: RealmId): Promise<number | null> {
    return (await this.lowest.get(realmId)) ?? null;
  }

  async add(name: string, positions: ReadonlyMap<RealmId, EventSeq>): Promise<boolean> {
    if ((await this.exists.get(name)) !== undefined) return false;
    if ((await this.names.all()).length >= MAX_CONSUMERS) throw tooManyConsumers();
    await this.insert.run(name);
    for (const [realmId, seq] of positions) await this.insertPosition.run(seq, realmId, name);
    return true;
  }

  async advance(name: string, realmId: RealmId, from: number, to: EventSeq): Promise<boolean> {
    if ((await this.move.run(to, name, realmId, from)).changes === 1) return true;
    return from === 0 && (await this.insertPosition.run(to, realmId, name)).changes === 1;
  }

  async remove(name: string): Promise<boolean> {
    return (await this.delete.run(name)).changes === 1;
  }
}

/** The tables are part of the events schema. */
export const EVENT_CONSUMER_FEATURE = {
  persons: { event_consumer: { other: ['name'] } },
  repositories: () => (connection) => ({ consumers: new SqlEventConsumerRepository(connection) }),
} satisfies StorageFeature;
