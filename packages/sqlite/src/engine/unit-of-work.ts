import { setTimeout as sleep } from 'node:timers/promises';
import type { Repositories, Transaction, UnitOfWork, WriteOptions } from '@parley/domain/kernel';
import type { Database } from 'better-sqlite3';
import type { StorageGuard } from './storage-guard.js';
import { ReaderPool } from './unit-readers.js';
import type { CreateRepositories } from './unit-runner.js';
import { type Unit, UnitWriter } from './unit-writer.js';
import { isDiskFailure, sqliteErrorOf, storageBusy, writeFailure } from './write-failures.js';

/** What one commit carries at most. */
const MAX_UNITS_PER_BATCH = 100;
/** Beyond that, whoever wants to write is refused at once. */
const MAX_WAITING = 10_000;
/** What a unit that gives way leaves to others, in multiples of the time that it took: if none comes, and at most. */
const REST = { idle: 1, busy: 4 } as const;
/** How long units wait while another process writes. */
const LOCK_PATIENCE_MS = 5000;
/** Between two attempts to get the lock: first, and at most. */
const LOCK_DELAYS_MS = [2, 25] as const;
/** Between two lines for the operator while the disk fails. */
const FAILURE_REPORT_MS = 60_000;

type Work<T> = (tx: Transaction) => Promise<T>;

export interface UnitOfWorkOptions {
  readonly guard?: StorageGuard;
  /** How long units wait for the lock that another process holds. */
  readonly lockPatienceMs?: number;
  /** Called with a line for the operator when units were refused because another process held the lock, or the disk failed. */
  readonly report?: (problem: string) => void;
  /** Called after every commit that succeeded. */
  readonly onCommit?: (commit: Commit) => void;
  /** Milliseconds from any point in time, never backwards. */
  readonly now?: () => number;
}

/** One transaction that is on the disk. */
export interface Commit {
  /** How many units it carried, those that failed among them. */
  readonly units: number;
  /** From its beginning until it was on the disk. */
  readonly durationMs: number;
}

const NO_GUARD: StorageGuard = { requireIntact: () => {}, verifyNames: () => {} };

/**
 * At every await another request may run, so the writer connection belongs to one unit at a time, and readers borrow
 * read-only ones (WAL), each inside its own snapshot. One commit serves every unit that queued meanwhile: each fails alone,
 * and is answered after the commit. While another process writes, units wait in their order
 * and the event loop does not.
 */
export class SqliteUnitOfWork implements UnitOfWork {
  private readonly writer: UnitWriter;
  private readonly readers: ReaderPool;
  private readonly guard: StorageGuard;
  private readonly lockPatienceMs: number;
  private readonly report: (problem: string) => void;
  private readonly now: () => number;
  private readonly onCommit: ((commit: Commit) => void) | undefined;
  private waiting: Unit[] = [];
  /** Units that give way, until they have their turn. */
  private readonly givingWay: Unit[] = [];
  /** Of the last one that gave way; others have been served since it ended, or not. */
  private rest = { startedAt: 0, durationMs: 0, hasServed: false };
  private restTimer: NodeJS.Timeout | undefined;
  private isBatchDue = false;
  /** When it was last logged that the disk fails; null: it does not. */
  private failureReportedAt: number | null = null;
  /** Set while the storage closes; called when no unit is left. */
  private onIdle: (() => void) | null = null;
  private isClosed = false;

  constructor(
    database: Database,
    openReader: () => Database,
    createRepositories: CreateRepositories,
    {
      guard = NO_GUARD,
      lockPatienceMs = LOCK_PATIENCE_MS,
      report = () => {},
      now = () => performance.now(),
      onCommit,
    }: UnitOfWorkOptions = {},
  ) {
    this.guard = guard;
    this.lockPatienceMs = lockPatienceMs;
    this.report = report;
    this.now = now;
    this.onCommit = onCommit;
    this.writer = new UnitWriter(database, createRepositories, guard, now);
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

  write<T>(work: Work<T>, { givesWay = false, onCommit }: WriteOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.isClosed) throw closed();
      this.guard.requireIntact();
      if (this.waitingWrites >= MAX_WAITING) throw storageBusy();
      (givesWay ? this.givingWay : this.waiting).push({
        work,
        givesWay,
        queuedAt: this.now(),
        ...(onCommit && { onCommit }),
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.scheduleBatch();
    });
  }

  /** Units that wait to be written. */
  get waitingWrites(): number {
    return this.waiting.length + this.givingWay.length;
  }

  /** Everything committed up to now, as a database file of its own. The file may exist, and is empty then. */
  copyTo(path: string): Promise<void> {
    return this.readers.copyTo(path);
  }

  /** Finishes what has begun, then closes every connection; the last one folds the write-ahead log into the file. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.restTimer);
    this.scheduleBatch();
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
    if (this.waiting.length > 0 || this.restLeftMs() === 0) {
      this.isBatchDue = true;
      setImmediate(() => void this.runBatch());
    } else if (this.givingWay.length > 0) {
      clearTimeout(this.restTimer);
      this.restTimer = setTimeout(() => this.scheduleBatch(), this.restLeftMs());
    }
  }

  /** Until a unit that gives way has its turn; infinite: there is none. */
  private restLeftMs(): number {
    if (this.givingWay.length === 0) return Number.POSITIVE_INFINITY;
    if (this.isClosed) return 0;
    const { startedAt, durationMs, hasServed } = this.rest;
    return Math.max(0, startedAt + durationMs * (hasServed ? REST.busy : REST.idle) - this.now());
  }

  /** In their order. A unit that gives way is the first of those that wait, and has a commit of its own. */
  private takeBatch(): readonly Unit[] {
    return this.waiting.splice(0, this.waiting[0]?.givesWay ? 1 : MAX_UNITS_PER_BATCH);
  }

  private async runBatch(): Promise<void> {
    if (this.restLeftMs() === 0) this.waiting.unshift({ ...this.givingWay.shift()!, queuedAt: this.now() });
    if (this.begin() || (await this.beginLater())) {
      const units = this.takeBatch();
      const startedAt = this.now();
      const { left, isCommitted, failure } = await this.writer.commitTogether(units);
      if (isCommitted || failure !== null) this.reportDisk(failure);
      if (units[0]?.givesWay) {
        const endedAt = this.now();
        this.rest = { startedAt: endedAt, durationMs: endedAt - startedAt, hasServed: false };
      } else this.rest.hasServed = true;
      if (isCommitted) this.onCommit?.({ units: units.length - left.length, durationMs: this.now() - startedAt });
      if (left.length > 0) this.waiting.unshift(...left);
    }
    this.isBatchDue = false;
    this.scheduleBatch();
    if (this.waitingWrites === 0) this.onIdle?.();
  }

  /** False: another process writes, or nobody waits any more. */
  private begin(): boolean {
    try {
      this.guard.requireIntact();
      return this.writer.begin();
    } catch (error) {
      this.reportDisk(error);
      for (const unit of this.waiting.splice(0)) unit.reject(writeFailure(error));
      return false;
    }
  }

  /** Tells the operator that writing fails, now and then, and that it works again. Null: it does. */
  private reportDisk(failure: unknown): void {
    if (failure === null) {
      if (this.failureReportedAt !== null) this.report('The database can be written to again.');
      this.failureReportedAt = null;
    } else if (isDiskFailure(failure)) {
      if (this.failureReportedAt !== null && this.now() - this.failureReportedAt < FAILURE_REPORT_MS) return;
      this.failureReportedAt = this.now();
      const { message } = sqliteErrorOf(failure);
      this.report(`The database cannot be written to: ${message}. Whatever would change something is refused.`);
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
      for (const unit of refused) unit.reject(storageBusy());
    }
    return false;
  }
}

const closed = () => new Error('The storage is closed');
