import type { Lease, LeaseRepository, UnixSeconds } from '@parley/domain/kernel';
import type { Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

export class SqliteLeaseRepository implements LeaseRepository {
  private readonly upsert;
  private readonly row;
  private readonly deleteOf;

  constructor(connection: Connection) {
    this.upsert = connection.command(
      `INSERT INTO worker_lease (name, holder, until) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
       WHERE holder = excluded.holder OR until <= ?`,
    );
    this.row = connection.rows<Lease>('SELECT holder, until FROM worker_lease WHERE name = ?');
    this.deleteOf = connection.command('DELETE FROM worker_lease WHERE holder = ?');
  }

  async take(name: string, { holder, until }: Lease, now: UnixSeconds): Promise<Lease> {
    this.upsert.run(name, holder, until, now);
    return this.row.get(name)!;
  }

  async release(holder: string): Promise<void> {
    this.deleteOf.run(holder);
  }
}

export const LEASE_FEATURE = {
  schema: 'leases',
  repositories: () => (connection) => ({ leases: new SqliteLeaseRepository(connection) }),
} satisfies SqliteFeature;
