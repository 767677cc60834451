import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventSeq, RealmId, UnitOfWork, UnixSeconds } from '@parley/domain/kernel';
import { appendEvent, FixedClock } from '@parley/testkit';
import type { Database } from 'better-sqlite3';
import { openDatabaseFile } from '../binary.js';
import { administerDatabase, openSqliteStorage } from '../index.js';
import { openNewStorage } from '../testing/new-storage.js';
import { skipIds } from './history.js';

const REALM = 1 as RealmId;
const SKIPPED = 4096;
const NOW = 1_800_000_000 as UnixSeconds;

/** Tables that give no id to clients or applications, so that ids may repeat. */
const INTERNAL = 'alert_word bot_storage_entry host_data invitation_offer message_edit navigation_view reaction'.split(
  ' ',
);
/** Tables with ids of other tables, or with an id of a single row. */
const BORROWED = ['archived_message', 'removed_message', 'scheduling_counter', 'search_backlog', 'schema_step'];
/** Tables with ids of a counter. */
const COUNTED = ['event', 'reminder', 'scheduled_message'];

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-history-'));
  path = join(directory, 'parley.db');
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Creates a database with one organization. */
async function create(): Promise<void> {
  await openNewStorage({ path, clock: new FixedClock() }).close();
  withDatabase((database) =>
    database.exec(
      `INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                          rendered_description, permissions, user_defaults)
       VALUES (1, 1, 'a', '', '', 0, 0, '{}', '', '{}', '{}');
       INSERT INTO event_log_start VALUES (1, 0)`,
    ),
  );
}

function withDatabase<T>(work: (database: Database) => T): T {
  const database = openDatabaseFile(path);
  database.pragma('foreign_keys = OFF');
  try {
    return work(database);
  } finally {
    database.close();
  }
}

async function withUow<T>(work: (uow: UnitOfWork) => Promise<T>): Promise<T> {
  const { uow, close } = openSqliteStorage({ path, clock: new FixedClock() });
  try {
    return await work(uow);
  } finally {
    await close();
  }
}

const append = (uow: UnitOfWork): Promise<EventSeq> =>
  uow.write(REALM, (tx) => appendEvent(tx, REALM, { event: { type: 'blank' }, audience: { kind: 'nobody' } }));

interface Column {
  readonly name: string;
  readonly type: string;
  readonly pk: number;
}

const columnsOf = (database: Database, table: string) => database.pragma(`table_info("${table}")`) as readonly Column[];

/** Tables with a key assigned by SQLite, and its column. */
function tablesWithIds(database: Database): readonly (readonly [table: string, column: string])[] {
  const tables = database.pragma('table_list') as readonly { readonly name: string; readonly type: string }[];
  return tables
    .filter(({ name, type }) => type === 'table' && !name.startsWith('sqlite_'))
    .flatMap(({ name }) => {
      const [key, ...others] = columnsOf(database, name).filter(({ pk }) => pk > 0);
      const isAssigned = key?.type === 'INTEGER' && others.length === 0 && ['id', 'number'].includes(key.name);
      return isAssigned ? [[name, key.name] as const] : [];
    });
}

let rows = 0;

/** Inserts a row of any values and returns its id. */
function insertInto(database: Database, table: string, key: string): number {
  const columns = columnsOf(database, table).filter(({ name }) => name !== key);
  const values = columns.map(({ type }) => (type === 'INTEGER' ? ++rows : type === 'REAL' ? 1.5 : `"${++rows}"`));
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  const { lastInsertRowid } = database
    .prepare(`INSERT INTO "${table}" (${names}) VALUES (${columns.map(() => '?').join(', ')})`)
    .run(values.map((value, index) => (columns[index]!.type === 'BLOB' ? Buffer.from('x') : value)));
  return Number(lastInsertRowid);
}

describe('ids after a restore', () => {
  it('are beyond all that the lost rows may have had, in every table, even without rows', async () => {
    await create();
    withDatabase((database) => {
      const tables = tablesWithIds(database).filter(([name]) => ![...INTERNAL, ...BORROWED, ...COUNTED].includes(name));
      expect(tables.length).toBeGreaterThan(25);
      const unused = tables.filter((_, index) => index % 2 === 0);
      const used = new Map(tables.filter((table) => !unused.includes(table)).map((table) => [table, 0]));
      for (const table of used.keys()) {
        used.set(table, insertInto(database, ...table));
        database.exec(`DELETE FROM "${table[0]}"`);
      }
      skipIds(database, SKIPPED, NOW);
      const wrong = tables.filter((table) => insertInto(database, ...table) <= (used.get(table) ?? 0) + SKIPPED);
      expect(wrong).toEqual([]);
    });
  });

  it('are beyond those of scheduled messages, reminders and presences', async () => {
    await create();
    withDatabase((database) => skipIds(database, SKIPPED, NOW));
    await withUow(async (uow) => {
      const reserved = await uow.write(REALM, ({ presence }) => presence.reserveIds(REALM, 1));
      expect(reserved).toBe(SKIPPED + 1);
    });
    withDatabase((database) => {
      const next = database.prepare('SELECT last_id FROM scheduling_counter').pluck().get();
      expect(next).toBe(SKIPPED);
      skipIds(database, SKIPPED, NOW);
      expect(database.prepare('SELECT last_id FROM presence_counter').pluck().get()).toBe(2 * SKIPPED + 1);
    });
  });
});

describe('event log after a restore', () => {
  it.each([0, 3])('continues beyond a gap after %i events, which an event reports', async (count) => {
    await create();
    await withUow(async (uow) => {
      for (let n = 0; n < count; n++) await append(uow);
    });
    withDatabase((database) => skipIds(database, SKIPPED, NOW));
    await withUow(async (uow) => {
      const [fork] = await uow.read(REALM, ({ events }) => events.listAfter(REALM, count as EventSeq, 9));
      expect(fork).toMatchObject({ seq: count + SKIPPED, event: { type: 'forked', after: count } });
      expect(await append(uow)).toBe(count + SKIPPED + 1);
    });
  });

  it('continues after the last pruned event if it is empty', async () => {
    await create();
    await withUow(async (uow) => {
      for (let n = 0; n < 3; n++) await append(uow);
      await uow.write(REALM, ({ events }) => events.prune(REALM, 3 as EventSeq, Number.MAX_SAFE_INTEGER as never, 9));
    });
    withDatabase((database) => skipIds(database, SKIPPED, NOW));
    await withUow(async (uow) => expect(await append(uow)).toBe(3 + SKIPPED + 1));
  });

  it('is measured and shrunk across the gap', async () => {
    await create();
    await withUow(async (uow) => {
      for (let n = 0; n < 3; n++) await append(uow);
    });
    withDatabase((database) => skipIds(database, SKIPPED, NOW));
    await withUow(async (uow) => {
      for (let n = 0; n < 3; n++) await append(uow);
      const seqs = await uow.read(REALM, async ({ events }) => {
        const sizes = (await events.listRows(REALM, 0, 9)).map(({ audience, payload }) =>
          Buffer.byteLength(audience + payload),
        );
        const found: number[] = [];
        for (let kept = 0; kept <= sizes.length; kept++) {
          const bytes = sizes.slice(sizes.length - kept).reduce((sum, size) => sum + size, 0);
          found.push(await events.seqBeyond(REALM, bytes));
        }
        return found;
      });
      expect(seqs).toEqual([6 + SKIPPED, 5 + SKIPPED, 4 + SKIPPED, 3 + SKIPPED, 3, 2, 1, 0]);
    });
  });
});

describe('marks', () => {
  it('are appended, and the newest hundred are kept', async () => {
    await create();
    const history = administerDatabase(path);
    expect((await history.readHistory()).marks).toEqual([]);
    for (let n = 0; n < 102; n++) await history.addMarks([String(n)]);
    const { marks } = await history.readHistory();
    expect([marks.length, marks[0], marks.at(-1)]).toEqual([100, '2', '101']);
    await history.addMarks(['new'], ['101', '3']);
    const replaced = (await history.readHistory()).marks;
    expect([replaced.length, ...replaced.slice(0, 2), ...replaced.slice(-2)]).toEqual([99, '2', '4', '100', 'new']);
  });

  it('wait for the transaction of another connection without blocking the event loop', async () => {
    await create();
    const writer = openDatabaseFile(path, { timeout: 0 });
    writer.exec('BEGIN IMMEDIATE');
    setTimeout(() => writer.exec('COMMIT'), 60);
    await administerDatabase(path).addMarks(['a']);
    writer.close();
    expect((await administerDatabase(path).readHistory()).marks).toEqual(['a']);
  });

  it('let only one process continue the history', async () => {
    await create();
    const history = administerDatabase(path);
    const from = await history.readHistory();
    expect(await history.continueHistory(from, ['a'], 7)).toEqual([]);
    expect(await history.continueHistory(from, ['b'], 7)).toBeNull();
    expect(await history.readHistory()).toEqual({ marks: ['a'], messages: SKIPPED + 7, events: SKIPPED + 7 });
  });
});
