import type { Lease, LeaseRepository, UnixSeconds } from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import type { Statements } from '../engine/statements.js';

export class SqlLeaseRepository implements LeaseRepository {
  private readonly upsert;
  private readonly row;
  private readonly deleteOf;
  private readonly holders;

  constructor(connection: Statements) {
    this.upsert = connection.command(
      `INSERT INTO worker_lease (name, holder, until) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
       WHERE worker_lease.holder = excluded.holder OR worker_lease.until <= ? OR worker_lease.until > ?`,
    );
    this.row = connection.rows<Lease>('SELECT holder, until FROM worker_lease WHERE name = ?');
    this.deleteOf = connection.command('DELETE FROM worker_lease WHERE holder = ?');
    this.holders = connection.values<string>('SELECT DISTINCT holder FROM worker_lease ORDER BY holder');
  }

  async take(name: string, { holder, until }: Lease, now: UnixSeconds): Promise<Lease> {
    this.upsert.defer(name, holder, until, now, now + 2 * (until - now));
    return await this.row.one(name);
  }

  async listHolders(): Promise<readonly string[]> {
    return await this.holders.all();
  }

  async release(holder: string): Promise<void> {
    await this.deleteOf.run(holder);
  }
}

const TABLES = `
-- Recurring work that one of several servers does, until a moment.
CREATE TABLE worker_lease (
  name {text} PRIMARY KEY,
  holder {text} NOT NULL,
  until {int} NOT NULL
) {withoutRowId};
`;

export const LEASE_FEATURE = {
  schema: 'leases',
  steps: { 8: TABLES },
  persons: {
    worker_lease: { other: ['name', 'holder'] },
    server_node: { other: ['name'] },
  },
  repositories: () => (connection) => ({ leases: new SqlLeaseRepository(connection) }),
} satisfies StorageFeature;
