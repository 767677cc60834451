import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BLOB_TABLES, checksumOf, DatabaseRefused, migrationsOf, normalizeSql, SQLITE_SCHEMA } from '@parley/storage';
import Sqlite from 'better-sqlite3';
import { LATEST_VERSION, openWriter } from '../database.js';
import { MIGRATIONS } from '../features.js';
import { inspectDatabase, migrateDatabase } from '../maintenance.js';
import { migrate } from './migrate.js';

/** Record of the 43 steps before the baseline, and the schema created by them. */
const former = JSON.parse(readFileSync(join(__dirname, 'fixtures/former-schema.json'), 'utf8'));

/** Checksums by step, written by `npm run release`. */
const released = JSON.parse(readFileSync(join(__dirname, 'fixtures/released-steps.json'), 'utf8'));

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-migrations-'));
  path = join(directory, 'parley.db');
});
afterEach(() => rmSync(directory, { recursive: true }));

function newDatabase(): Sqlite.Database {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS);
  return database;
}

const rowsOf = (database: Sqlite.Database, sql: string) =>
  database.prepare<[], (string | number | null)[]>(sql).raw().all();

it('keeps the texts of released migration steps', () => {
  const steps = MIGRATIONS.map((migration) => [migration.name, checksumOf(migration)]);
  expect(steps.slice(0, Object.keys(released).length)).toEqual(Object.entries(released));
});

describe('baseline step', () => {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS.slice(0, 1));

  it('creates the tables, indexes and triggers created by the 43 former steps', () => {
    const objects = rowsOf(
      database,
      "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name",
    );
    const normalized = (all: readonly (string | number | null)[][]) =>
      all.map(([type, name, sql]) => [type, name, normalizeSql(String(sql))]);
    expect(normalized(objects)).toEqual(normalized(former.objects));
  });

  // The query planner breaks ties by index order.
  it('creates the columns, indexes and foreign keys that SQLite reported after the former steps', () => {
    const tables = (former.tables as readonly [string][]).map(([table]) => [
      table,
      rowsOf(database, `SELECT * FROM pragma_table_xinfo('${table}') ORDER BY cid`),
      rowsOf(database, `SELECT name, "unique", origin, partial FROM pragma_index_list('${table}') ORDER BY seq`),
      rowsOf(database, `SELECT * FROM pragma_foreign_key_list('${table}') ORDER BY id, seq`),
    ]);
    expect(tables).toEqual(former.tables);
  });

  it('adds the single rows of the scheduling counter and the search backlog', () => {
    expect(rowsOf(database, 'SELECT * FROM scheduling_counter')).toEqual([[1, 0]]);
    expect(rowsOf(database, 'SELECT * FROM search_backlog')).toEqual([[1, 0]]);
  });
});

it('has blob columns only in tables included in backups', () => {
  const tables = newDatabase()
    .prepare(
      `SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND c.name = 'blob' AND t.name <> 'unfinished_upload' ORDER BY t.name`,
    )
    .pluck()
    .all();
  expect(tables).toEqual([...BLOB_TABLES].sort());
});

describe('migrationsOf', () => {
  const texts = { 'b.sql': 'B', 'a.003.sql': 'A3', 'a.sql': 'A', 'b.002.sql': 'B2' };
  const stepsOf = (features: readonly string[], files: Readonly<Record<string, string>>) =>
    migrationsOf(
      features.map((schema) => ({ schema })),
      files,
      SQLITE_SCHEMA,
    );

  it('orders the baseline by feature and later steps by number', () => {
    expect(stepsOf(['b', 'a'], texts)).toEqual([
      { name: 'baseline', sql: 'B\nA' },
      { name: 'b.002', sql: 'B2' },
      { name: 'a.003', sql: 'A3' },
    ]);
  });

  it('contains later steps for features missing from the baseline', () => {
    expect(stepsOf(['a', 'c'], { 'a.sql': 'A', 'c.002.sql': 'C2' })[1]).toEqual({ name: 'c.002', sql: 'C2' });
  });

  it.each([
    ['a feature is not listed', { 'c.sql': 'C' }, 'c.sql belongs to no feature'],
    ['a step belongs to an unlisted feature', { 'c.004.sql': 'C' }, 'c.004.sql belongs to no feature'],
    ['a number is missing', { 'a.005.sql': 'A5' }, 'a.005.sql should have the number 4'],
    [
      'a number is used twice',
      { 'b.003.sql': 'B3' },
      'a.003.sql and b.003.sql have the same number; the next free number is 4',
    ],
  ])('throws when %s', (_, more, message) => {
    expect(() => stepsOf(['a', 'b'], { ...texts, ...more })).toThrow(message);
  });
});

it('migration accepts changed comments and blanks in an executed step', () => {
  const database = new Sqlite(':memory:');
  migrate(database, [{ name: 'a', sql: 'CREATE TABLE a (x TEXT -- one comment\n)' }]);
  const reworded = [{ name: 'a', sql: '-- Another comment.\nCREATE  TABLE a(x\nTEXT)' }];
  expect(() => migrate(database, reworded)).not.toThrow();
});

describe('migrate', () => {
  const steps = [
    { name: 'a', sql: 'CREATE TABLE a (x)' },
    { name: 'b', sql: 'CREATE TABLE b (x); INSERT INTO b VALUES (1)' },
    { name: 'c', sql: 'CREATE TABLE c (x); SELECT no_such_function()' },
  ];
  const state = (database: Sqlite.Database) => [
    database.pragma('user_version', { simple: true }),
    database.prepare('SELECT name FROM sqlite_schema ORDER BY name').pluck().all(),
    database.prepare('SELECT number, name FROM schema_step ORDER BY number').raw().all(),
  ];
  const afterB = [
    2,
    ['a', 'b', 'schema_step'],
    [
      [1, 'a'],
      [2, 'b'],
    ],
  ];

  it('runs each step once, in order', () => {
    const database = new Sqlite(path);
    migrate(database, steps.slice(0, 1));
    migrate(database, steps.slice(0, 2));
    migrate(database, steps.slice(0, 2));
    expect(state(database)).toEqual(afterB);
    expect(database.prepare('SELECT count(*) FROM b').pluck().get()).toBe(1);
    database.close();
  });

  it('keeps the steps before a failing one and rolls back that step', () => {
    const database = new Sqlite(path);
    expect(() => migrate(database, steps)).toThrow('no_such_function');
    expect(state(database)).toEqual(afterB);
    database.close();
  });

  it('rejects the steps if an executed one was edited', () => {
    const database = new Sqlite(path);
    migrate(database, steps.slice(0, 2));
    const edited = [steps[0]!, { name: 'b', sql: 'CREATE TABLE b (x, y)' }, { name: 'c', sql: 'CREATE TABLE c (x)' }];
    expect(() => migrate(database, edited)).toThrow(
      /^step 2 of its schema \(b\) differs from that of this version; open it with the version that wrote it/,
    );
    expect(state(database)).toEqual(afterB);
    database.close();
  });

  it('needs no write lock after all steps have run', () => {
    openWriter(path).close();
    const other = new Sqlite(path);
    other.exec('BEGIN IMMEDIATE');
    // The lock is still held, so waiting for it would fail.
    openWriter(path).close();
    other.exec('ROLLBACK');
    other.close();
  });
});

describe('database from before the baseline', () => {
  type Step = readonly [number, string, string];
  const steps: readonly Step[] = former.steps;

  /** Writes a database with a row that must be preserved. */
  function write(record: readonly Step[], version = record.length): void {
    const database = openWriter(path);
    // The former steps only created the tables of the baseline.
    const later = MIGRATIONS.slice(1).map(({ sql }) => sql);
    const matches = (pattern: RegExp) => later.flatMap((sql) => [...sql.matchAll(pattern)]);
    for (const [, index] of matches(/CREATE (?:UNIQUE )?INDEX (\w+)/g)) {
      database.exec(`DROP INDEX IF EXISTS ${index}`);
      const former = new RegExp(`CREATE (UNIQUE )?INDEX ${index} [^;]*;`).exec(MIGRATIONS[0]!.sql);
      if (former) database.exec(former[0]);
    }
    const renamed = new Map(matches(/ALTER TABLE (\w+) RENAME TO (\w+)/g).map(([, from, to]) => [from, to]));
    for (const table of renamed.values()) database.exec(`DROP TABLE ${table}`);
    for (const [, table] of matches(/DROP TABLE (\w+)/g)) {
      const former = new RegExp(`CREATE TABLE ${table} [^;]*;|CREATE (UNIQUE )?INDEX \\w+ ON ${table} [^;]*;`, 'g');
      for (const [statement] of MIGRATIONS[0]!.sql.matchAll(former)) database.exec(statement);
    }
    for (const [, table, column] of matches(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g)) {
      database.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`);
    }
    for (const [, table] of matches(/CREATE (?:VIRTUAL )?TABLE (\w+)/g).reverse()) {
      if (!renamed.has(table)) database.exec(`DROP TABLE ${table}`);
    }
    database.exec("DELETE FROM schema_step; INSERT INTO server_fact VALUES ('kept', 'yes')");
    const insert = database.prepare('INSERT INTO schema_step VALUES (?, ?, ?)');
    for (const step of record) insert.run(...step);
    database.pragma(`user_version = ${version}`);
    database.close();
  }
  const read = () => {
    const database = new Sqlite(path);
    const state = {
      version: database.pragma('user_version', { simple: true }),
      record: rowsOf(database, 'SELECT * FROM schema_step ORDER BY number'),
      kept: database.prepare("SELECT value FROM server_fact WHERE name = 'kept'").pluck().get(),
    };
    database.close();
    return state;
  };
  const recorded = MIGRATIONS.map((migration, index) => [index + 1, migration.name, checksumOf(migration)]);

  it('is recorded as a baseline database if it has all former steps', () => {
    write(steps);
    expect(inspectDatabase(path)).toMatchObject({
      schema: 43,
      latestSchema: LATEST_VERSION,
      pendingSteps: MIGRATIONS.map(({ name }) => name),
    });
    expect(migrateDatabase(path)).toEqual(MIGRATIONS.map(({ name }) => name));
    expect(read()).toEqual({ version: LATEST_VERSION, record: recorded, kept: 'yes' });
    expect(inspectDatabase(path).pendingSteps).toEqual([]);
    openWriter(path).close();
  });

  it('runs the steps after the baseline', () => {
    write(steps);
    const database = new Sqlite(path);
    const next = { name: 'snippets.002', sql: 'ALTER TABLE snippet ADD COLUMN note TEXT' };
    migrate(database, [MIGRATIONS[0]!, next]);
    expect(rowsOf(database, 'SELECT name FROM schema_step ORDER BY number')).toEqual([['baseline'], ['snippets.002']]);
    expect(database.pragma('user_version', { simple: true })).toBe(2);
    database.close();
  });

  it('keeps its record if the new one cannot be written', () => {
    write(steps);
    const database = new Sqlite(path);
    database.exec("CREATE TRIGGER failing BEFORE INSERT ON schema_step BEGIN SELECT RAISE(ABORT, 'disk full'); END");
    expect(() => migrate(database, MIGRATIONS)).toThrow('disk full');
    database.close();
    expect(read()).toEqual({ version: 43, record: steps, kept: 'yes' });
  });

  const changed = steps.map(([number, name, checksum]): Step => [number, name, number === 7 ? 'f' : checksum]);
  const later = LATEST_VERSION + 1;
  const unknown: Step = [later, 'unknown', 'f'];
  const none = /its schema \(version \d+\) was not made by a release of Parley; open it/;
  it.each<[string, readonly Step[], number, RegExp]>([
    ['has another checksum', changed, 43, none],
    ['lacks a recorded step', steps.slice(0, -1), 43, none],
    ['has an additional recorded step', [...steps, unknown], 43, none],
    ['has no record', [], 43, none],
    [
      'ends at an earlier step',
      steps.slice(0, 42),
      42,
      /ends at step 42 of the 43 that the baseline replaces; open it/,
    ],
    ['ends at the first step', steps.slice(0, 1), 1, /ends at step 1 of the 43 that the baseline replaces; open it/],
    [
      'has a later step',
      [...steps, unknown],
      later,
      new RegExp(
        `written by a newer version of Parley \\(schema ${later}; this version supports ${LATEST_VERSION}\\); run that version, or restore a backup made before the upgrade`,
      ),
    ],
  ])('is rejected and stays unchanged when it %s', (_, record, version, message) => {
    write(record, version);
    const before = readFileSync(path);
    for (const open of [openWriter, inspectDatabase, migrateDatabase]) {
      expect(() => open(path)).toThrow(DatabaseRefused);
      expect(() => open(path)).toThrow(message);
    }
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(directory)).toEqual(['parley.db']);
  });
});
