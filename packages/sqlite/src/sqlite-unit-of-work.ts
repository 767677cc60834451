import type { Repositories, Transaction, UnitOfWork } from '@parley/domain';
import type { Database, Statement } from 'better-sqlite3';
import { Connection } from './connection.js';

/** What one commit carries at most; beyond either bound the units already waiting would notice. */
const MAX_UNITS_PER_BATCH = 100;
const MAX_BATCH_MS = 5;
/** Units seldom overlap, since they await nothing but the database. */
const MAX_READERS = 4;

/** A unit awaited something other than its repositories, which would have held up every other writer. */
export class UnitYielded extends Error {
  constructor() {
    super(
      'A unit of work awaited something other than its repositories (I/O, a timer, or another write) and was rolled back',
    );
    this.name = 'UnitYielded';
  }
}

type Work<T> = (tx: Transaction) => Promise<T>;

interface Unit {
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How a unit ended, before anybody knows whether it will be committed. */
type Outcome = { readonly value: unknown } | { readonly error: unknown };

/**
 * At every await another request may run, so the writer connection belongs to one unit at a time, and readers borrow
 * read-only ones (WAL), each inside its own snapshot. One commit serves every unit that queued meanwhile: each runs
 * in a savepoint, fails alone, and is answered after the commit.
 */
export class SqliteUnitOfWork implements UnitOfWork {
  private readonly writer: Writer;
  private readonly readers: ReaderPool;
  private waiting: Unit[] = [];
  private isBatchDue = false;
  /** Set while the storage closes; called when no unit is left. */
  private onIdle: (() => void) | null = null;
  private isClosed = false;

  constructor(
    database: Database,
    openReader: () => Database,
    createRepositories: (connection: Connection) => Transaction,
  ) {
    this.writer = new Writer(database, createRepositories);
    this.readers = new ReaderPool(openReader, createRepositories);
  }

  async read<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    if (this.isClosed) throw closed();
    return this.readers.run(work);
  }

  write<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.isClosed) throw closed();
      this.waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      this.scheduleBatch();
    });
  }

  /** Finishes what has begun, then closes every connection; the last one folds the write-ahead log into the file. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.isBatchDue) {
      await new Promise<void>((resolve) => {
        this.onIdle = resolve;
      });
    }
    await this.readers.close();
    this.writer.close();
  }

  private scheduleBatch(): void {
    if (this.isBatchDue) return;
    this.isBatchDue = true;
    setImmediate(() => void this.runBatch());
  }

  private async runBatch(): Promise<void> {
    const units = this.waiting.splice(0, MAX_UNITS_PER_BATCH);
    const left = await this.writer.commitTogether(units);
    if (left.length > 0) this.waiting.unshift(...left);
    this.isBatchDue = false;
    if (this.waiting.length > 0) this.scheduleBatch();
    else this.onIdle?.();
  }
}

/** The one connection that writes. */
class Writer {
  private connection: Connection;
  private tx: Transaction;
  private readonly begin: Statement;
  private readonly commit: Statement;
  private readonly rollback: Statement;
  private readonly savepoint: Statement;
  private readonly release: Statement;
  private readonly rollbackToSavepoint: Statement;
  /** Ends the running unit without waiting for it. */
  private giveUp: (() => void) | null = null;

  constructor(
    private readonly database: Database,
    private readonly createRepositories: (connection: Connection) => Transaction,
  ) {
    this.connection = new Connection(database);
    this.tx = createRepositories(this.connection);
    this.begin = database.prepare('BEGIN IMMEDIATE');
    this.commit = database.prepare('COMMIT');
    this.rollback = database.prepare('ROLLBACK');
    this.savepoint = database.prepare('SAVEPOINT unit');
    this.release = database.prepare('RELEASE unit');
    this.rollbackToSavepoint = database.prepare('ROLLBACK TO unit');
  }

  /** Answers the units in order, after the commit. Returns those there was no time for. */
  async commitTogether(units: readonly Unit[]): Promise<readonly Unit[]> {
    const answers: (() => void)[] = [];
    // Repositories answer within the turn of the event loop, so a batch that only awaits them ends before this.
    let watch = setImmediate(() => onNextTurn());
    const onNextTurn = () => {
      watch = setImmediate(onNextTurn);
      this.giveUp?.();
    };
    const startedAt = performance.now();
    try {
      this.begin.run();
      this.connection.enterUnit();
      for (const unit of units) {
        answers.push(await this.inSavepoint(unit));
        if (performance.now() - startedAt >= MAX_BATCH_MS) break;
      }
      this.commit.run();
    } catch (error) {
      // Those that come after the failure fail too: they would run into the same full disk.
      answers.length = 0;
      for (const unit of units) answers.push(() => unit.reject(error));
      this.rollBackAll();
    } finally {
      clearImmediate(watch);
      this.connection.leaveUnit();
    }
    for (const answer of answers) answer();
    return units.slice(answers.length);
  }

  close(): void {
    this.connection.retire();
    this.database.close();
  }

  /** Runs one unit. Returns how it is answered once the batch is durable. @throws when the whole batch is lost */
  private async inSavepoint(unit: Unit): Promise<() => void> {
    this.savepoint.run();
    const outcome = await this.outcomeOf(unit);
    if ('value' in outcome) {
      this.release.run();
      return () => unit.resolve(outcome.value);
    }
    // A full disk or an I/O error makes SQLite roll back everything, without being asked.
    if (!this.database.inTransaction) throw outcome.error;
    this.rollbackToSavepoint.run();
    this.release.run();
    return () => unit.reject(outcome.error);
  }

  private outcomeOf(unit: Unit): Promise<Outcome> {
    return new Promise<Outcome>((settle) => {
      this.giveUp = () => {
        this.replaceRepositories();
        settle({ error: new UnitYielded() });
      };
      unit.work(this.tx).then(
        (value) => settle({ value }),
        (error: unknown) => settle({ error }),
      );
    }).then(
      (outcome) => {
        this.giveUp = null;
        return outcome;
      },
      // It threw before it returned a promise.
      (error: unknown) => {
        this.giveUp = null;
        return { error };
      },
    );
  }

  private rollBackAll(): void {
    try {
      if (this.database.inTransaction) this.rollback.run();
    } catch {
      // Then the next BEGIN fails and says so; the units of this batch are to be answered all the same.
    }
  }

  /** A unit that was given up may go on later; what it holds in its hands must not reach the database then. */
  private replaceRepositories(): void {
    const { isCacheable } = this.connection;
    this.connection.retire();
    this.connection = new Connection(this.database);
    this.tx = this.createRepositories(this.connection);
    this.connection.enterUnit();
    if (!isCacheable) this.connection.holdCaches();
  }
}

interface Reader {
  readonly connection: Connection;
  readonly repositories: Repositories;
  readonly begin: Statement;
  readonly commit: Statement;
}

/** Connections that only read. They are opened as units overlap, and kept. */
class ReaderPool {
  private readonly idle: Reader[] = [];
  private readonly all: Reader[] = [];
  private readonly waiting: ((reader: Reader) => void)[] = [];
  private onAllIdle: (() => void) | null = null;

  constructor(
    private readonly openReader: () => Database,
    private readonly createRepositories: (connection: Connection) => Repositories,
  ) {}

  async run<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    const reader = this.take() ?? (await new Promise<Reader>((resolve) => this.waiting.push(resolve)));
    try {
      reader.begin.run();
      reader.connection.enterUnit();
      return await work(reader.repositories);
    } finally {
      reader.connection.leaveUnit();
      if (reader.connection.database.inTransaction) reader.commit.run();
      this.giveBack(reader);
    }
  }

  async close(): Promise<void> {
    if (this.idle.length < this.all.length) {
      await new Promise<void>((resolve) => {
        this.onAllIdle = resolve;
      });
    }
    for (const reader of this.all) reader.connection.database.close();
  }

  private take(): Reader | undefined {
    const reader = this.idle.pop();
    if (reader || this.all.length >= MAX_READERS) return reader;
    const database = this.openReader();
    const connection = new Connection(database);
    const opened: Reader = {
      connection,
      repositories: this.createRepositories(connection),
      begin: database.prepare('BEGIN'),
      commit: database.prepare('COMMIT'),
    };
    this.all.push(opened);
    return opened;
  }

  private giveBack(reader: Reader): void {
    const next = this.waiting.shift();
    if (next) {
      next(reader);
      return;
    }
    this.idle.push(reader);
    if (this.idle.length === this.all.length) this.onAllIdle?.();
  }
}

const closed = () => new Error('The storage is closed');
