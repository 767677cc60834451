import { closeSync, fdatasyncSync, openSync, realpathSync, statSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import { checkHeader, LATEST_VERSION, makePrivate, openWriter, refusal } from './database.js';
import { DatabaseRefused } from './engine/database-refused.js';
import { pendingSteps } from './engine/migrate.js';
import { MIGRATIONS } from './features.js';
import { SECRET_FINGERPRINT } from './users/credentials.js';

/** Of a database file, as an operator sees it. */
export interface DatabaseState {
  /** How many steps have made its schema. */
  readonly schema: number;
  /** Of this version. */
  readonly latestSchema: number;
  /** Names of the steps that are still to come. */
  readonly pendingSteps: readonly string[];
  /** Of the secret that its API keys are derived from; null: not known yet. */
  readonly secretFingerprint: string | null;
  readonly bytes: number;
  /** Of the write-ahead log; 0: there is none. */
  readonly logBytes: number;
}

/** Looks into a database without changing it, beside a server that may be running. @throws DatabaseRefused */
export function inspectDatabase(path: string): DatabaseState {
  return lookInto(path, (database) => {
    const schema = database.pragma('user_version', { simple: true }) as number;
    return {
      schema,
      latestSchema: LATEST_VERSION,
      pendingSteps: stepsToRun(path, database),
      secretFingerprint: secretFingerprintIn(database),
      bytes: statSync(path).size,
      logBytes: statSync(`${realpathSync(path)}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    };
  });
}

function stepsToRun(path: string, database: Database): readonly string[] {
  try {
    return pendingSteps(database, MIGRATIONS).map(({ name }) => name);
  } catch (error) {
    throw refusal(path, error);
  }
}

/** What SQLite finds wrong with the file, one line each; empty: nothing. Reads all of it. @throws DatabaseRefused */
export function findDamage(path: string): readonly string[] {
  return lookInto(path, (database) => {
    const lines = database.pragma(`quick_check(${MAX_DAMAGE_LINES})`) as readonly { readonly quick_check: string }[];
    return lines.map((line) => line.quick_check).filter((line) => line !== 'ok');
  });
}

const MAX_DAMAGE_LINES = 20;

/** Bytes that cannot be made again: files that people have uploaded, and pictures. */
export interface KnownBlob {
  readonly blob: string;
  readonly size: number;
}

/** Bytes of unfinished uploads are elsewhere. */
export const BLOB_TABLES: readonly string[] = ['file', 'thumbnail', 'picture', 'realm_export'];

/** The blobs that the database says there are, in pages by name. @throws DatabaseRefused */
export function listBlobs(path: string, after: string, limit: number): readonly KnownBlob[] {
  return lookInto(path, (database) => {
    // A database of an earlier version may lack some.
    const tables = BLOB_TABLES.filter((name) => hasTable(database, name));
    if (tables.length === 0) return [];
    const all = tables.map((name) => `SELECT blob, size FROM ${name} WHERE blob > ?1`);
    const sql = `${all.join(' UNION ALL ')} ORDER BY blob LIMIT ?2`;
    return database.prepare<[object], KnownBlob>(sql).all({ 1: after, 2: limit });
  });
}

/** Brings the schema forward. Answers the names of the steps that were done. @throws DatabaseRefused */
export function migrateDatabase(path: string): readonly string[] {
  const { pendingSteps } = inspectDatabase(path);
  if (pendingSteps.length > 0) openWriter(path).close();
  return pendingSteps;
}

export interface CopyOptions {
  /** What is written at most before the disk has it, so that others' commits do not wait for all of it at the end. */
  readonly bytesPerSync?: number;
  /** Called after each part; may take its time, so that the copy leaves the disk to others. */
  readonly onProgress?: (copied: number, total: number) => void;
}

const PAGES_PER_STEP = 200;
const BYTES_PER_SYNC = 1024 * 1024;

/**
 * Copies a database, beside a server that may be writing to it. What was committed when the copy began is in it, and nothing
 * of what came later: all pages are read in one transaction. Otherwise SQLite would begin anew with each commit of another process.
 * @throws DatabaseRefused
 */
export async function copyDatabase(path: string, target: string, options: CopyOptions = {}): Promise<void> {
  const { bytesPerSync = BYTES_PER_SYNC, onProgress = () => {} } = options;
  const source = openBeside(path);
  try {
    source.exec('BEGIN');
    const pageSize = source.pragma('page_size', { simple: true }) as number;
    // With the first read the transaction has its snapshot.
    source.prepare('SELECT count(*) FROM sqlite_schema').get();
    makePrivate(target);
    const descriptor = openSync(target, 'r+');
    try {
      let synced = 0;
      await source.backup(target, {
        progress({ totalPages, remainingPages }) {
          const copied = (totalPages - remainingPages) * pageSize;
          if (copied - synced >= bytesPerSync) {
            fdatasyncSync(descriptor);
            synced = copied;
          }
          onProgress(copied, totalPages * pageSize);
          return PAGES_PER_STEP;
        },
      });
      source.exec('COMMIT');
      // What was written meanwhile could not be folded into the file. The server's next commit would do so and keep everybody
      // waiting; nobody waits for this process.
      source.pragma('wal_checkpoint(PASSIVE)');
    } finally {
      // Only now: closing any descriptor of a file drops the locks that the process has on it.
      closeSync(descriptor);
    }
  } finally {
    source.close();
  }
  // A copy is one file. It came with the mode of the original, whose log is not part of it.
  const copy = new Sqlite(target);
  copy.pragma('journal_mode = DELETE');
  copy.close();
}

function lookInto<T>(path: string, look: (database: Database) => T): T {
  const database = openBeside(path);
  try {
    return look(database);
  } finally {
    database.close();
  }
}

/**
 * Not read-only: the last one to close a database then could not tidy up its log, and would leave files behind.
 * @throws DatabaseRefused
 */
function openBeside(path: string): Database {
  if (checkHeader(path)) throw new DatabaseRefused(`Cannot open database ${path}: there is none`);
  try {
    const database = new Sqlite(path, { fileMustExist: true, timeout: 5000 });
    database.pragma('query_only = ON');
    return database;
  } catch (error) {
    throw refusal(path, error);
  }
}

const hasTable = (database: Database, name: string): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;

function secretFingerprintIn(database: Database): string | null {
  if (!hasTable(database, 'server_fact')) return null;
  const statement = database.prepare<[string], string>('SELECT value FROM server_fact WHERE name = ?').pluck();
  return statement.get(SECRET_FINGERPRINT) ?? null;
}
