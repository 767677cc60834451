import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checksumOf, DatabaseRefused, migrationsOf, normalizeSql, SQLITE_SCHEMA } from '@parley/storage';
import Sqlite from 'better-sqlite3';
import { LATEST_VERSION, openWriter } from '../database.js';
import { MIGRATIONS } from '../features.js';
import { BLOB_TABLES, inspectDatabase, migrateDatabase } from '../maintenance.js';
import { migrate } from './migrate.js';

/** Record of the 43 steps before the baseline, and the schema created by them. */
const former = JSON.parse(readFileSync(join(__dirname, 'fixtures/former-schema.json'), 'utf8'));

/** Lines never change. Each new step gets a new line. */
const RELEASED = [
  ['baseline', '2cec3c5b02f2ab803fbc891a63278877c5994e4400c0892f0b0b388db231322f'],
  ['authentication.002', '0dbc59d27d4f3ca73edfa8eb3a70ea4df3aad1a8bd8c14df030b927dc932c43b'],
  ['bots.003', '3ff60ab3b803a29204a3a53f9ec8584ba881ab2608f47869b2085eb6e38a56a9'],
  ['events.004', 'ee131e5ed813134bb9d6744e819508cd62462aff0c7387de052ac3e88d048a17'],
  ['push.005', 'a2fcf52ab3ddae0f8f2c4555a239a16b9d8bb8e21be5c68f54eeecd0de8bc1a4'],
  ['send-once.006', '961b2642b76bdfd681d5f79f35448678c152e86074c9939f019acab5d2642abf'],
  ['log-in-methods.007', 'a49920190a9bd8ca26b063c171d7bda6f927872d510e3bc675c1528d97a7f9b3'],
  ['leases.008', '1205a9489a9a9d31cf3390c0454b2268b1210e8c9bf2883614faac51e0753d6d'],
  ['users.009', '7a245e4eafeeef909f7db4cab501e351d9e39cc1637140297eb8d18bf42f38dc'],
  ['push.010', '50f592b5a390aaf90460264bd32b8827227b521f78a7b8a343d2c9a63a9d70c1'],
  ['web-push.011', 'c455b9bc95a9384f7a51beb8136f4eaaf2b9924b55d71b708a0412de4f62afc2'],
  ['call-counts.012', 'fd256988d8d985e36dedd433702677a24e768ed5b4f7d053ae34916bad9a1565'],
  ['missed-emails.013', '234373516d6c347765ffb851b26f7651446914944755688a3d0e69373d1571bd'],
  ['push.014', 'ce1d83d2cf85098ecbed2760ef943c511c1304cb566a263a0aadf1ad18ab24ca'],
  ['provisioning.015', '3c14b2f1b81dc73dc05e4ae2904791b7b3ba2133d0f36e610513768c40be191b'],
  ['second-factors.016', '2e175b0feb23507d385ecc56391b4d8534a5e09ad89af1e19d2a7a2c6c580dc8'],
  ['incoming-email.017', '6cdf720091361cbc72bd1ea781c23ccc977ebf73d60334d7a6a40a85bded2fab'],
  ['authentication.018', '3f6872dad0ddf7ec80503699b76c0fc256d326273d90c7cc90e6ce9c7908bd5d'],
  ['log-in-methods.019', '89679e892ac17515f59eb6e03fc93b611aaca5fe7b5a292859e931b90a06cbe6'],
  ['messages.020', '63761b24a6546273a23cd5036ce9f0e786a61ac5f44154d63fe0b03738592ce9'],
  ['messages.021', '1700a0cf13ed572bfa361567bf377730f9ec330e865b7d435049d7681ff49787'],
  ['jobs.022', '580f7a1a9b5d29245e32277c2ffc85ec8f95f795f0100839a11f373cd533ef57'],
];

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
  expect(MIGRATIONS.map((migration) => [migration.name, checksumOf(migration)])).toEqual(RELEASED);
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
    ['a number is used twice', { 'b.003.sql': 'B3' }, 'b.003.sql should have the number 4'],
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

  it('keeps the steps before a failing one, but nothing of that step', () => {
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
    for (const [, index] of matches(/CREATE (?:UNIQUE )?INDEX (\w+)/g)) database.exec(`DROP INDEX ${index}`);
    for (const [, table] of matches(/DROP TABLE (\w+)/g)) {
      const former = new RegExp(`CREATE TABLE ${table} [^;]*;|CREATE (UNIQUE )?INDEX \\w+ ON ${table} [^;]*;`, 'g');
      for (const [statement] of MIGRATIONS[0]!.sql.matchAll(former)) database.exec(statement);
    }
    for (const [, table, column] of matches(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g)) {
      database.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`);
    }
    for (const [, table] of matches(/CREATE TABLE (\w+)/g).reverse()) database.exec(`DROP TABLE ${table}`);
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
  const unknown: Step = [44, '0044-unknown', 'f'];
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
      44,
      /written by a newer version of Parley \(schema 44; this version supports \d+\)/,
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
