import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WriteOptions } from '@parley/domain/kernel';
import type { WritableRepositories } from '@parley/storage';
import { bytesAfterMinorCollection, machineSlowness, threadTimes } from '@parley/testkit/process-usage';
import Sqlite, { type Database } from 'better-sqlite3';
import { openReader, openWriter } from '../database.js';
import type { Command, Connection, Query } from './connection.js';
import { SqliteUnitOfWork } from './unit-of-work.js';
import { ForeignAwait } from './unit-runner.js';

/** Replaces the repositories by a single notes table. */
interface Notes {
  readonly insert: Command;
  readonly all: Query<string>;
  readonly isCacheable: () => boolean;
  readonly disableCaching: () => void;
  readonly yield: () => Promise<void>;
  readonly onRollback: (undo: () => void) => void;
}

const LOCK_PATIENCE_MS = 3000;

const directory = mkdtempSync(join(tmpdir(), 'parley-uow-'));
const opened: SqliteUnitOfWork[] = [];
let path: string;
let writer: Database;
let statements: string[];
let reports: string[];
let observed: { readonly units: number; readonly durationMs: number }[];
let onStatement: (sql: string) => void;
/** Elapsed milliseconds as seen by units. */
let spent: number;
let uow: {
  readAcross<T>(work: (notes: Notes) => Promise<T>): Promise<T>;
  writeAcross<T>(work: (notes: Notes) => Promise<T>, options?: WriteOptions): Promise<T>;
  close(): Promise<void>;
};

beforeEach(() => {
  path = join(directory, `${opened.length}.db`);
  statements = [];
  reports = [];
  observed = [];
  spent = 0;
  onStatement = () => {};
  const trace = (sql: string) => {
    statements.push(sql);
    onStatement(sql);
  };
  writer = openWriter(path, { trace });
  writer.exec(`
    CREATE TABLE note (text TEXT NOT NULL UNIQUE);
    CREATE TABLE shelf (id INTEGER PRIMARY KEY);
    CREATE TABLE book (shelf_id INTEGER REFERENCES shelf (id) DEFERRABLE INITIALLY DEFERRED);
  `);
  statements.length = 0;
  const notes = (connection: Connection) => ({
    insert: connection.command('INSERT INTO note VALUES (?)'),
    all: connection.values('SELECT text FROM note ORDER BY rowid'),
    isCacheable: () => connection.isCacheable,
    disableCaching: () => connection.disableCaching(),
    yield: () => connection.yield(),
  });
  const unit = new SqliteUnitOfWork(
    writer,
    () => openReader(path),
    notes as unknown as (connection: Connection) => WritableRepositories,
    {
      lockPatienceMs: LOCK_PATIENCE_MS,
      report: (problem) => reports.push(problem),
      now: () => spent,
      onCommit: (commit) => observed.push(commit),
    },
  );
  opened.push(unit);
  uow = unit as unknown as typeof uow;
});

afterAll(async () => {
  for (const unit of opened) await unit.close();
  rmSync(directory, { recursive: true });
});

const add = (text: string) => uow.writeAcross(async (notes) => void notes.insert.run(text));
const stored = () => uow.readAcross(async (notes) => notes.all.all());
const commits = () => statements.filter((sql) => sql === 'COMMIT').length;
/** Longer than the time slice of a unit. */
const SLICE = 10;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
/** Longer than any turn of the event loop. */
const longSleep = () => sleep(3_600_000, undefined, { ref: false });
function spend(ms: number): void {
  spent += ms;
}

describe('low-priority unit', () => {
  const addLater = (text: string, ms = 8) =>
    uow.writeAcross(
      async (notes) => {
        spend(ms);
        notes.insert.run(text);
      },
      { yields: true },
    );

  it('commits alone, before units queued later', async () => {
    await Promise.all([addLater('a'), add('b'), add('c')]);
    expect(await stored()).toEqual(['a', 'b', 'c']);
    expect(observed.map(({ units }) => units)).toEqual([1, 2]);
  });

  it('pauses for its own duration when idle and four times as long under load', async () => {
    await addLater('a');
    const second = addLater('b');
    await nextTurn();
    expect(await stored()).toEqual(['a']);
    spend(8);
    await second;
    const third = addLater('c');
    await add('d');
    spend(31);
    await add('e');
    expect(await stored()).toEqual(['a', 'b', 'd', 'e']);
    spend(1);
    await third;
    expect(await stored()).toEqual(['a', 'b', 'd', 'e', 'c']);
  });

  it('keeps its order and fails alone', async () => {
    const later = [addLater('a', 0), addLater('a', 0), addLater('b', 0)];
    const results = await Promise.allSettled([...later, add('c')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect((await stored()).filter((text) => text !== 'c')).toEqual(['a', 'b']);
  });

  it('completes without pauses before the storage closes', async () => {
    const later = [addLater('a'), addLater('b'), addLater('c')];
    await uow.close();
    await Promise.all(later);
    const reader = new Sqlite(path, { readonly: true });
    expect(reader.prepare('SELECT text FROM note ORDER BY rowid').pluck().all()).toEqual(['a', 'b', 'c']);
    reader.close();
  });
});

describe('batch of units', () => {
  it('commits all queued units once in order', async () => {
    await Promise.all(['a', 'b', 'c', 'd'].map(add));
    expect(await stored()).toEqual(['a', 'b', 'c', 'd']);
    expect(commits()).toBe(1);
    expect(observed).toEqual([{ units: 4, durationMs: 0 }]);
  });

  describe('after a batch of four units', () => {
    const arriveInTurns = async (texts: readonly string[]) => {
      const added: Promise<void>[] = [];
      for (const text of texts) {
        added.push(add(text));
        await nextTurn();
      }
      await Promise.all(added);
    };
    beforeEach(async () => {
      await Promise.all(
        ['a', 'b', 'c', 'd'].map((text) =>
          uow.writeAcross(async (notes) => {
            spend(1);
            notes.insert.run(text);
          }),
        ),
      );
    });

    it('waits for four units that arrive in separate turns', async () => {
      await arriveInTurns(['e', 'f', 'g', 'h']);
      expect(commits()).toBe(2);
      expect(await stored()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    });

    it('waits for a limited time', async () => {
      const added = add('e');
      await nextTurn();
      await nextTurn();
      expect(commits()).toBe(1);
      spend(0.7);
      await added;
      expect(commits()).toBe(2);
    });

    it('completes at once before the storage closes', async () => {
      const added = add('e');
      await uow.close();
      await added;
      expect(commits()).toBe(2);
    });

    it('expects no more units than that batch had', async () => {
      const lonely = add('e');
      spend(0.7);
      await lonely;
      await nextTurn();
      await arriveInTurns(['f', 'g']);
      expect(commits()).toBe(4);
    });
  });

  it('contains a limited number of units', async () => {
    await Promise.all(Array.from({ length: 250 }, (_, i) => add(`${i}`)));
    expect(commits()).toBe(3);
    expect(await stored()).toHaveLength(250);
  });

  it('ends at a time limit and keeps the order of postponed units', async () => {
    const texts = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(
      texts.map((text) =>
        uow.writeAcross(async (notes) => {
          spend(3);
          notes.insert.run(text);
        }),
      ),
    );
    expect(commits()).toBeGreaterThan(1);
    expect(await stored()).toEqual(texts);
  });

  it('acknowledges units only after other connections see the result', async () => {
    const other = new Sqlite(path, { readonly: true });
    const seen = await add('a').then(() => other.prepare('SELECT text FROM note').pluck().all());
    other.close();
    expect(seen).toEqual(['a']);
  });

  it('isolates a failing unit, even if it throws synchronously', async () => {
    const results = await Promise.allSettled([
      add('a'),
      add('a'),
      uow.writeAcross(() => {
        throw new Error('at once');
      }),
      uow.writeAcross(async (notes) => {
        notes.insert.run('b');
        throw new Error('after a change');
      }),
      add('c'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled']);
    expect(await stored()).toEqual(['a', 'c']);
    expect(commits()).toBe(1);
  });

  it('runs each unit once when a neighbour fails after a change', async () => {
    const runs: string[] = [];
    const run = (text: string, fails = false) =>
      uow.writeAcross(async (notes) => {
        runs.push(text);
        notes.insert.run(text);
        if (fails) throw new Error('after a change');
      });
    const results = await Promise.allSettled([run('a', true), run('b'), run('c', true), run('d')]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
    expect(runs).toEqual(['a', 'b', 'c', 'd']);
    expect(await stored()).toEqual(['b', 'd']);
    expect(observed).toEqual([{ units: 4, durationMs: 0 }]);
  });

  it('has no savepoint for a single unit, and no commit if that unit fails', async () => {
    const failing = uow.writeAcross(async (notes) => {
      notes.insert.run('lost');
      throw new Error('after a change');
    });
    await expect(failing).rejects.toThrow('after a change');
    await add('a');
    expect(statements.filter((sql) => /SAVEPOINT|ROLLBACK|COMMIT/.test(sql))).toEqual(['ROLLBACK', 'COMMIT']);
    expect(await stored()).toEqual(['a']);
    expect(observed).toEqual([{ units: 1, durationMs: 0 }]);
  });

  it("undoes a failed unit's in-memory counts before its neighbours run, and all counts if the commit fails", async () => {
    let count = 0;
    const seen: number[] = [];
    const counting = (fails = false) =>
      uow.writeAcross(async (notes) => {
        seen.push(++count);
        notes.onRollback(() => count--);
        if (fails) throw new Error('refused');
      });
    const breakCommit = () => uow.writeAcross(async () => void writer.prepare('INSERT INTO book VALUES (7)').run());
    await Promise.allSettled([counting(), counting(true), counting()]);
    expect(seen).toEqual([1, 2, 2]);
    await Promise.allSettled([counting(), breakCommit()]);
    expect([seen, count]).toEqual([[1, 2, 2, 3], 2]);
  });

  it('fails as a whole if SQLite rolls back, and the next batch succeeds', async () => {
    writer.pragma(`max_page_count = ${writer.pragma('page_count', { simple: true })}`);
    const results = await Promise.allSettled([add('small'), add('x'.repeat(100_000)), add('behind')]);
    const full = { status: 'rejected', reason: { code: 'SERVER_BUSY', cause: { code: 'SQLITE_FULL' } } };
    expect(results).toMatchObject([full, full, full]);
    await expect(add('x'.repeat(100_000))).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    writer.pragma('max_page_count = 1000000');
    expect(await stored()).toEqual([]);
    await add('again');
    expect(await stored()).toEqual(['again']);
    expect(reports).toEqual([
      'The database cannot be written to: database or disk is full. All changes are rejected.',
      'The database is writable again.',
    ]);
  });

  it('fails as a whole if its commit fails', async () => {
    const results = await Promise.allSettled([
      add('a'),
      uow.writeAcross(async () => void writer.prepare('INSERT INTO book VALUES (7)').run()),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(writer.inTransaction).toBe(false);
    expect(await stored()).toEqual([]);
    expect(observed).toEqual([]);
  });
});

describe('unit that awaits something other than its repositories', () => {
  it.each([
    ['the next turn', nextTurn],
    ['a timer', () => longSleep()],
    ['another write', () => add('inner')],
  ])('fails alone in its batch if it awaits %s', async (_, somethingElse) => {
    const yielding = uow.writeAcross(async (notes) => {
      notes.insert.run('outer');
      await somethingElse();
    });
    const results = await Promise.allSettled([add('before'), yielding, add('after')]);
    expect(results).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: expect.any(ForeignAwait) },
      { status: 'fulfilled' },
    ]);
    expect((await stored()).filter((text) => text !== 'inner')).toEqual(['before', 'after']);
  });

  it('leaves the other units of its batch and their caching intact', async () => {
    const seen: boolean[] = [];
    const look = async (notes: Notes) => void seen.push(notes.isCacheable());
    await Promise.allSettled([
      uow.writeAcross(look),
      uow.writeAcross(async (notes) => notes.disableCaching()),
      uow.writeAcross(async () => nextTurn()),
      uow.writeAcross(look),
    ]);
    await uow.writeAcross(look);
    expect(seen).toEqual([true, false, true]);
    await Promise.allSettled([uow.writeAcross(async () => nextTurn()), uow.writeAcross(look)]);
    expect(seen).toEqual([true, false, true, true]);
  });

  it('has no database access when it continues later, even during another unit', async () => {
    let goOn!: () => void;
    const until = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let late: unknown;
    const yielding = uow.writeAcross(async (notes) => {
      await until;
      try {
        notes.insert.run('late');
      } catch (error) {
        late = error;
      }
    });
    await expect(yielding).rejects.toThrow(ForeignAwait);
    await uow.writeAcross(async (notes) => {
      notes.insert.run('a');
      goOn();
      await until;
      await null;
      notes.insert.run('b');
    });
    expect(late).toBeInstanceOf(Error);
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('may call its repositories many times', async () => {
    await uow.writeAcross(async (notes) => {
      for (let i = 0; i < 2000; i++) await Promise.resolve(notes.all.all());
      notes.insert.run('done');
    });
    expect(await stored()).toEqual(['done']);
  });
});

describe('yielding unit', () => {
  it('lets timers and reads run without seeing its changes and delays other writes', async () => {
    const seen: unknown[] = [];
    let isRunning = true;
    const look = async () => {
      while (isRunning) {
        await nextTurn();
        seen.push(await stored());
      }
    };
    const looking = look();
    const long = uow.writeAcross(async (notes) => {
      for (const text of ['a', 'b', 'c', 'd']) {
        spend(SLICE);
        notes.insert.run(text);
        await notes.yield();
      }
    });
    await Promise.all([long, add('e')]);
    isRunning = false;
    await looking;
    expect(seen.length).toBeGreaterThanOrEqual(4);
    const whole = ['a', 'b', 'c', 'd'];
    for (const state of seen) expect([[], whole, [...whole, 'e']]).toContainEqual(state);
    expect(await stored()).toEqual([...whole, 'e']);
  });

  it('does not yield within its time slice', async () => {
    let turns = 0;
    const seen = await uow.writeAcross(async (notes) => {
      setImmediate(() => turns++);
      for (let i = 0; i < 100; i++) await notes.yield();
      return turns;
    });
    expect(seen).toBe(0);
  });

  it('lets concurrent repository calls finish that began before it yields', async () => {
    const long = uow.writeAcross(async (notes) => {
      const inSteps = async () => {
        for (const text of ['a', 'b', 'c']) {
          notes.insert.run(text);
          await null;
        }
      };
      spend(SLICE);
      await Promise.all([inSteps(), notes.yield(), notes.yield()]);
      notes.insert.run('d');
    });
    await long;
    expect(await stored()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('leaves no changes and intact neighbours if it fails after yielding', async () => {
    const failing = uow.writeAcross(async (notes) => {
      notes.insert.run('lost');
      spend(SLICE);
      await notes.yield();
      notes.insert.run('lost too');
      throw new Error('no');
    });
    const results = await Promise.allSettled([add('before'), failing, add('after')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await stored()).toEqual(['before', 'after']);
  });

  it('fails if it awaits anything else', async () => {
    const yielding = uow.writeAcross(async (notes) => {
      notes.insert.run('lost');
      spend(SLICE);
      await Promise.all([notes.yield(), longSleep()]);
    });
    await expect(yielding).rejects.toThrow(ForeignAwait);
    expect(await stored()).toEqual([]);
  });

  it('disables repositories kept beyond its end', async () => {
    let kept!: Notes;
    const long = uow.writeAcross(async (notes) => {
      kept = notes;
      spend(SLICE);
      await notes.yield();
      notes.insert.run('own');
    });
    await nextTurn();
    expect(() => kept.insert.run('foreign')).toThrow('before `yield` resolved');
    await long;
    expect(() => kept.yield()).rejects.toThrow('after its unit of work ended');
    expect(await stored()).toEqual(['own']);
  });

  it('commits although it did not await its yield', async () => {
    const careless = uow.writeAcross(async (notes) => {
      notes.insert.run('a');
      spend(SLICE);
      void notes.yield();
    });
    await Promise.all([careless, add('b')]);
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('rolls back a call that waited for the next time slice when the unit failed', async () => {
    const failing = uow.writeAcross(async (notes) => {
      spend(SLICE);
      void notes.yield().then(() => notes.insert.run('late'));
      throw new Error('no');
    });
    const results = await Promise.allSettled([add('before'), failing, add('after')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await stored()).toEqual(['before', 'after']);
  });

  it('completes in a separate turn after its commit', async () => {
    const order: string[] = [];
    onStatement = (sql) => {
      if (sql === 'COMMIT') setImmediate(() => order.push('turn'));
    };
    await uow.writeAcross(async (notes) => {
      notes.insert.run('one');
      spend(SLICE);
      await notes.yield();
    });
    order.push('answer');
    await add('two');
    order.push('answer');
    await nextTurn();
    expect(order).toEqual(['turn', 'answer', 'answer', 'turn']);
  });

  it('leaves the checkpoint to the next commit, or to the next turn after two long units', async () => {
    const long = 'x'.repeat(8_000_000);
    const addSlowly = (text: string) =>
      uow.writeAcross(async (notes) => {
        notes.insert.run(text);
        spend(SLICE);
        await notes.yield();
      });
    // Both the table and its index hold each text.
    const isFolded = (texts: number) => statSync(path).size > (2 * texts - 1) * long.length;
    await addSlowly(`${long} 1`);
    expect(isFolded(1)).toBe(false);
    await add('short');
    expect(isFolded(1)).toBe(true);
    await addSlowly(`${long} 2`);
    expect(isFolded(2)).toBe(false);
    await addSlowly(`${long} 3`);
    expect(isFolded(3)).toBe(true);
    await add(`${long}, at once`);
    expect(isFolded(4)).toBe(true);
  });

  it('completes before the storage closes', async () => {
    const long = uow.writeAcross(async (notes) => {
      for (const text of ['a', 'b', 'c']) {
        spend(SLICE);
        await notes.yield();
        notes.insert.run(text);
      }
    });
    await nextTurn();
    await uow.close();
    await long;
    const database = new Sqlite(path, { readonly: true });
    expect(database.prepare('SELECT text FROM note').pluck().all()).toEqual(['a', 'b', 'c']);
    database.close();
  });
});

describe('write lock held by another process', () => {
  /** Acquires the lock and returns a function that releases it. */
  async function lock(): Promise<() => Promise<void>> {
    const script = `
      const database = require(${JSON.stringify(require.resolve('better-sqlite3'))})(${JSON.stringify(path)});
      database.exec('BEGIN IMMEDIATE');
      process.stdout.write('locked');
      process.stdin.resume().on('end', () => { database.exec('COMMIT'); database.close(); });
    `;
    const other = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(other, 'close');
    await once(other.stdout, 'data');
    return async () => {
      other.stdin.end();
      await ended;
    };
  }

  /** Returns the ascending durations for which this process blocked the event loop during the work. */
  async function stallsDuring(work: Promise<unknown>): Promise<number[]> {
    const stalls: number[] = [];
    // Excludes time in which other processes occupied the core.
    const ownTime = () => performance.now() - threadTimes().waitedMs;
    let last = ownTime();
    let isDone = false;
    void work.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await sleep(1);
      const now = ownTime();
      stalls.push(now - last);
      last = now;
    }
    return stalls.sort((a, b) => a - b);
  }

  it('waits without blocking the event loop, continues reads and keeps the order', async () => {
    const slowness = await machineSlowness();
    await add('first');
    const release = await lock();
    const writes = Promise.all(Array.from({ length: 150 }, (_, i) => add(`${i}`)));
    const stalls = await stallsDuring(sleep(2000));
    expect(await stored()).toEqual(['first']);
    expect(stalls[Math.floor(stalls.length * 0.9)]).toBeLessThan(20 * slowness);
    expect(stalls.at(-1)).toBeLessThan(500 * slowness);
    await release();
    await writes;
    expect(await stored()).toEqual(['first', ...Array.from({ length: 150 }, (_, i) => `${i}`)]);
    expect(reports).toEqual([]);
  });

  it('rejects units after their timeout and continues with the others', async () => {
    const release = await lock();
    const early = Promise.allSettled(['a', 'b'].map(add));
    await nextTurn();
    spend(LOCK_PATIENCE_MS - 1);
    const late = add('c');
    await nextTurn();
    spend(1);
    const refused = { status: 'rejected', reason: { code: 'SERVER_BUSY', details: { retryAfter: 1 } } };
    expect(await early).toMatchObject([refused, refused]);
    await release();
    await late;
    expect(await stored()).toEqual(['c']);
    expect(reports).toEqual([expect.stringMatching(/^Another process has held the database's write lock for 3 s/)]);
  });

  it('closes after the timeout', async () => {
    const release = await lock();
    const write = add('a');
    const closing = uow.close();
    await nextTurn();
    spend(LOCK_PATIENCE_MS);
    await expect(write).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    await closing;
    await release();
  });
});

it('rejects writes above the maximum queue length', async () => {
  const writes = Array.from({ length: 10_001 }, (_, i) => add(`${i}`));
  await expect(writes.at(-1)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
  await Promise.all(writes.slice(0, -1));
});

it('rejects repositories kept beyond their unit', async () => {
  const [writing, reading] = [
    await uow.writeAcross(async (notes) => notes),
    await uow.readAcross(async (notes) => notes),
  ];
  expect(() => writing.insert.run('late')).toThrow('after its unit of work ended');
  expect(() => reading.all.all()).toThrow('after its unit of work ended');
});

describe('read unit', () => {
  it('keeps its snapshot while writes commit', async () => {
    await add('a');
    const other = new Sqlite(path);
    const seen = await uow.readAcross(async (notes) => {
      const before = notes.all.all();
      other.exec("INSERT INTO note VALUES ('b')");
      return [before, notes.all.all()];
    });
    other.close();
    expect(seen).toEqual([['a'], ['a']]);
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('frees its result without a full garbage collection', async () => {
    const before = bytesAfterMinorCollection();
    for (let n = 0; n < 50; n++) await uow.readAcross(async () => new Array(10_000).fill(n + 0.5));
    expect(bytesAfterMinorCollection() - before).toBeLessThan(1_000_000);
  });

  it('returns its connection when it fails', async () => {
    for (let i = 0; i < 10; i++) {
      await expect(
        uow.readAcross(async (notes) => {
          notes.all.all();
          throw new Error('no');
        }),
      ).rejects.toThrow('no');
    }
    await add('a');
    expect(await stored()).toEqual(['a']);
  });

  it('waits for a connection when many reads overlap', async () => {
    await add('a');
    const reads = Array.from({ length: 20 }, () =>
      uow.readAcross(async (notes) => {
        spend(SLICE);
        await notes.yield();
        return notes.all.all();
      }),
    );
    expect(await Promise.all(reads)).toEqual(Array(20).fill(['a']));
  });

  it.each([
    ['the next turn', nextTurn],
    ['a timer', () => longSleep()],
    ['a write', () => add('inner')],
  ])('fails and returns its connection if it awaits %s', async (_, somethingElse) => {
    for (let i = 0; i < 10; i++) {
      const yielding = uow.readAcross(async (notes) => {
        await somethingElse().catch(() => undefined);
        return notes.all.all();
      });
      await expect(yielding).rejects.toThrow(ForeignAwait);
      // Otherwise the next write would join the batch of this turn.
      await nextTurn();
    }
    await add('a');
    expect((await stored()).filter((text) => text !== 'inner')).toEqual(['a']);
  });

  it('has no database access after its rejection', async () => {
    let kept!: Notes;
    let goOn = () => {};
    let late: Promise<unknown> | undefined;
    const yielding = uow.readAcross(async (notes) => {
      kept = notes;
      late = new Promise<void>((resolve) => {
        goOn = resolve;
      }).then(() => notes.all.all());
      await late;
    });
    await expect(yielding).rejects.toThrow(ForeignAwait);
    await uow.readAcross(async (notes) => {
      goOn();
      await expect(late).rejects.toThrow('after its unit of work ended');
      expect(() => kept.all.all()).toThrow('after its unit of work ended');
      expect(notes.all.all()).toEqual([]);
    });
  });

  it('yields to the event loop and keeps its snapshot', async () => {
    let turns = 0;
    const seen = await uow.readAcross(async (notes) => {
      const before = notes.all.all();
      setImmediate(() => turns++);
      void add('a');
      for (let i = 0; i < 5; i++) {
        spend(SLICE);
        await notes.yield();
      }
      return [before, notes.all.all()];
    });
    expect([turns, seen]).toEqual([1, [[], []]]);
    expect(await stored()).toEqual(['a']);
  });
});

describe('SqliteUnitOfWork.close', () => {
  it('completes running units, rejects later ones and leaves one file', async () => {
    const slowRead = uow.readAcross(async (notes) => {
      spend(SLICE);
      await notes.yield();
      return notes.all.all();
    });
    const write = add('a');
    const closing = uow.close();
    const closed = { code: 'STORAGE_UNAVAILABLE', message: 'The storage is closed' };
    await expect(add('b')).rejects.toMatchObject(closed);
    await expect(stored()).rejects.toMatchObject(closed);
    await Promise.all([write, closing]);
    await expect(slowRead).resolves.toEqual([]);
    expect(existsSync(`${path}-wal`)).toBe(false);
    const database = new Sqlite(path, { readonly: true });
    expect(database.prepare('SELECT text FROM note').pluck().all()).toEqual(['a']);
    database.close();
  });
});
