import type { Lease, LeaseRepository, UnixSeconds } from '@parley/domain/kernel';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresLeaseRepository implements LeaseRepository {
  private readonly upsert;
  private readonly row;
  private readonly deleteOf;

  constructor(connection: Connection) {
    this.upsert = connection.command(
      `INSERT INTO worker_lease (name, holder, until) VALUES ($1, $2, $3)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
       WHERE worker_lease.holder = excluded.holder OR worker_lease.until <= $4`,
    );
    this.row = connection.rows<Lease>('SELECT holder, until FROM worker_lease WHERE name = $1');
    this.deleteOf = connection.command('DELETE FROM worker_lease WHERE holder = $1');
  }

  async take(name: string, { holder, until }: Lease, now: UnixSeconds): Promise<Lease> {
    this.upsert.defer(name, holder, until, now);
    return (await this.row.get(name))!;
  }

  async release(holder: string): Promise<void> {
    await this.deleteOf.run(holder);
  }
}

export const LEASE_FEATURE = {
  schema: 'leases',
  repositories: () => (connection) => ({ leases: new PostgresLeaseRepository(connection) }),
} satisfies PostgresFeature;
