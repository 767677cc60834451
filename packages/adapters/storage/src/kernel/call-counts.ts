import type { CallCountRepository, CountedCalls, UnixSeconds } from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import { EXPIRES } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

interface CountRow {
  readonly id: number;
  readonly rule: string;
  readonly key: string;
  readonly calls: number;
  readonly is_reset: 0 | 1;
  readonly expires_at: UnixSeconds;
}

export class SqlCallCountRepository implements CallCountRepository {
  private readonly rows;
  private readonly insert;
  private readonly deleteExpired;
  private readonly deleteAll;

  constructor(connection: Statements) {
    this.rows = connection.rows<CountRow>(
      `SELECT id, rule, key, calls, is_reset, expires_at FROM counted_calls
       WHERE id > ? AND server <> ? ORDER BY id LIMIT ? + 0`,
    );
    this.insert = connection.command(
      'INSERT INTO counted_calls (server, rule, key, calls, is_reset, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.deleteExpired = connection.command(
      `DELETE FROM counted_calls WHERE id IN (
         SELECT id FROM counted_calls WHERE expires_at <= ? ORDER BY expires_at LIMIT ? + 0)`,
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

const TABLES = `
-- Calls that servers have counted under rate limits, for the other servers.
CREATE TABLE counted_calls (
  id {id},
  server {text} NOT NULL,
  rule {text} NOT NULL,
  -- JSON.
  key {text} NOT NULL,
  calls {int} NOT NULL,
  is_reset {flag} NOT NULL,
  expires_at {int} NOT NULL
) {strict};
CREATE INDEX counted_calls_by_expiry ON counted_calls (expires_at);
`;

export const CALL_COUNT_FEATURE = {
  schema: 'call-counts',
  steps: { 12: TABLES },
  persons: {
    counted_calls: {
      data: 'Counted calls and log-in attempts',
      fate: EXPIRES,
      keep: { 'They expire within a day.': ['key'] },
      other: ['server', 'rule'],
    },
  },
  repositories: () => (connection) => ({ callCounts: new SqlCallCountRepository(connection) }),
} satisfies StorageFeature;
