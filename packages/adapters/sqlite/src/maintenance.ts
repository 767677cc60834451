import { closeSync, fdatasyncSync, openSync, realpathSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  BlobRecord,
  Clock,
  CopyOptions,
  DatabaseState,
  ErasureRecord,
  FutureRows,
  StorageAdministration,
  StoredText,
  UnixSeconds,
} from '@parley/domain/kernel';
import {
  BLOB_TABLES,
  blobsSql,
  COPY_FACT,
  DatabaseRefused,
  futureRowsSql,
  idsToSkip,
  SECRET_FINGERPRINT,
} from '@parley/storage';
import type { Database } from 'better-sqlite3';
import { openDatabaseFile } from './binary.js';
import {
  checkHeader,
  factIn,
  INSTALLATION_FACT,
  LATEST_VERSION,
  makePrivate,
  openWriter,
  refusal,
  requireLog,
} from './database.js';
import { pendingSteps } from './engine/migrate.js';
import { isLockedOut } from './engine/write-failures.js';
import { MIGRATIONS } from './features.js';
import { addMarks, continueHistory, readHistory, skipIds } from './kernel/history.js';

const SYSTEM_CLOCK = { now: () => Math.floor(Date.now() / 1000) as UnixSeconds };

/** Operator commands for a database file. All methods may be called while a server uses it. */
export const administerDatabase = (path: string, clock: Pick<Clock, 'now'> = SYSTEM_CLOCK): StorageAdministration => ({
  inspect: () => inspectDatabase(path),
  migrate: () => migrateDatabase(path),
  findFuture: (now) => lookInto(path, (database) => database.prepare<[], FutureRows>(futureRowsSql(now)).all()),
  findDamage: () => findDamage(path),
  listBlobs: (after, limit) => listBlobs(path, after, limit),
  listErasures: () => listErasures(path),
  readTexts: (take, options) => readTexts(path, take, options),
  copy: (target, options) => copyDatabase(path, target, options),
  endQueues: () => change(path, (database) => database.exec('DELETE FROM event_queue')),
  endSessions: () => change(path, (database) => database.prepare('DELETE FROM session').run().changes),
  skipIds: (secondsLost) => change(path, (database) => skipIds(database, idsToSkip(secondsLost), clock.now())),
  markCopy: (isCopy) => change(path, (database) => markCopy(database, isCopy)),
  readHistory: async () => lookInto(path, readHistory),
  addMarks: (...marks) => changeInServer(path, (database) => addMarks(database, ...marks)),
  continueHistory: (...lost) => changeInServer(path, (database) => continueHistory(database, ...lost, clock.now())),
  compact: () => compactDatabase(path),
});

/** Inspects a database without changing it, even while a server uses it. @throws DatabaseRefused */
export function inspectDatabase(path: string): DatabaseState {
  return lookInto(path, (database) => {
    const schema = database.pragma('user_version', { simple: true }) as number;
    return {
      isCompacted: database.pragma('auto_vacuum', { simple: true }) !== 0,
      installation: factIn(database, INSTALLATION_FACT),
      isCopy: factIn(database, COPY_FACT) !== null,
      schema,
      latestSchema: LATEST_VERSION,
      pendingSteps: stepsToRun(path, database),
      secretFingerprint: factIn(database, SECRET_FINGERPRINT),
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

/**
 * Returns the problems found by SQLite's integrity check, one line each. Reads the whole file. @throws
 * DatabaseRefused
 */
export function findDamage(path: string): readonly string[] {
  return lookInto(path, (database) => {
    const lines = database.pragma(`quick_check(${MAX_DAMAGE_LINES})`) as readonly { readonly quick_check: string }[];
    return lines.map((line) => line.quick_check).filter((line) => line !== 'ok');
  });
}

const MAX_DAMAGE_LINES = 20;

/** Returns the blobs listed in the database, in pages by name. @throws DatabaseRefused */
export function listBlobs(path: string, after: string, limit: number): readonly BlobRecord[] {
  return lookInto(path, (database) => {
    // An older database may lack some tables.
    const tables = BLOB_TABLES.filter((name) => hasTable(database, name));
    if (tables.length === 0) return [];
    return database.prepare<[object], BlobRecord>(blobsSql('?1', '?2', tables)).all({ 1: after, 2: limit });
  });
}

/** Returns the erasures of all organizations, oldest first. @throws DatabaseRefused */
export function listErasures(path: string): readonly ErasureRecord[] {
  return lookInto(path, (database) => {
    if (!hasTable(database, 'erasure')) return [];
    const columns = database.pragma('table_info(erasure)') as readonly { readonly name: string }[];
    const everythingWritten = columns.some(({ name }) => name === 'everything_written') ? 'everything_written' : '0';
    const rows = database
      .prepare<[], Omit<ErasureRecord, 'everythingWritten'> & { readonly everythingWritten: 0 | 1 }>(
        `SELECT realm_id AS realmId, uuid AS realmUuid, person_id AS personId, requested_at AS requestedAt,
           ${everythingWritten} AS everythingWritten
         FROM erasure JOIN realm ON realm.id = realm_id ORDER BY erasure.id`,
      )
      .all();
    return rows.map((row) => ({ ...row, everythingWritten: row.everythingWritten === 1 }));
  });
}

interface ListedTable {
  readonly schema: string;
  readonly name: string;
  readonly type: 'table' | 'virtual' | 'shadow' | 'view';
  /** 1 for tables without row ids. */
  readonly wr: 0 | 1;
}

/** Part of a page that the payload of a row always gets, also in an index (sqlite.org/fileformat.html). */
const CONTIGUOUS_SHARE = 1 / 8;

/**
 * Reads rows with text or bytes, and the terms of the search indexes, which are compressed in their tables.
 * @throws DatabaseRefused
 */
export function readTexts(
  path: string,
  take: (text: StoredText) => void,
  { onlySplit }: { readonly onlySplit: boolean },
): void {
  lookInto(path, (database) => {
    const pageSize = database.pragma('page_size', { simple: true }) as number;
    const longerThan = onlySplit ? pageSize * CONTIGUOUS_SHARE : -1;
    const tables = (database.pragma('table_list') as readonly ListedTable[]).filter(({ schema }) => schema === 'main');
    for (const table of tables) if (table.type === 'table') readRows(database, table, longerThan, take);
    // Permits temporary tables.
    database.pragma('query_only = OFF');
    for (const { name } of tables.filter(({ type }) => type === 'virtual')) {
      if (!isSearchIndex(database, name)) continue;
      database.exec(`CREATE VIRTUAL TABLE temp.${name}_terms USING fts5vocab('main', '${name}', 'row')`);
      let row = 0;
      const terms = database.prepare<[], [Buffer]>(`SELECT CAST(term AS BLOB) FROM temp.${name}_terms`).raw();
      for (const [bytes] of terms.iterate()) take({ table: `${name} (terms)`, row: ++row, bytes });
    }
  });
}

const isSearchIndex = (database: Database, name: string): boolean =>
  /USING fts5\b/i.test(
    database.prepare<[string], string>('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(name) ?? '',
  );

function readRows(
  database: Database,
  { name, wr }: ListedTable,
  longerThan: number,
  take: (text: StoredText) => void,
): void {
  const columns = database.pragma(`table_info("${name}")`) as readonly {
    readonly name: string;
    readonly type: string;
  }[];
  // Columns of internal tables have no type.
  const texts = columns.filter(({ type }) => ['TEXT', 'BLOB', 'ANY', ''].includes(type.toUpperCase()));
  if (texts.length === 0) return;
  const joined = texts.map((column) => `coalesce("${column.name}", '')`).join(` || x'0A' || `);
  const bytes = texts.map((column) => `coalesce(octet_length("${column.name}"), 0)`).join(' + ');
  const rows = database
    .prepare<[number], [number, Buffer]>(
      `SELECT ${wr === 1 ? '0' : 'rowid'}, CAST(${joined} AS BLOB) FROM "${name}" WHERE ${bytes} > ?`,
    )
    .raw();
  let position = 0;
  for (const [id, content] of rows.iterate(longerThan)) {
    position++;
    take({ table: name, row: wr === 1 ? position : id, bytes: content });
  }
}

/** Migrates the schema and returns the names of the executed steps. @throws DatabaseRefused */
export function migrateDatabase(path: string): readonly string[] {
  const { pendingSteps } = inspectDatabase(path);
  if (pendingSteps.length > 0) openWriter(path).close();
  return pendingSteps;
}

const PAGES_PER_STEP = 200;
const BYTES_PER_SYNC = 1024 * 1024;

/**
 * Copies a database while a server may be writing to it. The copy holds exactly the data committed when it began. All
 * pages are read in one transaction, because SQLite would otherwise restart after each commit of another process.
 * @throws DatabaseRefused
 */
export async function copyDatabase(path: string, target: string, options: CopyOptions = {}): Promise<void> {
  const { bytesPerSync = BYTES_PER_SYNC, onProgress = () => {} } = options;
  const source = openBeside(path);
  try {
    source.exec('BEGIN');
    const pageSize = source.pragma('page_size', { simple: true }) as number;
    // The first read establishes the snapshot.
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
      // The copy delayed checkpoints. Running one here spares the server a slow commit.
      source.pragma('wal_checkpoint(PASSIVE)');
    } finally {
      // Closed only now, because closing any descriptor of a file drops the locks of the process.
      closeSync(descriptor);
    }
  } finally {
    source.close();
  }
  // Reduces the copy to one file: it inherited the log mode of the original but not the log.
  const copy = openDatabaseFile(target);
  copy.pragma('journal_mode = DELETE');
  copy.close();
}

/** Changes a database; without a `timeout`, one that no server uses. @throws DatabaseRefused */
function change<T>(path: string, work: (database: Database) => T): T {
  const database = openDatabaseFile(path, { fileMustExist: true, timeout: 0 });
  try {
    return work(database);
  } catch (error) {
    throw refusal(path, error);
  } finally {
    database.close();
  }
}

/** Time to wait for the writes of servers. */
const LOCK_WAIT_MS = 5000;
const LOCK_RETRY_MS = 50;

/** Yields to the event loop between attempts, because a unit of work of this process may hold the lock. */
async function changeInServer<T>(path: string, work: (database: Database) => T): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += LOCK_RETRY_MS) {
    try {
      return change(path, work);
    } catch (error) {
      if (waitedMs >= LOCK_WAIT_MS || !isLockedOut((error as Error).cause)) throw error;
    }
    await sleep(LOCK_RETRY_MS);
  }
}

function markCopy(database: Database, isCopy: boolean): void {
  if (isCopy) database.prepare("INSERT OR REPLACE INTO server_fact VALUES (?, 'yes')").run(COPY_FACT);
  else database.prepare('DELETE FROM server_fact WHERE name = ?').run(COPY_FACT);
}

/**
 * Rewrites the file without free pages and remains of deleted rows, and lets servers keep it so. No other process may use
 * the database.
 * @throws DatabaseRefused
 */
export function compactDatabase(path: string): void {
  if (checkHeader(path)) throw new DatabaseRefused(`Cannot open database ${path}: it does not exist`);
  requireLog(path);
  const database = openDatabaseFile(path, { fileMustExist: true, timeout: 0 });
  try {
    // Fails if another connection is open.
    database.pragma('journal_mode = DELETE');
    database.pragma('secure_delete = ON');
    // Merges the index, which would otherwise keep the terms of deleted messages.
    if (hasTable(database, 'message_search')) {
      database.exec("INSERT INTO message_search (message_search) VALUES ('optimize')");
    }
    database.pragma('auto_vacuum = INCREMENTAL');
    database.exec('VACUUM');
    database.pragma('journal_mode = WAL');
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'SQLITE_BUSY') {
      throw new DatabaseRefused(`Cannot compact database ${path}: another process uses it. Stop the server first.`);
    }
    throw refusal(path, error);
  } finally {
    database.close();
  }
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
 * Opens a database that other processes may use. Writable, because the last connection must be able to remove the log.
 * @throws DatabaseRefused
 */
function openBeside(path: string): Database {
  if (checkHeader(path)) throw new DatabaseRefused(`Cannot open database ${path}: it does not exist`);
  try {
    const database = openDatabaseFile(path, { fileMustExist: true, timeout: LOCK_WAIT_MS });
    database.pragma('query_only = ON');
    return database;
  } catch (error) {
    throw refusal(path, error);
  }
}

const hasTable = (database: Database, name: string): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
