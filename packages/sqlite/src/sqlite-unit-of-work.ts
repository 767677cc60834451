import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError, type Repositories, type Transaction, type UnitOfWork } from '@parley/domain/shared';
import type { Database, Statement } from 'better-sqlite3';
import { Connection } from './connection.js';

/** What one commit carries at most; beyond either bound the units already waiting would notice. */
const MAX_UNITS_PER_BATCH = 100;
const MAX_BATCH_MS = 5;
/** How long a unit holds the event loop before `tx.yield` lets it turn. */
const SLICE_MS = 8;
/** Units seldom overlap, since they await nothing but the database. */
const MAX_READERS = 4;
/** Beyond that, whoever wants to write is refused at once. */
const MAX_WAITING = 10_000;
/** How long units wait while another process writes. */
const LOCK_PATIENCE_MS = 5000;
/** Between two attempts to get the lock: first, and at most. */
const LOCK_DELAYS_MS = [2, 25] as const;
/** What whoever was refused is told. */
const RETRY_AFTER_SECONDS = 1;

/**
 * A unit awaited something other than its repositories. A write would have held up every other writer; a read would have
 * kept one of few connections, and with its snapshot the write-ahead log from being folded into the file.
 */
export class UnitYielded extends Error {
  constructor() {
    super('A unit of work awaited something other than its repositories (I/O, a timer, or another unit) and was ended');
    this.name = 'UnitYielded';
  }
}

type Work<T> = (tx: Transaction) => Promise<T>;
/** Of a connection: what a unit works with, but for what the unit of work itself adds. */
export type WritableRepositories = Omit<Transaction, 'yield'>;

/** Whether what is read and written is still what is found under the database's name. */
export interface StorageGuard {
  /** Asked before each unit. @throws DomainError STORAGE_UNAVAILABLE once the files are known to be others. */
  requireIntact(): void;
  /**
   * Looks for the files that hold what is committed. Asked after each commit, before anybody is answered, and where a
   * connection is opened. @throws the same
   */
  verifyNames(): void;
}

export interface UnitOfWorkOptions {
  readonly guard?: StorageGuard;
  /** How long units wait for the lock that another process holds. */
  readonly lockPatienceMs?: number;
  /** Told, in a line for the operator, when units were refused for want of the lock. */
  readonly report?: (problem: string) => void;
  /** Milliseconds from any point in time, never backwards. */
  readonly now?: () => number;
}

const NO_GUARD: StorageGuard = { requireIntact: () => {}, verifyNames: () => {} };

interface Unit {
  readonly work: Work<unknown>;
  readonly queuedAt: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How a unit ended, before anybody knows whether it will be committed. */
type Outcome = { readonly value: unknown } | { readonly error: unknown };

/**
 * At every await another request may run, so the writer connection belongs to one unit at a time, and readers borrow
 * read-only ones (WAL), each inside its own snapshot. One commit serves every unit that queued meanwhile: each runs
 * in a savepoint, fails alone, and is answered after the commit. While another process writes, units wait in their order
 * and the event loop does not.
 */
export class SqliteUnitOfWork implements UnitOfWork {
  private readonly writer: Writer;
  private readonly readers: ReaderPool;
  private readonly guard: StorageGuard;
  private readonly lockPatienceMs: number;
  private readonly report: (problem: string) => void;
  private readonly now: () => number;
  private waiting: Unit[] = [];
  private isBatchDue = false;
  /** Set while the storage closes; called when no unit is left. */
  private onIdle: (() => void) | null = null;
  private isClosed = false;

  constructor(
    database: Database,
    openReader: () => Database,
    createRepositories: (connection: Connection) => WritableRepositories,
    {
      guard = NO_GUARD,
      lockPatienceMs = LOCK_PATIENCE_MS,
      report = () => {},
      now = () => performance.now(),
    }: UnitOfWorkOptions = {},
  ) {
    this.guard = guard;
    this.lockPatienceMs = lockPatienceMs;
    this.report = report;
    this.now = now;
    this.writer = new Writer(database, createRepositories, guard, now);
    const openIntact = () => {
      guard.verifyNames();
      return openReader();
    };
    this.readers = new ReaderPool(openIntact, createRepositories, now);
  }

  async read<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    if (this.isClosed) throw closed();
    this.guard.requireIntact();
    return this.readers.run(work);
  }

  write<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.isClosed) throw closed();
      this.guard.requireIntact();
      if (this.waiting.length >= MAX_WAITING) throw isBusy();
      this.waiting.push({
        work,
        queuedAt: this.now(),
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.scheduleBatch();
    });
  }

  /** Everything committed up to now, as a database file of its own. The file may exist, and is empty then. */
  copyTo(path: string): Promise<void> {
    return this.readers.copyTo(path);
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
    if (this.begin() || (await this.beginLater())) {
      const units = this.waiting.splice(0, MAX_UNITS_PER_BATCH);
      const left = await this.writer.commitTogether(units);
      if (left.length > 0) this.waiting.unshift(...left);
    }
    this.isBatchDue = false;
    if (this.waiting.length > 0) this.scheduleBatch();
    else this.onIdle?.();
  }

  /** False: another process writes, or nobody waits any more. */
  private begin(): boolean {
    try {
      this.guard.requireIntact();
      return this.writer.begin();
    } catch (error) {
      for (const unit of this.waiting.splice(0)) unit.reject(error);
      return false;
    }
  }

  /** Tries again until the other process is done. False: nobody waits any more. */
  private async beginLater(): Promise<boolean> {
    const startedAt = this.now();
    const [firstDelay, longestDelay] = LOCK_DELAYS_MS;
    let isReported = false;
    for (let delay: number = firstDelay; this.waiting.length > 0; delay = Math.min(2 * delay, longestDelay)) {
      await sleep(delay);
      if (this.begin()) return true;
      const now = this.now();
      const isOutOfPatience = ({ queuedAt }: Unit) => now - Math.max(startedAt, queuedAt) >= this.lockPatienceMs;
      // They wait in the order they came in.
      const count = this.waiting.findIndex((unit) => !isOutOfPatience(unit));
      const refused = this.waiting.splice(0, count === -1 ? this.waiting.length : count);
      if (refused.length > 0 && !isReported) {
        isReported = true;
        this.report(
          `Another process has held the database's write lock for ${Math.round((now - startedAt) / 1000)} s: writing is refused until it lets go`,
        );
      }
      for (const unit of refused) unit.reject(isBusy());
    }
    return false;
  }
}

/** Notices that the event loop turns under a unit, and lets it turn where the unit asks for it. */
class TurnWatch {
  private immediate: NodeJS.Immediate | undefined;
  /** Goes on with the unit, which let the event loop turn. */
  private resume: (() => void) | null = null;
  private sliceStartedAt = 0;

  constructor(private readonly now: () => number) {}

  /** Repositories answer within the turn of the event loop, so units that only await them end before this is called. */
  start(onYielded: () => void): void {
    this.sliceStartedAt = this.now();
    const onNextTurn = () => {
      this.immediate = setImmediate(onNextTurn);
      if (this.resume) this.resume();
      else onYielded();
    };
    this.immediate = setImmediate(onNextTurn);
  }

  stop(): void {
    this.goOn();
    clearImmediate(this.immediate);
  }

  /** For a unit that has not awaited the turn that it asked for. */
  goOn(): void {
    this.resume?.();
  }

  async yield(connection: Connection): Promise<void> {
    connection.requireUnit();
    if (this.now() - this.sliceStartedAt < SLICE_MS) return;
    // Whoever runs meanwhile must not reach into this unit.
    connection.suspend();
    await new Promise<void>((resolve) => {
      this.resume = () => {
        this.resume = null;
        connection.enterUnit();
        this.sliceStartedAt = this.now();
        resolve();
      };
    });
  }
}

/** The one connection that writes. */
class Writer {
  private connection: Connection;
  private tx: Transaction;
  private readonly beginImmediate: Statement;
  private readonly commit: Statement;
  private readonly rollback: Statement;
  private readonly savepoint: Statement;
  private readonly release: Statement;
  private readonly rollbackToSavepoint: Statement;
  private readonly watch: TurnWatch;
  /** Ends the running unit without waiting for it. */
  private abortUnit: (() => void) | null = null;

  constructor(
    private readonly database: Database,
    private readonly createRepositories: (connection: Connection) => WritableRepositories,
    private readonly guard: StorageGuard,
    private readonly now: () => number,
  ) {
    this.watch = new TurnWatch(now);
    this.connection = this.createConnection();
    this.tx = this.createTransaction(this.connection);
    this.beginImmediate = database.prepare('BEGIN IMMEDIATE');
    this.commit = database.prepare('COMMIT');
    this.rollback = database.prepare('ROLLBACK');
    this.savepoint = database.prepare('SAVEPOINT unit');
    this.release = database.prepare('RELEASE unit');
    this.rollbackToSavepoint = database.prepare('ROLLBACK TO unit');
  }

  /** Opens the transaction that `commitTogether` works in. False: another process writes. */
  begin(): boolean {
    try {
      this.beginImmediate.run();
      return true;
    } catch (error) {
      if (isLockedOut(error)) return false;
      throw error;
    }
  }

  /** Answers the units in order, after the commit. Returns those there was no time for. */
  async commitTogether(units: readonly Unit[]): Promise<readonly Unit[]> {
    const answers: (() => void)[] = [];
    const startedAt = this.now();
    this.watch.start(() => this.abortUnit?.());
    try {
      this.connection.enterUnit();
      for (const unit of units) {
        answers.push(await this.inSavepoint(unit));
        if (this.now() - startedAt >= MAX_BATCH_MS) break;
      }
      this.commit.run();
      // What went to a file that nobody will find again is not to be called done.
      this.guard.verifyNames();
    } catch (error) {
      // Those that come after the failure fail too: they would run into the same full disk.
      answers.length = 0;
      for (const unit of units) answers.push(() => unit.reject(error));
      this.rollBackAll();
    } finally {
      this.watch.stop();
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
    this.watch.goOn();
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
      this.abortUnit = () => {
        this.replaceRepositories();
        settle({ error: new UnitYielded() });
      };
      unit.work(this.tx).then(
        (value) => settle({ value }),
        (error: unknown) => settle({ error }),
      );
    }).then(
      (outcome) => {
        this.abortUnit = null;
        return outcome;
      },
      // It threw before it returned a promise.
      (error: unknown) => {
        this.abortUnit = null;
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
    this.connection = this.createConnection();
    this.tx = this.createTransaction(this.connection);
    this.connection.enterUnit();
    if (!isCacheable) this.connection.disableCaching();
  }

  private createConnection(): Connection {
    return new Connection(this.database, (connection) => this.watch.yield(connection));
  }

  private createTransaction(connection: Connection): Transaction {
    return withYield(this.createRepositories(connection), connection);
  }
}

const withYield = <R extends object>(repositories: R, connection: Connection): R & { yield: () => Promise<void> } =>
  Object.assign(repositories, { yield: () => connection.yield() });

/** One connection that reads, for one unit at a time. */
class Reader {
  private connection: Connection;
  private repositories: Repositories;
  private readonly begin: Statement;
  private readonly commit: Statement;
  private readonly watch: TurnWatch;

  constructor(
    readonly database: Database,
    private readonly createRepositories: (connection: Connection) => WritableRepositories,
    now: () => number,
  ) {
    this.watch = new TurnWatch(now);
    this.connection = this.createConnection();
    this.repositories = withYield(createRepositories(this.connection), this.connection);
    this.begin = database.prepare('BEGIN');
    this.commit = database.prepare('COMMIT');
  }

  async run<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    try {
      this.begin.run();
      this.connection.enterUnit();
      return await this.outcomeOf(work);
    } catch (error) {
      throw isLockedOut(error) ? isBusy() : error;
    } finally {
      this.watch.stop();
      this.connection.leaveUnit();
      if (this.database.inTransaction) this.commit.run();
    }
  }

  private outcomeOf<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.watch.start(() => {
        // It may go on later, when the connection belongs to another unit.
        this.connection.retire();
        this.connection = this.createConnection();
        this.repositories = withYield(this.createRepositories(this.connection), this.connection);
        reject(new UnitYielded());
      });
      work(this.repositories).then(resolve, reject);
    });
  }

  private createConnection(): Connection {
    return new Connection(this.database, (connection) => this.watch.yield(connection));
  }
}

/** Connections that only read. They are opened as units overlap, and kept. */
class ReaderPool {
  private readonly idle: Reader[] = [];
  private readonly all: Reader[] = [];
  private readonly waiting: ((reader: Reader) => void)[] = [];
  private onAllIdle: (() => void) | null = null;

  constructor(
    private readonly openReader: () => Database,
    private readonly createRepositories: (connection: Connection) => WritableRepositories,
    private readonly now: () => number,
  ) {
    // One is there at all times: it still sees everything when the files lose their names.
    this.idle.push(this.open());
  }

  async run<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    const reader = this.take() ?? (await this.takeNext());
    try {
      return await reader.run(work);
    } finally {
      this.giveBack(reader);
    }
  }

  async copyTo(path: string): Promise<void> {
    const reader = this.take() ?? (await this.takeNext());
    try {
      await reader.database.backup(path);
    } finally {
      this.giveBack(reader);
    }
  }

  async close(): Promise<void> {
    if (this.idle.length < this.all.length) {
      await new Promise<void>((resolve) => {
        this.onAllIdle = resolve;
      });
    }
    for (const reader of this.all) reader.database.close();
  }

  private takeNext(): Promise<Reader> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private take(): Reader | undefined {
    const reader = this.idle.pop();
    return reader || this.all.length >= MAX_READERS ? reader : this.open();
  }

  private open(): Reader {
    const opened = new Reader(this.openReader(), this.createRepositories, this.now);
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
/** By another process. */
const isLockedOut = (error: unknown): boolean =>
  String((error as { readonly code?: unknown } | null | undefined)?.code).startsWith('SQLITE_BUSY');
const isBusy = () =>
  new DomainError('SERVER_BUSY', 'The server cannot save anything right now; try again in a moment.', {
    retryAfter: RETRY_AFTER_SECONDS,
  });
