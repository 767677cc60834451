import type { GroupId } from '@parley/domain/kernel';
import Sqlite from 'better-sqlite3';
import { Quarantine } from './quarantine.js';
import { ColumnReader, groupSettingsColumn } from './rows.js';

interface Row {
  readonly id: number;
  readonly name: string;
  readonly seen_at: number | null;
  readonly settings: string;
}

describe('ColumnReader', () => {
  const database = new Sqlite(':memory:');
  const rows: readonly Row[] = [
    { id: 1, name: 'plain', seen_at: null, settings: '{"a":[1]}' },
    { id: 2, name: 'tab\t "quoted" \\ \u0000 \u2028', seen_at: 1_700_000_000, settings: '5' },
    { id: Number.MAX_SAFE_INTEGER, name: '🎉 é', seen_at: -1, settings: '{"broken' },
  ];
  const read = (reader: ColumnReader<Row>): string[] => database.prepare<[], string[]>(reader.sql).raw().get()!;
  const names = ['id', 'name', 'seen_at', 'settings'] as const;

  beforeAll(() => {
    database.exec('CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT, seen_at INTEGER, settings TEXT) STRICT');
    const insert = database.prepare('INSERT INTO thing VALUES (?, ?, ?, ?)');
    for (const row of rows) insert.run(...names.map((name) => row[name]));
  });
  afterAll(() => database.close());

  it('returns the rows in order', () => {
    const reader = new ColumnReader<Row>(names, '(SELECT * FROM thing ORDER BY id DESC)');
    expect(reader.rows(read(reader))).toEqual([...rows].reverse());
    expect(reader.parse(read(reader))).toEqual(
      Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name]).reverse()])),
    );
  });

  it('returns an empty list for no rows', () => {
    const reader = new ColumnReader<Row>(names, '(SELECT * FROM thing WHERE id < 0)');
    expect(reader.rows(read(reader))).toEqual([]);
    expect(reader.parse(read(reader))).toEqual({ id: [], name: [], seen_at: [], settings: [] });
  });
});

describe('groupSettingsColumn', () => {
  const refusing = new Quarantine((problem) => {
    throw new Error(problem);
  });
  const nobody = () => 1 as GroupId;
  const newReader = () => {
    const column = groupSettingsColumn({ canSee: {}, canSend: {} }, 'thing');
    return (id: number, canSee: number) =>
      column.fromJson(JSON.stringify({ canSee, canSend: 8 }), id, refusing, nobody);
  };

  it('returns the same object until the row changes', () => {
    const read = newReader();
    const first = read(1, 7);
    expect(first).toEqual({ canSee: 7, canSend: 8 });
    expect(read(2, 9)).toEqual({ canSee: 9, canSend: 8 });
    expect(read(1, 7)).toBe(first);
    expect(read(1, 9)).toEqual({ canSee: 9, canSend: 8 });
    expect(read(1, 7)).toEqual(first);
  });

  it('caches a limited number of rows', () => {
    const read = newReader();
    const first = read(0, 7);
    for (let id = 1; id < 20_000; id++) read(id, 7);
    expect(read(0, 7)).toBe(first);
    read(20_000, 7);
    expect(read(0, 7)).not.toBe(first);
  });
});
