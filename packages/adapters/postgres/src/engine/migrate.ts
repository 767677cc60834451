import { setTimeout as sleep } from 'node:timers/promises';
import { checksumOf, type Migration } from '@parley/storage';
import type { ClientBase } from 'pg';
import { listNodes, type ServerNode } from './nodes.js';

/** Records the executed steps with the checksums of their texts. */
const RECORD = `
CREATE TABLE IF NOT EXISTS schema_step (
  number integer PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL
);
ALTER TABLE schema_step ADD COLUMN IF NOT EXISTS is_contract boolean NOT NULL DEFAULT false`;

/** Advisory lock of the server that migrates the schema; organizations have positive numbers. */
const MIGRATION_LOCK = -1;
/** Name of the fact with the minimum number of steps of a release, see `finishUpgrade`. */
const REQUIRED_STEPS = 'required steps';

/** Lock timeout for migrations: how long one may block other statements while it waits for a table lock. */
const LOCK_MS = 2000;
/** Pause in which blocked statements run before the step is retried. */
const PAUSE_MS = 1000;
/** Total wait exceeds the time for which a lost server's transaction holds its locks. */
const MAX_ATTEMPTS = 40;
/** SQLSTATE for a lock timeout. */
const LOCK_NOT_AVAILABLE = '55P03';

type Queries = Pick<ClientBase, 'query'>;

/** The database was created by steps unknown to this version. */
export class UnknownSchema extends Error {}

interface RecordedStep {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  /** Absent in records from a release without contract steps. */
  readonly is_contract?: boolean;
}

/** Steps missing from the database. */
export interface PendingSteps {
  readonly expand: readonly Migration[];
  /** Steps to be run at the end of an upgrade. Empty in a new database, which gets all steps at once. */
  readonly contract: readonly Migration[];
}

/**
 * Migrates the schema, one transaction per step, and returns the names of the steps. Concurrent migrations wait. Steps
 * incompatible with the previous release are left to `finishUpgrade`, unless the database is new.
 * @throws Error if a step fails, like `pendingSteps`, or if a database without our schema has tables
 */
export async function migrate(client: ClientBase, migrations: readonly Migration[]): Promise<readonly string[]> {
  const isNew = (await recordOf(client)).length === 0;
  if (isNew) await requireNoTables(client);
  return runSteps(client, migrations, ({ expand, contract }) => (isNew ? [...expand, ...contract] : expand));
}

async function runSteps(
  client: ClientBase,
  migrations: readonly Migration[],
  choose: (pending: PendingSteps) => readonly Migration[],
): Promise<readonly string[]> {
  const done: string[] = [];
  for (let attempt = 1; ; attempt++) {
    await client.query('BEGIN');
    try {
      await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      const [next] = choose(await pendingSteps(client, migrations));
      if (next) {
        await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
        await client.query(RECORD);
        await client.query(next.sql);
        await client.query('INSERT INTO schema_step (number, name, checksum, is_contract) VALUES ($1, $2, $3, $4)', [
          migrations.indexOf(next) + 1,
          next.name,
          checksumOf(next),
          next.isContract === true,
        ]);
      }
      await client.query('COMMIT');
      if (!next) return done;
      done.push(next.name);
      attempt = 0;
    } catch (error) {
      // The rollback fails only with its connection, which ends the transaction as well.
      await client.query('ROLLBACK').catch(() => {});
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || attempt === MAX_ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * Finishes an upgrade: runs the postponed steps and rejects servers with older releases from then on. Does nothing
 * while servers with another release are running, which it returns.
 */
export async function finishUpgrade(
  client: ClientBase,
  migrations: readonly Migration[],
  release: string,
): Promise<{ readonly others: readonly ServerNode[]; readonly done: readonly string[] }> {
  const { expand } = await pendingSteps(client, migrations);
  if (expand.length > 0) throw new Error('its schema does not match this version; run parley migrate');
  await client.query('BEGIN');
  try {
    // Starting servers wait for the result.
    await client.query('LOCK TABLE server_node IN SHARE ROW EXCLUSIVE MODE');
    const others = (await listNodes(client)).filter((node) => node.release !== release);
    if (others.length === 0) {
      await client.query(
        'INSERT INTO server_fact (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        [REQUIRED_STEPS, String(migrations.length)],
      );
    }
    await client.query('COMMIT');
    if (others.length > 0) return { others, done: [] };
  } catch (error) {
    // The rollback fails only with its connection, which ends the transaction as well.
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
  return { others: [], done: await runSteps(client, migrations, ({ contract }) => contract) };
}

/**
 * Returns the steps missing from the database. Steps of the next release are accepted if they are compatible with this
 * one.
 * @throws UnknownSchema if the database was created by steps unknown to this version
 */
export async function pendingSteps(client: Queries, migrations: readonly Migration[]): Promise<PendingSteps> {
  const record = await recordOf(client);
  const newer = record.filter(({ number }) => number > migrations.length);
  if (newer.some((step) => step.is_contract) || (await requiredSteps(client, record)) > migrations.length) {
    throw new UnknownSchema(
      `it was written by a newer version of Parley (schema ${record.length}; this version supports ${migrations.length}); ` +
        'run that version, or restore a backup made before the upgrade',
    );
  }
  const recorded = new Map(record.map((step) => [step.number, step]));
  const missing: Migration[] = [];
  for (const [index, migration] of migrations.entries()) {
    const step = recorded.get(index + 1);
    if (!step) missing.push(migration);
    else if (step.checksum !== checksumOf(migration)) {
      throw new UnknownSchema(
        `step ${index + 1} of its schema (${migration.name}) differs from that of this version; use it with the version ` +
          'that wrote it, or restore a backup made by this version',
      );
    }
  }
  const expand = missing.filter(({ isContract }) => !isContract);
  const contract = missing.filter(({ isContract }) => isContract);
  return record.length === 0 ? { expand: [...expand, ...contract], contract: [] } : { expand, contract };
}

/**
 * Returns the names of the tables in the current schema, except those of extensions.
 */
export async function tablesInSchema(client: Queries): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class c
     WHERE relkind IN ('r', 'p', 'f') AND relnamespace = current_schema()::regnamespace
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')
     ORDER BY relname`,
  );
  return rows.map(({ name }) => name);
}

/** @throws Error if the current schema contains tables, which are another program's */
export async function requireNoTables(client: Queries): Promise<void> {
  const tables = await tablesInSchema(client);
  if (tables.length > 0) throw foreignTables(tables);
}

const MAX_NAMED_TABLES = 3;

export function foreignTables(tables: readonly string[]): Error {
  const others = tables.length - MAX_NAMED_TABLES;
  const names = tables.slice(0, MAX_NAMED_TABLES).join(', ') + (others > 0 ? ` and ${others} more` : '');
  return new Error(
    `it contains tables of another program (${names}). Give Parley a schema of its own: run CREATE SCHEMA chat, ` +
      'and add ?options=-c%20search_path%3Dchat to the address',
  );
}

async function recordOf(client: Queries): Promise<readonly RecordedStep[]> {
  if (!(await hasRecord(client))) return [];
  return (await client.query<RecordedStep>('SELECT * FROM schema_step ORDER BY number')).rows;
}

/** True if the table was created by `RECORD`; another program may have a table of this name. */
async function hasRecord(client: Queries): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT count(*) = 3 AS is_ours FROM pg_attribute
     WHERE attrelid = to_regclass('schema_step') AND attname IN ('number', 'name', 'checksum') AND NOT attisdropped`,
  );
  return rows[0].is_ours;
}

async function requiredSteps(client: Queries, record: readonly RecordedStep[]): Promise<number> {
  if (record.length === 0) return 0;
  const { rows } = await client.query('SELECT value FROM server_fact WHERE name = $1', [REQUIRED_STEPS]);
  return Number(rows[0]?.value ?? 0);
}
