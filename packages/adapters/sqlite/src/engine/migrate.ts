import { createHash } from 'node:crypto';
import { firstOf } from '@parley/domain/kernel';
import { checksumOf, type Migration } from '@parley/storage';
import type { Database } from 'better-sqlite3';

/** Records the executed steps with the checksums of their texts. */
const RECORD = `
CREATE TABLE schema_step (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL
) STRICT`;

/** Number of steps before the baseline, which creates the same schema (ADR 13). */
export const FORMER_STEPS = 43;
const FIRST_FORMER_STEP = '0001-initial';
/** SHA-256 of the recorded numbers and checksums of all former steps. */
const FORMER_CHECKSUM = 'd533d80be8ce7609a0f9778f74be1e287dbe656e9f2eb50b1d21431a9e9f58ca';

interface RecordedStep {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

/** Migrates the schema, one transaction per step. @throws Error if a step fails, or like `pendingSteps` */
export function migrate(database: Database, migrations: readonly Migration[]): void {
  const step = database.transaction((): void => {
    // Read again inside the transaction, because another process may have migrated the schema.
    const [next] = pendingSteps(database, migrations);
    if (next === undefined) return;
    if (isFormer(recordOf(database))) {
      database.exec('DELETE FROM schema_step');
    } else {
      if (next === migrations[0]) database.exec(RECORD);
      database.exec(next.sql);
    }
    const number = migrations.indexOf(next) + 1;
    database
      .prepare('INSERT INTO schema_step (number, name, checksum) VALUES (?, ?, ?)')
      .run(number, next.name, checksumOf(next));
    database.pragma(`user_version = ${number}`);
  });
  // Checked without the write lock, which another process may hold for a long time.
  while (pendingSteps(database, migrations).length > 0) step.immediate();
}

/**
 * Returns the steps missing from the database. A database with all former steps lacks the baseline, which is then only
 * recorded.
 * @throws Error if the database has steps unknown to this version
 */
export function pendingSteps(database: Database, migrations: readonly Migration[]): readonly Migration[] {
  const version = database.pragma('user_version', { simple: true }) as number;
  if (version === 0) return migrations;
  const record = recordOf(database);
  if (isFormer(record) && version === FORMER_STEPS) return migrations;
  if (record.length === 0) throw unknownSchema(version);
  if (firstOf(record).name === FIRST_FORMER_STEP) {
    if (version >= FORMER_STEPS) throw unknownSchema(version);
    throw new Error(
      `its schema ends at step ${version} of the ${FORMER_STEPS} that the baseline replaces; open it once with the last ` +
        'version that has these steps',
    );
  }
  requireNotNewer(version, migrations.length);
  const checksums = new Map(record.map(({ number, checksum }) => [number, checksum]));
  for (const [index, migration] of migrations.slice(0, version).entries()) {
    if (checksums.get(index + 1) === checksumOf(migration)) continue;
    throw new Error(
      `step ${index + 1} of its schema (${migration.name}) differs from that of this version; open it with the version ` +
        'that wrote it, or restore a backup made by this version',
    );
  }
  return migrations.slice(version);
}

/** @throws Error */
export function requireNotNewer(version: number, latest: number): void {
  if (version > latest) {
    throw new Error(
      `it was written by a newer version of Parley (schema ${version}; this version supports ${latest}); run that ` +
        'version, or restore a backup made before the upgrade',
    );
  }
}

const unknownSchema = (version: number) =>
  new Error(
    `its schema (version ${version}) was not made by a release of Parley; open it with the program that wrote it, ` +
      'undo manual changes, or restore a backup',
  );

function recordOf(database: Database): readonly RecordedStep[] {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_step'").get() !== undefined;
  return isThere ? database.prepare<[], RecordedStep>('SELECT * FROM schema_step ORDER BY number').all() : [];
}

function isFormer(record: readonly RecordedStep[]): boolean {
  const lines = record.map(({ number, checksum }) => `${number} ${checksum}`).join('\n');
  return createHash('sha256').update(lines).digest('hex') === FORMER_CHECKSUM;
}
