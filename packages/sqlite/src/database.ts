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
import type { SearchWords } from '@parley/domain/markdown';
import { PLAIN_TEXTS } from '@parley/domain/messages';
import Sqlite, { type Database } from 'better-sqlite3';
import { DatabaseRefused } from './engine/database-refused.js';
import { FORMER_STEPS, migrate, pendingSteps, requireNotNewer } from './engine/migrate.js';
import { isOpenHere } from './engine/storage-files.js';
import { MIGRATIONS } from './features.js';
import { defineSearchFunctions } from './messages/conditions.js';
import { SECRET_FINGERPRINT } from './users/credentials.js';

/** Marks a file as Parley's in its header: the letters `Prly`. */
export const APPLICATION_ID = 0x50726c79;

/** Of the schema that this version makes. */
export const LATEST_VERSION = MIGRATIONS.length;

/** How long SQLite itself waits, and the event loop with it, for a lock that another process holds. */
const LOCK_WAIT_MS = {
  /** Nobody else is there yet. */
  opening: 5000,
  /** The unit of work tries again, and lets the event loop turn in between. */
  writing: 2,
  /** Readers are kept waiting only while another process mends the log after a crash. */
  reading: 50,
} as const;

/** Where SQLite's file format keeps these, as big-endian integers. */
const USER_VERSION_OFFSET = 60;
const APPLICATION_ID_OFFSET = 68;
const HEADER_LENGTH = 100;
const MAGIC = 'SQLite format 3\0';

/** Called with the text of each statement that is run, parameters filled in. Slow: for tests. */
export type StatementTrace = (sql: string) => void;

/** What an existing database knows of the server it belongs to. */
export interface KnownServer {
  /** Of the secret that its API keys are derived from; null: not known yet. */
  readonly secretFingerprint: string | null;
}

/** A throw refuses the database. */
export type AdmissionCheck = (known: KnownServer) => void;

/** Of each connection. What is not in it, the system has: four times as much changes no time that could be measured. */
const PAGE_CACHE_KIB = 16_384;

export interface WriterOptions {
  readonly admit?: AdmissionCheck | undefined;
  readonly trace?: StatementTrace | undefined;
  /** What messages are found by. */
  readonly words?: SearchWords | undefined;
}

/**
 * Opens the one connection that writes; makes the database, or brings it up to the newest schema.
 * @throws DatabaseRefused, and whatever `admit` throws
 */
export function openWriter(path: string, { admit, trace, words }: WriterOptions = {}): Database {
  const isNew = checkHeader(path);
  if (isNew) makePrivate(path);
  // After a crash the log may be newer than the file. A reader looks into it without folding it in.
  const hasLog = !isNew && existsSync(`${realpathSync(path)}-wal`);
  if (hasLog) lookInto(path, (reader) => checkContents(reader, admit));
  const database = open(path, { lockWaitMs: LOCK_WAIT_MS.opening, trace });
  try {
    if (!isNew && !hasLog) checkContents(database, admit);
    // Before anything goes through the write-ahead log: the header in the file itself then says whose it is, even when
    // the process dies before the first checkpoint.
    if (isNew) database.pragma(`application_id = ${APPLICATION_ID}`);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    database.pragma(`cache_size = -${PAGE_CACHE_KIB}`);
    // Folding the log into the file holds the writer up by a few milliseconds. Doing so more seldom makes each time
    // longer, and never doing so makes every commit slower; this is SQLite's own measure, in pages.
    database.pragma('wal_autocheckpoint = 1000');
    // A long read may keep the log from being folded in; afterwards it gives the space back.
    database.pragma('journal_size_limit = 67108864');
    // Savepoints keep their rollback data here; on disk it would cost a file per batch.
    database.pragma('temp_store = MEMORY');
    defineSearchFunctions(database, words ?? PLAIN_TEXTS);
    migrate(database, MIGRATIONS);
    database.pragma(`busy_timeout = ${LOCK_WAIT_MS.writing}`);
    return database;
  } catch (error) {
    database.close();
    throw error instanceof NotAdmitted ? error.cause : refusal(path, error);
  }
}

/** Opens a connection that sees committed data only and cannot write. */
export function openReader(path: string, { trace, words }: Omit<WriterOptions, 'admit'> = {}): Database {
  const database = open(path, { isReader: true, lockWaitMs: LOCK_WAIT_MS.reading, trace });
  database.pragma(`cache_size = -${PAGE_CACHE_KIB}`);
  database.pragma('mmap_size = 268435456');
  database.pragma('temp_store = MEMORY');
  defineSearchFunctions(database, words ?? PLAIN_TEXTS);
  // With the first look SQLite opens the log as well.
  database.pragma('user_version');
  return database;
}

interface OpenOptions {
  readonly isReader?: boolean;
  readonly lockWaitMs: number;
  readonly trace?: StatementTrace | undefined;
}

function open(path: string, { isReader = false, lockWaitMs, trace }: OpenOptions): Database {
  try {
    return new Sqlite(path, {
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

/** Before anything is changed. @throws Error when the schema is not of this version, NotAdmitted */
function checkContents(database: Database, admit: AdmissionCheck | undefined): void {
  pendingSteps(database, MIGRATIONS);
  if (!admit) return;
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'server_fact'").get() !== undefined;
  const fact = isThere
    ? database.prepare<[string], string>('SELECT value FROM server_fact WHERE name = ?').pluck().get(SECRET_FINGERPRINT)
    : undefined;
  try {
    admit({ secretFingerprint: fact ?? null });
  } catch (error) {
    throw new NotAdmitted(error);
  }
}

/** What was thrown is the caller's own. */
class NotAdmitted extends Error {
  constructor(override readonly cause: unknown) {
    super('The database was not admitted');
  }
}

/** Messages are nobody else's business; the files SQLite puts beside it get the same rights. */
export function makePrivate(path: string): void {
  try {
    const file = openSync(path, 'a', 0o600);
    fchmodSync(file, 0o600); // an empty one may have been there
    closeSync(file);
  } catch {
    // SQLite reports what is wrong.
  }
}

/** Reads the header without SQLite, which might leave files beside a database that is none of ours. True: no file yet. */
export function checkHeader(path: string): boolean {
  if (!existsSync(path)) return true;
  if (isOpenHere(path)) return false;
  const header = Buffer.alloc(HEADER_LENGTH);
  try {
    if (statSync(path).isDirectory()) throw new DatabaseRefused(`Cannot open database ${path}: it is a directory`);
    accessSync(path, constants.R_OK | constants.W_OK);
    const file = openSync(path, 'r');
    try {
      // SQLite makes the file before it writes to it.
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
    // Lower versions may be of the former steps, which only the contents can tell.
    requireNotNewer(header.readUInt32BE(USER_VERSION_OFFSET), Math.max(LATEST_VERSION, FORMER_STEPS));
  } catch (error) {
    throw refusal(path, error);
  }
  return false;
}

export function refusal(path: string, error: unknown): DatabaseRefused {
  if (error instanceof DatabaseRefused) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new DatabaseRefused(`Cannot open database ${path}: ${reason}`, { cause: error });
}
