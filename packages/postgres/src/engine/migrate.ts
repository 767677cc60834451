import { checksumOf, type Migration } from '@parley/storage';
import type { ClientBase } from 'pg';

/** Records the steps that made the schema, with the checksums of their texts. */
const RECORD = `
CREATE TABLE IF NOT EXISTS schema_step (
  number integer PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL
)`;

/** Advisory lock of the server that changes the schema; organizations have positive numbers. */
const MIGRATION_LOCK = -1;

interface RecordedStep {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

/**
 * Brings the schema forward, one transaction a step, and returns the names of the steps. Others that migrate wait meanwhile.
 * @throws Error when a step fails, or as `pendingSteps` does
 */
export async function migrate(client: ClientBase, migrations: readonly Migration[]): Promise<readonly string[]> {
  const done: string[] = [];
  for (;;) {
    await client.query('BEGIN');
    try {
      await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      const [next] = await pendingSteps(client, migrations);
      if (next) {
        // Statements of servers wait behind a step that waits for a table.
        await client.query("SET LOCAL lock_timeout = '2s'");
        await client.query(RECORD);
        await client.query(next.sql);
        await client.query('INSERT INTO schema_step (number, name, checksum) VALUES ($1, $2, $3)', [
          migrations.indexOf(next) + 1,
          next.name,
          checksumOf(next),
        ]);
      }
      await client.query('COMMIT');
      if (!next) return done;
      done.push(next.name);
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }
}

/**
 * Returns the steps that the database lacks.
 * @throws Error when the steps that made the database are not those of this version
 */
export async function pendingSteps(
  client: ClientBase,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const record = await recordOf(client);
  if (record.length > migrations.length) {
    throw new Error(
      `it was written by a newer version of Parley (schema ${record.length}; this version supports ${migrations.length})`,
    );
  }
  for (const [index, { checksum }] of record.entries()) {
    const migration = migrations[index]!;
    if (checksum === checksumOf(migration)) continue;
    throw new Error(
      `step ${index + 1} of its schema (${migration.name}) differs from that of this version; use it with the version ` +
        'that wrote it, or restore a backup made by this version',
    );
  }
  return migrations.slice(record.length);
}

async function recordOf(client: ClientBase): Promise<readonly RecordedStep[]> {
  const { rows } = await client.query("SELECT to_regclass('schema_step') IS NOT NULL AS is_there");
  if (!rows[0].is_there) return [];
  return (await client.query<RecordedStep>('SELECT * FROM schema_step ORDER BY number')).rows;
}
