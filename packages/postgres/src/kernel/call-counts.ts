import type { CallCountRepository, CountedCalls, UnixSeconds } from '@parley/domain/kernel';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

interface CountRow {
  readonly id: number;
  readonly rule: string;
  readonly key: string;
  readonly calls: number;
  readonly is_reset: 0 | 1;
  readonly expires_at: UnixSeconds;
}

export class PostgresCallCountRepository implements CallCountRepository {
  private readonly rows;
  private readonly insert;
  private readonly deleteExpired;
  private readonly deleteAll;

  constructor(connection: Connection) {
    this.rows = connection.rows<CountRow>(
      `SELECT id, rule, key, calls, is_reset, expires_at FROM counted_calls
       WHERE id > $1 AND server <> $2 ORDER BY id LIMIT $3`,
    );
    this.insert = connection.command(
      'INSERT INTO counted_calls (server, rule, key, calls, is_reset, expires_at) VALUES ($1, $2, $3, $4, $5, $6)',
    );
    this.deleteExpired = connection.command(
      `DELETE FROM counted_calls WHERE id IN (
         SELECT id FROM counted_calls WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,
    );
    this.deleteAll = connection.command('DELETE FROM counted_calls');
  }

  async listOfOthers(server: string, after: number, limit: number) {
    return (await this.rows.all(after, server, limit)).map(({ is_reset, expires_at, ...row }) => ({
      ...row,
      isReset: is_reset === 1,
      expiresAt: expires_at,
    }));
  }

  async add(server: string, counted: readonly CountedCalls[]): Promise<void> {
    for (const { rule, key, calls, isReset, expiresAt } of counted) {
      this.insert.defer(server, rule, key, calls, isReset ? 1 : 0, expiresAt);
    }
  }

  async removeExpired(now: UnixSeconds, limit: number): Promise<number> {
    return (await this.deleteExpired.run(now, limit)).changes;
  }

  async removeAll(): Promise<void> {
    await this.deleteAll.run();
  }
}

export const CALL_COUNT_FEATURE = {
  schema: 'call-counts',
  repositories: () => (connection) => ({ callCounts: new PostgresCallCountRepository(connection) }),
} satisfies PostgresFeature;
