import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { MissingLibrary } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { PLAIN_TEXTS } from '@parley/domain/messages';
import { COPY_FACT, DatabaseRefused, SECRET_FINGERPRINT } from '@parley/storage';
import type { Database } from 'better-sqlite3';
import { openDatabaseFile } from './binary.js';
import { FORMER_STEPS, migrate, pendingSteps, requireNotNewer } from './engine/migrate.js';
import { isLogLost, isOpenHere } from './engine/storage-files.js';
import { MIGRATIONS } from './features.js';
import { defineSearchFunctions } from './messages/conditions.js';

/** Application id in the file header: the letters `Prly`. */
export const APPLICATION_ID = 0x50726c79;

/** Name of the fact that identifies the database and its copies. */
export const INSTALLATION_FACT = 'installation';
/** Name of the fact with the database to which `parley move` has copied this one. */
export const MOVED_FACT = 'moved to';

/** Schema version of this release. */
export const LATEST_VERSION = MIGRATIONS.length;

/** Time for which SQLite blocks the event loop while another process holds a lock. */
const LOCK_WAIT_MS = {
  /** At startup, no other work is waiting yet. */
  opening: 5000,
  /** The unit of work retries and yields to the event loop in between. */
  writing: 0,
  /** Readers wait only while another process recovers the log after a crash. */
  reading: 50,
} as const;

/** Offsets in SQLite's file header, as big-endian integers. */
const USER_VERSION_OFFSET = 60;
const APPLICATION_ID_OFFSET = 68;
const HEADER_LENGTH = 100;
const MAGIC = 'SQLite format 3\0';

/** Called with each executed statement with its parameters filled in. Slow; for tests only. */
export type StatementTrace = (sql: string) => void;

/** Server data in an existing database. */
export interface ServerRecord {
  /** Fingerprint of the secret from which API keys are derived; null if not stored yet. */
  readonly secretFingerprint: string | null;
  /** Number of schema steps that opening the database would run. */
  readonly pendingSteps: number;
}

/** Throws to reject the database. */
export type AdmissionCheck = (server: ServerRecord) => void;

/** Page cache per connection; other pages are cached by the operating system. */
const PAGE_CACHE_KIB = 16_384;

export interface WriterOptions {
  readonly admit?: AdmissionCheck | undefined;
  readonly trace?: StatementTrace | undefined;
  /** Splits messages into indexed words. */
  readonly words?: SearchWords | undefined;
}

/**
 * Opens the only writing connection; creates the database or migrates its schema.
 * @throws DatabaseRefused, or the error thrown by `admit`
 */
export function openWriter(path: string, { admit, trace, words }: WriterOptions = {}): Database {
  const isNew = checkHeader(path);
  if (isNew) makePrivate(path);
  else if (!isOpenHere(path)) requireLog(path);
  // After a crash the log may be newer than the file. A reader can inspect it without a checkpoint.
  const hasLog = !isNew && existsSync(`${realpathSync(path)}-wal`);
  if (hasLog) lookInto(path, (reader) => checkContents(reader, admit));
  const database = open(path, { lockWaitMs: LOCK_WAIT_MS.opening, trace });
  try {
    if (!isNew && !hasLog) checkContents(database, admit);
    // True for a new file, and for one emptied by SQLite's recovery from a crash, although its header was ours.
    if (database.pragma('application_id', { simple: true }) !== APPLICATION_ID) identify(database);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    database.pragma(`cache_size = -${PAGE_CACHE_KIB}`);
    // SQLite's default checkpoint interval in pages. Less frequent checkpoints take longer each; without any, every
    // commit becomes slower.
    database.pragma('wal_autocheckpoint = 1000');
    // Truncates the log after a long read has delayed its checkpoint.
    database.pragma('journal_size_limit = 67108864');
    // Keeps rollback data of savepoints in memory; on disk each batch would create a file.
    database.pragma('temp_store = MEMORY');
    // Overwrites deleted rows and free pages with zeros, so that nothing deleted remains in the file.
    database.pragma('secure_delete = ON');
    defineSearchFunctions(database, words ?? PLAIN_TEXTS);
    migrate(database, MIGRATIONS);
    // Needs no write lock if the fact is there.
    if (factIn(database, INSTALLATION_FACT) === null) {
      database
        .prepare('INSERT INTO server_fact VALUES (?, ?) ON CONFLICT DO NOTHING')
        .run(INSTALLATION_FACT, randomUUID());
    }
    database.pragma(`busy_timeout = ${LOCK_WAIT_MS.writing}`);
    return database;
  } catch (error) {
    database.close();
    throw error instanceof NotAdmitted ? error.cause : refusal(path, error);
  }
}

/**
 * Writes the first page. The file header identifies the database from its first byte, before the write-ahead log is
 * enabled, so that a crash never leaves a file that could belong to another program.
 */
const identify = (database: Database): void =>
  database.transaction(() => {
    // Takes effect only before the first page is written. `compactDatabase` changes older databases.
    database.pragma('auto_vacuum = INCREMENTAL');
    database.pragma(`application_id = ${APPLICATION_ID}`);
  })();

/** Opens a read-only connection that sees only committed data. */
export function openReader(path: string, { trace, words }: Omit<WriterOptions, 'admit'> = {}): Database {
  const database = open(path, { isReader: true, lockWaitMs: LOCK_WAIT_MS.reading, trace });
  database.pragma(`cache_size = -${PAGE_CACHE_KIB}`);
  database.pragma('mmap_size = 268435456');
  database.pragma('temp_store = MEMORY');
  defineSearchFunctions(database, words ?? PLAIN_TEXTS);
  // The first read also opens the log.
  database.pragma('user_version');
  return database;
}

/** Identity of a database. A copy has the same `id` and another `place`. */
export interface Installation {
  readonly id: string;
  readonly place: string;
  /** True for a copy for trying things. */
  readonly isCopy: boolean;
}

export const installationOf = (database: Database, path: string): Installation => ({
  id: factIn(database, INSTALLATION_FACT)!,
  place: placeOf(path),
  isCopy: factIn(database, COPY_FACT) !== null,
});

/** Changes when the file is copied, and stays when it is renamed. */
export const placeOf = (path: string): string => `inode ${statSync(path, { bigint: true }).ino}`;

interface OpenOptions {
  readonly isReader?: boolean;
  readonly lockWaitMs: number;
  readonly trace?: StatementTrace | undefined;
}

function open(path: string, { isReader = false, lockWaitMs, trace }: OpenOptions): Database {
  try {
    return openDatabaseFile(path, {
      readonly: isReader,
      fileMustExist: isReader,
      timeout: lockWaitMs,
      verbose: trace && ((sql) => trace(String(sql))),
    });
  } catch (error) {
    throw refusal(path, error);
  }
}

function lookInto(path: string, look: (database: Database) => void): void {
  const database = open(path, { isReader: true, lockWaitMs: LOCK_WAIT_MS.opening });
  try {
    look(database);
  } catch (error) {
    throw error instanceof NotAdmitted ? error.cause : refusal(path, error);
  } finally {
    database.close();
  }
}

/** Runs before anything is changed. @throws Error if the schema is not of this version, NotAdmitted */
function checkContents(database: Database, admit: AdmissionCheck | undefined): void {
  const { length } = pendingSteps(database, MIGRATIONS);
  const target = factIn(database, MOVED_FACT);
  if (target !== null) {
    throw new Error(
      `parley move has copied it to ${target}, which servers use now. To use this file again and abandon the copy, run ` +
        'parley move --undo --from with this file',
    );
  }
  if (!admit) return;
  const secretFingerprint = factIn(database, SECRET_FINGERPRINT);
  try {
    admit({ secretFingerprint, pendingSteps: length });
  } catch (error) {
    throw new NotAdmitted(error);
  }
}

/** Returns null if the database lacks the fact, or was created by a release without facts. */
export function factIn(database: Database, name: string): string | null {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'server_fact'").get() !== undefined;
  if (!isThere) return null;
  return database.prepare<[string], string>('SELECT value FROM server_fact WHERE name = ?').pluck().get(name) ?? null;
}

/** Wraps the error thrown by the caller's check. */
class NotAdmitted extends Error {
  constructor(override readonly cause: unknown) {
    super('The database was not admitted');
  }
}

/** @throws DatabaseRefused if the latest changes were lost with the write-ahead log */
export function requireLog(path: string): void {
  const real = realpathSync(path);
  if (!isLogLost(real)) return;
  throw new DatabaseRefused(
    `Cannot open database ${path}: its write-ahead log ${real}-wal was deleted or shortened, and the latest changes were in it. ` +
      `Put it back, or restore a backup. To continue without these changes, stop every server that uses it and delete ${real}-shm.`,
  );
}

/**
 * Creates the file, or restricts access to the owner; SQLite creates its side files with the same mode. @throws
 * MissingLibrary before a file is created that nothing could use
 */
export function makePrivate(path: string): void {
  openDatabaseFile(':memory:').close();
  try {
    const file = openSync(path, 'a', 0o600);
    fchmodSync(file, 0o600); // an existing empty file may have another mode
    closeSync(file);
  } catch {
    // SQLite reports the problem later.
  }
}

/**
 * Reads the header without SQLite, which could create side files next to another program's database. Returns true if
 * there is no file yet.
 */
export function checkHeader(path: string): boolean {
  if (!existsSync(path)) return true;
  if (isOpenHere(path)) return false;
  const header = Buffer.alloc(HEADER_LENGTH);
  try {
    if (statSync(path).isDirectory()) throw new DatabaseRefused(`Cannot open database ${path}: it is a directory`);
    accessSync(path, constants.R_OK | constants.W_OK);
    const file = openSync(path, 'r');
    try {
      // SQLite creates the file before it writes to it.
      if (readSync(file, header, 0, HEADER_LENGTH, 0) === 0) return true;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw refusal(path, error);
  }
  const isOurs =
    header.toString('latin1', 0, MAGIC.length) === MAGIC &&
    header.readUInt32BE(APPLICATION_ID_OFFSET) === APPLICATION_ID;
  if (!isOurs) throw new DatabaseRefused(`Cannot open database ${path}: it belongs to another program`);
  try {
    // Lower versions may be from before the baseline, which only the contents can tell.
    const version = header.readUInt32BE(USER_VERSION_OFFSET);
    if (version > FORMER_STEPS) requireNotNewer(version, LATEST_VERSION);
  } catch (error) {
    throw refusal(path, error);
  }
  return false;
}

/** True for a file that this release can open as a database with contents. */
export function isDatabaseFile(path: string): boolean {
  try {
    return !checkHeader(path);
  } catch {
    return false;
  }
}

export function refusal(path: string, error: unknown): DatabaseRefused | MissingLibrary {
  if (error instanceof DatabaseRefused || error instanceof MissingLibrary) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new DatabaseRefused(`Cannot open database ${path}: ${reason}`, { cause: error });
}
