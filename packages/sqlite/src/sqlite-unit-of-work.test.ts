import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Transaction } from '@parley/domain';
import Sqlite, { type Database } from 'better-sqlite3';
import type { Command, Connection, Query } from './connection.js';
import { openReader, openWriter } from './database.js';
import { SqliteUnitOfWork, UnitYielded } from './sqlite-unit-of-work.js';

/** Stands for the repositories: one table of notes. */
interface Notes {
  readonly insert: Command;
  readonly all: Query<string>;
}

const directory = mkdtempSync(join(tmpdir(), 'parley-uow-'));
const opened: SqliteUnitOfWork[] = [];
let path: string;
let writer: Database;
let statements: string[];
let uow: {
  read<T>(work: (notes: Notes) => Promise<T>): Promise<T>;
  write<T>(work: (notes: Notes) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

beforeEach(() => {
  path = join(directory, `${opened.length}.db`);
  statements = [];
  writer = openWriter(path, (sql) => statements.push(sql));
  writer.exec(`
    CREATE TABLE note (text TEXT NOT NULL UNIQUE);
    CREATE TABLE shelf (id INTEGER PRIMARY KEY);
    CREATE TABLE book (shelf_id INTEGER REFERENCES shelf (id) DEFERRABLE INITIALLY DEFERRED);
  `);
  statements.length = 0;
  const notes = (connection: Connection): Notes => ({
    insert: connection.command('INSERT INTO note VALUES (?)'),
    all: connection.values('SELECT text FROM note ORDER BY rowid'),
  });
  const unit = new SqliteUnitOfWork(
    writer,
    () => openReader(path),
    notes as unknown as (connection: Connection) => Transaction,
  );
  opened.push(unit);
  uow = unit as unknown as typeof uow;
});

afterAll(async () => {
  for (const unit of opened) await unit.close();
  rmSync(directory, { recursive: true });
});

const add = (text: string) => uow.write(async (notes) => void notes.insert.run(text));
const stored = () => uow.read(async (notes) => notes.all.all());
const commits = () => statements.filter((sql) => sql === 'COMMIT').length;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
/** Keeps the event loop busy. */
function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('a batch', () => {
  it('commits once for all units that queued together, in order', async () => {
    await Promise.all(['a', 'b', 'c', 'd'].map(add));
    expect(await stored()).toEqual(['a', 'b', 'c', 'd']);
    expect(commits()).toBe(1);
  });

  it('is bounded in number', async () => {
    await Promise.all(Array.from({ length: 250 }, (_, i) => add(`${i}`)));
    expect(commits()).toBe(3);
    expect(await stored()).toHaveLength(250);
  });

  it('is bounded in time, and keeps the order of what did not fit', async () => {
    const texts = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(
      texts.map((text) =>
        uow.write(async (notes) => {
          spin(3);
          notes.insert.run(text);
        }),
      ),
    );
    expect(commits()).toBeGreaterThan(1);
    expect(await stored()).toEqual(texts);
  });

  it('answers only when another connection sees the result', async () => {
    const other = new Sqlite(path, { readonly: true });
    const seen = await add('a').then(() => other.prepare('SELECT text FROM note').pluck().all());
    other.close();
    expect(seen).toEqual(['a']);
  });

  it('lets a unit fail alone, also one that throws before it returns a promise', async () => {
    const results = await Promise.allSettled([
      add('a'),
      add('a'),
      uow.write(() => {
        throw new Error('at once');
      }),
      uow.write(async (notes) => {
        notes.insert.run('b');
        throw new Error('after a change');
      }),
      add('c'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled']);
    expect(await stored()).toEqual(['a', 'c']);
    expect(commits()).toBe(1);
  });

  it('is lost as a whole when SQLite rolls back on its own, and the next one works', async () => {
    writer.pragma(`max_page_count = ${writer.pragma('page_count', { simple: true })}`);
    const results = await Promise.allSettled([add('small'), add('x'.repeat(100_000)), add('behind')]);
    const full = { status: 'rejected', reason: { code: 'SQLITE_FULL' } };
    expect(results).toMatchObject([full, full, full]);
    writer.pragma('max_page_count = 1000000');
    expect(await stored()).toEqual([]);
    await add('again');
    expect(await stored()).toEqual(['again']);
  });

  it('is lost as a whole when its commit fails', async () => {
    const results = await Promise.allSettled([
      add('a'),
      uow.write(async () => void writer.prepare('INSERT INTO book VALUES (7)').run()),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(writer.inTransaction).toBe(false);
    expect(await stored()).toEqual([]);
  });
});

describe('a unit that yields to the event loop', () => {
  it.each([
    ['the next turn', nextTurn],
    ['a timer', () => new Promise((resolve) => setTimeout(resolve, 5))],
    ['another write', () => add('inner')],
  ])('is refused when it awaits %s; its neighbours are not', async (_, somethingElse) => {
    const yielding = uow.write(async (notes) => {
      notes.insert.run('outer');
      await somethingElse();
    });
    const results = await Promise.allSettled([add('before'), yielding, add('after')]);
    expect(results).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: expect.any(UnitYielded) },
      { status: 'fulfilled' },
    ]);
    expect((await stored()).filter((text) => text !== 'inner')).toEqual(['before', 'after']);
  });

  it('reaches nothing when it goes on later, not even in the middle of another unit', async () => {
    let goOn!: () => void;
    const until = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let late: unknown;
    const yielding = uow.write(async (notes) => {
      await until;
      try {
        notes.insert.run('late');
      } catch (error) {
        late = error;
      }
    });
    await expect(yielding).rejects.toThrow(UnitYielded);
    await uow.write(async (notes) => {
      notes.insert.run('a');
      goOn();
      await until;
      await null;
      notes.insert.run('b');
    });
    expect(late).toBeInstanceOf(Error);
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('is not mistaken for one that awaits its repositories many times', async () => {
    await uow.write(async (notes) => {
      for (let i = 0; i < 2000; i++) await Promise.resolve(notes.all.all());
      notes.insert.run('done');
    });
    expect(await stored()).toEqual(['done']);
  });
});

it('refuses repositories that were kept beyond their unit', async () => {
  const [writing, reading] = [await uow.write(async (notes) => notes), await uow.read(async (notes) => notes)];
  expect(() => writing.insert.run('late')).toThrow('after its unit of work had ended');
  expect(() => reading.all.all()).toThrow('after its unit of work had ended');
});

describe('a read', () => {
  it('keeps its snapshot while writes commit', async () => {
    await add('a');
    const seen = await uow.read(async (notes) => {
      const before = notes.all.all();
      await add('b');
      return [before, notes.all.all()];
    });
    expect(seen).toEqual([['a'], ['a']]);
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('gives its connection back when it fails', async () => {
    for (let i = 0; i < 10; i++) {
      await expect(
        uow.read(async (notes) => {
          notes.all.all();
          throw new Error('no');
        }),
      ).rejects.toThrow('no');
    }
    await add('a');
    expect(await stored()).toEqual(['a']);
  });

  it('waits for a connection when many overlap', async () => {
    await add('a');
    const reads = Array.from({ length: 20 }, () =>
      uow.read(async (notes) => {
        await nextTurn();
        return notes.all.all();
      }),
    );
    expect(await Promise.all(reads)).toEqual(Array(20).fill(['a']));
  });
});

describe('closing', () => {
  it('finishes what has begun, refuses what comes later, and leaves one file', async () => {
    const slowRead = uow.read(async (notes) => {
      await nextTurn();
      return notes.all.all();
    });
    const write = add('a');
    const closing = uow.close();
    await expect(add('b')).rejects.toThrow('closed');
    await expect(stored()).rejects.toThrow('closed');
    await Promise.all([write, closing]);
    await expect(slowRead).resolves.toEqual([]);
    expect(existsSync(`${path}-wal`)).toBe(false);
    const database = new Sqlite(path, { readonly: true });
    expect(database.prepare('SELECT text FROM note').pluck().all()).toEqual(['a']);
    database.close();
  });
});
