import { ColumnQuery } from '@parley/storage';
import Sqlite from 'better-sqlite3';
import { asStatements, Connection } from './connection.js';
import { DeferredTerms } from './deferred-terms.js';

interface Row {
  readonly id: number;
  readonly name: string;
  readonly seen_at: number | null;
  readonly settings: string;
}

describe('ColumnQuery', () => {
  const database = new Sqlite(':memory:');
  const rows: readonly Row[] = [
    { id: 1, name: 'plain', seen_at: null, settings: '{"a":[1]}' },
    { id: 2, name: 'tab\t "quoted" \\ \u0000 \u2028', seen_at: 1_700_000_000, settings: '5' },
    { id: Number.MAX_SAFE_INTEGER, name: '🎉 é', seen_at: -1, settings: '{"broken' },
  ];
  const connection = new Connection(database, async () => {}, new DeferredTerms(database), false);
  const names = ['id', 'name', 'seen_at', 'settings'] as const;

  beforeAll(() => {
    database.exec('CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT, seen_at INTEGER, settings TEXT) STRICT');
    connection.enterUnit();
    const insert = database.prepare('INSERT INTO thing VALUES (?, ?, ?, ?)');
    for (const row of rows) insert.run(...names.map((name) => row[name]));
  });
  afterAll(() => database.close());

  it('returns the rows in order', async () => {
    const query = new ColumnQuery<Row>(asStatements(connection), names, 'SELECT * FROM thing ORDER BY id DESC');
    expect(await query.rows()).toEqual([...rows].reverse());
    expect(await query.columns()).toEqual(
      Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name]).reverse()])),
    );
  });

  it('returns an empty list for no rows', async () => {
    const query = new ColumnQuery<Row>(asStatements(connection), names, 'SELECT * FROM thing WHERE id < 0');
    expect(await query.rows()).toEqual([]);
    expect(await query.columns()).toEqual({ id: [], name: [], seen_at: [], settings: [] });
  });
});
