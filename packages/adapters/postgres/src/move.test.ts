import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStorage, openTableSource } from '@parley/sqlite';
import type { TableSource } from '@parley/storage';
import { FixedClock } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { migratePostgres, movePostgres } from './database.js';
import { createDatabase, type TestDatabase } from './testing/databases.js';

/** Values of the first row, the second row and so on. All numbers of a row are equal, which satisfies foreign keys. */
const NUMBERS = [1, 2 ** 31, Number.MAX_SAFE_INTEGER, 5];
const REALS = [0.1, 1e-7, 123456789012345680000, -0.5];
const TEXTS = [
  `Zoë 🦄 "quoted" 'it''s' {1,NULL} \\x41 \\\\ \r\n\t`,
  '',
  'NULL',
  '\u{10ffff}\ue000\u0001\u0002e\u0301 ‮שלום',
];
const BYTES = [Buffer.from(Array.from({ length: 256 }, (_, n) => n)), Buffer.alloc(0), Buffer.from('\\x41'), null];
/** Numbers of organizations are limited in the log, which combines them with event numbers. */
const EVENT_IDS = NUMBERS.map((_, n) => (n + 1) * 2 ** 36 + 2 ** 36 - 1 - n);

/** Tables that PostgreSQL derives or fills by itself. */
const DERIVED = ['event_log_start', 'schema_step', 'search_backlog'];
const isTable = (name: string) => !name.startsWith('sqlite_') && !name.startsWith('message_search');

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: 0 | 1;
  readonly pk: number;
}

let folder: string;
let path: string;
let target: TestDatabase;
let client: pg.Client;
/** Columns of 16 bits, as `table.column`. */
let flags: ReadonlySet<string>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-move-'));
  path = join(folder, 'parley.db');
  await openSqliteStorage({ path, clock: new FixedClock() }).close();
  target = await createDatabase({ copyOf: 'template0' });
  client = new pg.Client({ connectionString: target.url });
  await client.connect();
  await migratePostgres(target.url);
  const { rows } = await client.query(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE data_type = 'smallint'`,
  );
  flags = new Set(rows.map(({ name }) => name));
});
afterEach(async () => {
  await client.end();
  await target.drop();
  rmSync(folder, { recursive: true });
});

function inFile<T>(work: (database: Sqlite.Database) => T): T {
  const database = new Sqlite(path);
  database.pragma('foreign_keys = OFF');
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Fills each table of the schema, so that a table added later is moved here too. */
const fillTables = () =>
  inFile((database) => {
    const names = (
      database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[]
    ).filter(isTable);
    for (const table of names) {
      const columns = database.prepare('SELECT * FROM pragma_table_info(?)').all(table) as Column[];
      const insert = database.prepare(
        `INSERT OR IGNORE INTO "${table}" (${columns.map(({ name }) => `"${name}"`).join()}) VALUES (${columns.map(() => '?').join()})`,
      );
      for (let n = 0; n < NUMBERS.length; n++) insert.run(...columns.map((column) => oddValue(table, column, n)));
    }
    return names;
  });

function oddValue(table: string, { name, type, notnull, pk }: Column, n: number) {
  if (table === 'event' && name === 'id') return EVENT_IDS[n];
  const isNullable = notnull === 0 && pk === 0;
  if (isNullable && n === NUMBERS.length - 1) return null;
  if (type === 'BLOB') return BYTES[n];
  if (type === 'REAL') return REALS[n];
  if (type === 'TEXT') return TEXTS[n];
  return flags.has(`${table}.${name}`) ? Number(n === 1) : NUMBERS[n];
}

async function move(change: (source: TableSource) => TableSource = (source) => source) {
  const source = openTableSource(path);
  try {
    return await movePostgres(target.url, change(source), () => {});
  } finally {
    source.close();
  }
}

const interrupted = (source: TableSource): TableSource => ({
  ...source,
  lastIds() {
    throw new Error('interrupted');
  },
});

describe('moveInto', () => {
  it('copies odd values of each column of each table', async () => {
    const names = fillTables();
    const moved = await move();
    // Only the copy has it.
    await client.query(`DELETE FROM server_fact WHERE name = 'moved from'`);

    expect(moved.map(({ name }) => name).sort()).toEqual(names.filter((name) => !DERIVED.includes(name)).sort());
    // The counter has one row.
    expect(moved.filter(({ rows }) => rows < NUMBERS.length)).toEqual([{ name: 'scheduling_counter', rows: 1 }]);
    for (const { name } of moved) {
      const { rows, fields } = await client.query({ text: `SELECT * FROM "${name}"`, rowMode: 'array' });
      const columns = fields.map((field) => `"${field.name}"`).join();
      const original = inFile((database) => database.prepare(`SELECT ${columns} FROM "${name}"`).raw().all());
      expect([name, rows.map(textsOf).sort()]).toEqual([name, (original as unknown[][]).map(textsOf).sort()]);
    }
  });

  const inCopy = (sql: string) => () => target.run(sql);
  const inOriginal = (sql: string) => () => inFile((database) => database.exec(sql));
  it.each([
    [
      inCopy(`UPDATE snippet SET title = title || '!', content = '' WHERE id = 1`),
      'row id "1" differs in title, content',
    ],
    [inCopy('DELETE FROM snippet WHERE id = 5'), 'row id "5" is missing in the copy'],
    [
      inCopy('INSERT INTO snippet SELECT 2, realm_id, user_id, title, content, created_at FROM snippet WHERE id = 5'),
      'row id "2" is only in the copy',
    ],
    [
      inOriginal(`UPDATE snippet SET title = 'new' WHERE id = 1`),
      'row id "1" differs in title because the original was changed after it had been copied',
    ],
    [
      inOriginal('DELETE FROM snippet WHERE id > 5'),
      'row id "2147483648" is only in the copy because the original was changed after it had been copied',
    ],
  ])('names the first row that differs (%#)', async (change, difference) => {
    fillTables();
    await expect(move(interrupted)).rejects.toThrow('interrupted');
    await change();

    const text = `the copy differs from the original: table snippet, ${difference}. Begin again with an empty database`;
    await expect(move()).rejects.toThrow(new RegExp(`: ${text.replaceAll('.', '\\.')}$`));
  });
});

const textsOf = (row: readonly unknown[]) =>
  JSON.stringify(
    row.map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value === null ? null : String(value),
    ),
  );
