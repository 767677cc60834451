import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock, UnitOfWork } from '@parley/domain/kernel';
import { htmlMessages } from '@parley/markdown';
import { openPostgresStorage } from '@parley/postgres';
import { createDatabase } from '@parley/postgres/testing';
import { openSqliteStorage } from '@parley/sqlite';
import { intercepting } from '@parley/testkit';
import Sqlite from 'better-sqlite3';

/** Content of a SQLite file, or name of an unused PostgreSQL database. */
export type StoredContents = Buffer | string;

export interface LoggedPages {
  /** Another after each restart of the log. */
  readonly salt: string;
  readonly count: number;
  /** Size of a page in the log. */
  readonly frameBytes: number;
}

const NO_PAGES: LoggedPages = { salt: '', count: 0, frameBytes: 0 };

/** Storage of a test server. */
export interface TestStorage {
  readonly uow: UnitOfWork;
  /** Number of successful writes. */
  readonly commits: number;
  /** Number of units of work; on PostgreSQL, each costs at least one round trip. */
  readonly units: number;
  /** Statements that ran, oldest first; empty on PostgreSQL. */
  readonly statements: readonly string[];
  /** Pages in SQLite's write-ahead log, which restarts after checkpoints; none on PostgreSQL. */
  loggedPages(): LoggedPages;
  /** Everything stored: bytes of SQLite's files, rows of PostgreSQL. */
  stored(): Promise<string>;
  /** All rows as texts, sorted, by table; those of search indexes left out. */
  rows(): Promise<Readonly<Record<string, readonly string[]>>>;
  /** Removes what deleted rows leave in SQLite's files, as a running server does every day. */
  eraseDeleted(): Promise<void>;
  /** Removes the storage's data outside the process. */
  close(): Promise<void>;
  /** Called before closing. Resolves to the content of the closed storage, for initializing others. */
  keepContents(): Promise<StoredContents>;
  /** Opens the same database again, like another process. */
  openAgain(clock?: Clock): Promise<TestStorage>;
}

/** Database and its location. */
interface Place extends Pick<TestStorage, 'statements' | 'loggedPages' | 'stored' | 'rows'> {
  open(clock: Clock): Promise<{ readonly uow: UnitOfWork; eraseDeleted?(): Promise<void>; close(): Promise<void> }>;
  contents(): StoredContents;
  remove(): Promise<void>;
}

/** True in the Jest project for PostgreSQL. */
export const isOnPostgres = process.env.PARLEY_TEST_POSTGRES !== undefined;

/** Opens a separate database, empty or with given content. */
export async function openTestStorage(clock: Clock, contents?: StoredContents): Promise<TestStorage> {
  const place = isOnPostgres ? await placeOnServer(contents as string) : placeInFile(contents as Buffer);
  return openAt(place, clock, true);
}

function placeInFile(contents: Buffer | undefined): Place {
  const path = join(mkdtempSync(join(tmpdir(), 'parley-http-')), 'parley.db');
  if (contents) writeFileSync(path, contents);
  const statements: string[] = [];
  return {
    statements,
    loggedPages: () => pagesInLog(`${path}-wal`),
    stored: async () =>
      [path, `${path}-wal`].map((file) => (existsSync(file) ? readFileSync(file, 'latin1') : '')).join(''),
    async rows() {
      const database = new Sqlite(path, { readonly: true });
      try {
        const tables = database.prepare(
          "SELECT name FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
        );
        return Object.fromEntries(
          (tables.pluck().all() as string[]).map((name) => {
            const rows = database.prepare(`SELECT * FROM "${name}"`).safeIntegers().raw().all() as unknown[][];
            return [name, rows.map((row) => row.map(textOf).join('|')).sort()];
          }),
        );
      } finally {
        database.close();
      }
    },
    open: async (clock) =>
      openSqliteStorage({ path, clock, words: htmlMessages, trace: (sql) => statements.push(sql) }),
    contents: () => readFileSync(path),
    remove: async () => rmSync(dirname(path), { recursive: true }),
  };
}

/** Values of type `bytea` in a row's text. */
const BYTES = /\\+x((?:[0-9a-f]{2})+)/g;

const textOf = (value: unknown): string => (Buffer.isBuffer(value) ? value.toString('hex') : String(value));

/** Reads the frames since the last restart of a write-ahead log (sqlite.org/walformat.html). */
function pagesInLog(path: string): LoggedPages {
  const log = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (log.length < 32) return NO_PAGES;
  const [frameBytes, salt] = [24 + log.readUInt32BE(8), log.toString('hex', 16, 24)];
  let count = 0;
  for (let at = 32; at + frameBytes <= log.length && log.toString('hex', at + 8, at + 16) === salt; at += frameBytes) {
    count++;
  }
  return { salt, count, frameBytes };
}

async function placeOnServer(copyOf: string | undefined): Promise<Place> {
  const { url, name, query, drop } = await createDatabase(copyOf === undefined ? {} : { copyOf });
  let isKept = false;
  const rows = async () => {
    const tables = "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'";
    const found: Record<string, readonly string[]> = {};
    for (const { name } of (await query(tables)) as readonly { readonly name: string }[]) {
      const texts = (await query(`SELECT t::text AS text FROM "${name}" t ORDER BY 1`)) as readonly {
        readonly text: string;
      }[];
      found[name] = texts.map(({ text }) => text);
    }
    return found;
  };
  return {
    statements: [],
    loggedPages: () => NO_PAGES,
    stored: async () =>
      JSON.stringify(await rows()).replace(BYTES, (_, hex) => Buffer.from(hex, 'hex').toString('latin1')),
    rows,
    open: (clock) => openPostgresStorage({ url, clock, words: htmlMessages }),
    contents() {
      isKept = true;
      return name;
    },
    async remove() {
      if (!isKept) await drop();
    },
  };
}

async function openAt(place: Place, clock: Clock, isOwner: boolean): Promise<TestStorage> {
  const { uow, eraseDeleted = async () => {}, close } = await place.open(clock);
  let commits = 0;
  let units = 0;
  let keep: ((contents: StoredContents) => void) | undefined;
  return {
    statements: place.statements,
    loggedPages: () => place.loggedPages(),
    stored: () => place.stored(),
    rows: () => place.rows(),
    eraseDeleted,
    uow: intercepting(uow, {
      read: (work, run) => {
        units++;
        return run(work);
      },
      write: async (work, run) => {
        units++;
        const result = await run(work);
        commits++;
        return result;
      },
    }),
    get commits() {
      return commits;
    },
    get units() {
      return units;
    },
    async close() {
      await close();
      if (!isOwner) return;
      keep?.(place.contents());
      await place.remove();
    },
    keepContents: () =>
      new Promise((resolve) => {
        keep = resolve;
      }),
    openAgain: (other = clock) => openAt(place, other, false),
  };
}
