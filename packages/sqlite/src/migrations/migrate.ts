import type { Database } from 'better-sqlite3';
import { checksumOf, type Migration } from './migration.js';
import { sqlToFirstStep } from './recognize.js';

/** Which steps have made the schema, with their texts' checksums. Not a step itself: it lists them. */
const RECORD = `
CREATE TABLE schema_step (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL
) STRICT`;

/**
 * Brings the schema forward, one transaction a step: a step that fails, or a crash, leaves the steps before it.
 * @throws Error when the steps that made the database are not those of this version; it is as it was then.
 */
export function migrate(database: Database, migrations: readonly Migration[]): void {
  const step = database.transaction((): boolean => {
    // Asked inside the transaction: another process may have been at it meanwhile.
    const version = versionOf(database);
    if (!isRecorded(database)) beginRecord(database, version, migrations);
    const next = migrations[version];
    if (!next) return false;
    database.exec(next.sql);
    record(database, version + 1, next);
    database.pragma(`user_version = ${version + 1}`);
    return true;
  });
  requireSameSteps(database, migrations);
  // Without the write lock, which another process may hold for long.
  const isDone = () => versionOf(database) >= migrations.length && isRecorded(database);
  while (!isDone() && step.immediate());
}

const versionOf = (database: Database): number => database.pragma('user_version', { simple: true }) as number;

const isRecorded = (database: Database): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_step'").get() !== undefined;

function record(database: Database, number: number, migration: Migration): void {
  database
    .prepare('INSERT INTO schema_step (number, name, checksum) VALUES (?, ?, ?)')
    .run(number, migration.name, checksumOf(migration));
}

/** For new databases, and for those of the time before there was a record. */
function beginRecord(database: Database, version: number, migrations: readonly Migration[]): void {
  if (version > 0) {
    const sql = version === 1 ? sqlToFirstStep(database) : null;
    if (sql === null) {
      throw new Error(
        `its schema (version ${version}) is none that a release of Parley has made; open it with the program that ` +
          'wrote it, undo what was changed by hand, or restore a backup',
      );
    }
    database.exec(sql);
  }
  database.exec(RECORD);
  if (version > 0) record(database, 1, migrations[0]!);
}

function requireSameSteps(database: Database, migrations: readonly Migration[]): void {
  if (!isRecorded(database)) return;
  const checksums = new Map(
    database.prepare<[], [number, string]>('SELECT number, checksum FROM schema_step').raw().all(),
  );
  for (const [index, migration] of migrations.slice(0, versionOf(database)).entries()) {
    const number = index + 1;
    if (checksums.get(number) === checksumOf(migration)) continue;
    throw new Error(
      `step ${number} of its schema (${migration.name}) is not the one of this version, whose text was changed ` +
        'after its release; open it with the version that wrote it, or restore a backup that this version has made',
    );
  }
}
