import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStorage } from '@parley/sqlite';
import { checksumOf } from '@parley/storage';
import { FixedClock } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { MIGRATIONS } from '../features.js';
import { createDatabase } from '../testing/databases.js';

/** Checksums by step, written by `npm run release`. */
const released = JSON.parse(readFileSync(join(__dirname, 'fixtures/released-steps.json'), 'utf8'));

/** Table regardless of the order of its columns and keys. */
interface Table {
  readonly columns: readonly string[];
  readonly primaryKey: readonly string[];
  /** Columns of each unique index, marked if the index is partial. */
  readonly unique: readonly string[];
}

type Tables = Readonly<Record<string, Table>>;

/**
 * Tables that differ on purpose: stamps for the caches of several servers, a head row for the log, rows for servers,
 * arrays for search terms, and the position of SQLite's search index.
 */
const DIFFERENT = [
  ...['cache_stamp', 'event', 'event_log_head', 'event_log_start', 'message_search', 'schema_step', 'search_backlog'],
  'server_node',
];

const isCompared = (name: string): boolean =>
  !DIFFERENT.includes(name) && !name.startsWith('message_search_') && !name.startsWith('sqlite_');

function tablesOfSqlite(): Tables {
  const folder = mkdtempSync(join(tmpdir(), 'parley-schema-'));
  const path = join(folder, 'parley.db');
  const { close } = openSqliteStorage({ path, clock: new FixedClock() });
  const database = new Sqlite(path);
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
  const columnsOf = database.prepare<[string], { readonly name: string; readonly pk: number }>(
    'SELECT name, pk FROM pragma_table_info(?)',
  );
  const uniqueOf = database
    .prepare<[string], string>(
      `SELECT (SELECT group_concat(name, ',' ORDER BY seqno) FROM pragma_index_info(l.name)) || iif(partial, '?', '')
       FROM pragma_index_list(?) l WHERE "unique" = 1 AND origin <> 'pk'`,
    )
    .pluck();
  const tables = names.filter(isCompared).map((name) => {
    const columns = columnsOf.all(name);
    const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    return [
      name,
      {
        columns: columns.map((it) => it.name).sort(),
        primaryKey: key.map((it) => it.name),
        unique: uniqueOf.all(name).sort(),
      },
    ] as const;
  });
  database.close();
  void close().then(() => rmSync(folder, { recursive: true }));
  return Object.fromEntries(tables);
}

async function tablesOfPostgres(): Promise<Tables> {
  const { url, drop } = await createDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `WITH keys AS (
       SELECT i.indrelid, i.indisprimary, i.indpred IS NOT NULL AS is_partial,
         (SELECT array_agg(a.attname::text ORDER BY k.place) FROM unnest(i.indkey) WITH ORDINALITY k (attnum, place)
          JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum) AS columns
       FROM pg_index i WHERE i.indisunique)
     SELECT c.relname AS name,
       (SELECT array_agg(a.attname::text ORDER BY a.attname) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
       (SELECT k.columns FROM keys k WHERE k.indrelid = c.oid AND k.indisprimary) AS primary_key,
       (SELECT array_agg(array_to_string(k.columns, ',') || CASE WHEN k.is_partial THEN '?' ELSE '' END)
        FROM keys k WHERE k.indrelid = c.oid AND NOT k.indisprimary) AS unique_keys
     FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`,
  );
  await client.end();
  await drop();
  const tables = rows
    .filter(({ name }) => isCompared(name))
    .map(({ name, columns, primary_key, unique_keys }) => [
      name,
      { columns: [...columns].sort(), primaryKey: primary_key, unique: (unique_keys ?? []).sort() },
    ]);
  return Object.fromEntries(tables);
}

describe('PostgreSQL schema', () => {
  it('keeps the texts of released steps', () => {
    const steps = MIGRATIONS.map((migration) => [migration.name, checksumOf(migration)]);
    expect(steps.slice(0, Object.keys(released).length)).toEqual(Object.entries(released));
  });

  it("has SQLite's tables, columns and keys", async () => {
    expect(await tablesOfPostgres()).toEqual(tablesOfSqlite());
  });

  it('states for each later step whether servers with the previous release are compatible', () => {
    const later = MIGRATIONS.slice(1).map(({ name, sql }) => [name, /^-- (expand|contract): ./.test(sql)]);
    expect(later).toEqual(later.map(([name]) => [name, true]));
    expect(later).not.toEqual([]);
  });

  it('contains no function, trigger or rule', async () => {
    const { url, drop } = await createDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace
       UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
       UNION ALL SELECT rulename FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
         WHERE c.relnamespace = 'public'::regnamespace`,
    );
    await client.end();
    await drop();
    expect(rows).toEqual([]);
  });
});
