import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStorage, openTableSource } from '@parley/sqlite';
import { FixedClock } from '@parley/testkit';
import { inspectPostgres, migratePostgres, movePostgres, openPostgresStorage } from './database.js';
import { createDatabase, type TestDatabase } from './testing/databases.js';

let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase({ copyOf: 'template0' });
});
afterEach(() => database.drop());

async function moveTo(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-foreign-'));
  const path = join(folder, 'parley.db');
  await openSqliteStorage({ path, clock: new FixedClock() }).close();
  const source = openTableSource(path);
  try {
    return await movePostgres(url, source, () => {});
  } finally {
    source.close();
    rmSync(folder, { recursive: true });
  }
}

/** Tables, constraints and rows of the public schema. */
const contents = async () => {
  const tables = (await database.query(
    `SELECT relname AS name, relkind AS kind FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`,
  )) as { name: string; kind: string }[];
  const constraints = await database.query(
    `SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1`,
  );
  const rows = await Promise.all(
    tables.filter(({ kind }) => kind === 'r').map(({ name }) => database.query(`SELECT * FROM "${name}"`)),
  );
  return { tables, constraints, rows };
};

const SHOP = `
  CREATE TABLE customers (id integer PRIMARY KEY, name text);
  CREATE TABLE orders (id integer PRIMARY KEY, customer integer REFERENCES customers);
  INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bob');
  INSERT INTO orders VALUES (10, 1), (11, 2);`;
const REMEDY =
  'Give Parley a schema of its own: run CREATE SCHEMA chat, and add ?options=-c%20search_path%3Dchat to the address';

describe.each([
  ['tables', SHOP, 'customers, orders'],
  ['a table of the same name as one of Parley', 'CREATE TABLE message (text text)', 'message'],
  ['a schema_step table of another shape', 'CREATE TABLE schema_step (id integer)', 'schema_step'],
  ['many tables', 'CREATE TABLE a (); CREATE TABLE b (); CREATE TABLE c (); CREATE TABLE d ()', 'a, b, c and 1 more'],
])('a schema with %s of another program', (_, sql, names) => {
  it.each([
    ['parley migrate', () => migratePostgres(database.url)],
    ['parley move', () => moveTo(database.url)],
    ['the check before a start', () => inspectPostgres(database.url)],
  ])('is rejected unchanged by %s', async (_, use) => {
    await database.run(sql);
    const before = await contents();

    await expect(use()).rejects.toThrow(`it contains tables of another program (${names}). ${REMEDY}`);
    expect(await contents()).toEqual(before);
  });
});

it('rejects a parley move unchanged if an earlier version created its tables next to those of another program', async () => {
  await migratePostgres(database.url);
  await database.run(`${SHOP} CREATE TABLE visits (realm bigint REFERENCES realm)`);
  const before = await contents();

  await expect(moveTo(database.url)).rejects.toThrow(
    `it contains tables of another program (customers, orders, visits). ${REMEDY}`,
  );
  expect(await contents()).toEqual(before);
});

it('ignores the tables of extensions', async () => {
  await database.run('CREATE EXTENSION pg_stat_statements');
  await database.run(
    'CREATE TABLE of_extension (id integer); ALTER EXTENSION pg_stat_statements ADD TABLE of_extension',
  );

  expect(await migratePostgres(database.url)).not.toEqual([]);
});

describe('a schema of its own in the database of another program', () => {
  const inSchema = () => `${database.url}&options=-c%20search_path%3Dchat`;

  beforeEach(async () => {
    await database.run(
      `${SHOP} CREATE TABLE message (text text); INSERT INTO message VALUES ('mine'); CREATE SCHEMA chat`,
    );
  });

  it('can be migrated, opened and written to without changes to the other schema', async () => {
    const before = await contents();

    await migratePostgres(inSchema());
    const storage = await openPostgresStorage({ url: inSchema(), clock: new FixedClock() });
    const rows = await storage.uow.readAcross((reads) => reads.realms.list());
    await storage.close();

    expect(rows).toEqual([]);
    expect(await contents()).toEqual(before);
    expect(await migratePostgres(inSchema())).toEqual([]);
  });

  it('can be filled by parley move', async () => {
    const before = await contents();

    expect((await moveTo(inSchema())).map(({ name }) => name)).toContain('message');
    expect(await contents()).toEqual(before);
  });
});

it('names the missing permission if the role may not create tables', async () => {
  const url = new URL(database.url);
  url.username = `guest_${database.name}`;
  await database.run(`CREATE ROLE ${url.username} LOGIN`);
  try {
    await expect(migratePostgres(url.href)).rejects.toThrow('permission denied for schema public');
  } finally {
    await database.run(`DROP ROLE ${url.username}`);
  }
});
