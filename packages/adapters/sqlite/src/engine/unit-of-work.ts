import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  type CancelTimer,
  DomainError,
  type RealmId,
  type Repositories,
  type Timers,
  type Transaction,
  type UnitOfWork,
  type WriteOptions,
} from '@parley/domain/kernel';
import type { Commit } from '@parley/storage';
import type { Database } from 'better-sqlite3';
import { TermsMissing } from './deferred-terms.js';
import { Erasure } from './erasure.js';
import type { CreateRepositories } from './feature.js';
import type { StorageGuard } from './storage-guard.js';
import { ReaderPool } from './unit-readers.js';
import { type Unit, UnitWriter } from './unit-writer.js';
import { isDiskFailure, sqliteErrorOf, storageBusy, writeFailure } from './write-failures.js';

/** Maximum number of units per commit. */
const MAX_UNITS_PER_BATCH = 100;
/**
 * Maximum time for which a batch waits for as many units as the last one had. It also ends after the duration of the last
 * batch, so that fast disks wait less.
 */
const MAX_FORMING_MS = 0.7;
/** Delay of the terms of new messages in the search index; a search adds them at once. */
const TERMS_DELAY_MS = 1000;
/** Maximum number of attempts of a read to see an index with all messages; the last attempt accepts a stale index. */
const MAX_TERMS_TRIES = 5;
/** Maximum queue length; further writes are rejected immediately. */
const MAX_WAITING = 10_000;
/** Pause after a low-priority unit in multiples of its duration: without and with other writes. */
const REST = { idle: 1, busy: 4 } as const;
/** Maximum time for which units wait while another process writes. */
const LOCK_PATIENCE_MS = 5000;
/** First and maximum delay between attempts to acquire the lock. */
const LOCK_DELAYS_MS = [1, 4] as const;
/** Number of attempts to empty the log while reads use it, and the pause between them. */
const LOG_TRIES = { count: 10, pauseMs: 100 } as const;
/** Minimum interval between operator messages while the disk fails. */
const FAILURE_REPORT_MS = 60_000;

type Work<T> = (tx: Transaction) => Promise<T>;

export interface UnitOfWorkOptions {
  readonly guard?: StorageGuard;
  /** Maximum wait for a lock held by another process. */
  readonly lockPatienceMs?: number;
  /** Receives a message for the operator when units are rejected because of a foreign lock or a disk failure. */
  readonly report?: (problem: string) => void;
  /** Called after every successful commit. */
  readonly onCommit?: (commit: Commit) => void;
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number;
  /** Default: the system's timers, which keep no process alive. */
  readonly after?: Timers['after'];
}

function afterSystemTime(ms: number, run: () => void): CancelTimer {
  const timer = setTimeout(run, ms).unref();
  return () => clearTimeout(timer);
}

const NO_GUARD: StorageGuard = { requireIntact: () => {}, verifyNames: () => {} };

/**
 * Unit of work with one writer connection, used by one unit at a time, and pooled read-only connections (WAL), each
 * with its own snapshot. One commit covers all units queued by then; each fails alone and completes after the commit.
 * While another process writes, units wait in order without blocking the event loop.
 */
export class SqliteUnitOfWork implements UnitOfWork {
  private readonly writer: UnitWriter;
  private readonly readers: ReaderPool;
  private readonly guard: StorageGuard;
  private readonly lockPatienceMs: number;
  private readonly after: Timers['after'];
  private readonly report: (problem: string) => void;
  private readonly now: () => number;
  private readonly onCommit: ((commit: Commit) => void) | undefined;
  private waiting: Unit[] = [];
  /** Waiting units with `yields`; they have low priority. */
  private readonly yielding: Unit[] = [];
  /** Pause after the last low-priority unit; `hasServed` is true if other units ran since. */
  private rest = { startedAt: 0, durationMs: 0, hasServed: false };
  private restTimer: NodeJS.Timeout | undefined;
  private cancelTerms: CancelTimer | undefined;
  private isBatchDue = false;
  /** Number of units in the last batch, and its duration with its commit. */
  private last = { units: 0, durationMs: 0 };
  /** Time of the last disk failure report; null if the disk works. */
  private failureReportedAt: number | null = null;
  /** Set while the storage closes; called when all units have ended. */
  private onIdle: (() => void) | null = null;
  private isClosed = false;

  constructor(
    private readonly database: Database,
    openReader: () => Database,
    createRepositories: CreateRepositories,
    {
      guard = NO_GUARD,
      lockPatienceMs = LOCK_PATIENCE_MS,
      report = () => {},
      now = () => performance.now(),
      after = afterSystemTime,
      onCommit,
    }: UnitOfWorkOptions = {},
  ) {
    this.guard = guard;
    this.lockPatienceMs = lockPatienceMs;
    this.report = report;
    this.now = now;
    this.after = after;
    this.onCommit = onCommit;
    this.writer = new UnitWriter(database, createRepositories, guard, now);
    const openIntact = () => {
      guard.verifyNames();
      return openReader();
    };
    this.readers = new ReaderPool(openIntact, createRepositories, now);
  }

  read<T>(_realmId: RealmId, work: (repositories: Repositories) => Promise<T>): Promise<T> {
    return this.readAcross(work);
  }

  async readAcross<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    if (this.isClosed) throw closed();
    this.guard.requireIntact();
    for (let tries = 0; tries < MAX_TERMS_TRIES; tries++) {
      try {
        return await this.readers.run(work);
      } catch (error) {
        if (!(error instanceof TermsMissing)) throw error;
        if (!(await this.addTerms())) break;
      }
    }
    return this.readers.run(work, true);
  }

  write<T>(realmId: RealmId, work: Work<T>, options?: WriteOptions): Promise<T> {
    return this.enqueue(realmId, work, options);
  }

  writeAcross<T>(work: Work<T>, options?: WriteOptions): Promise<T> {
    return this.enqueue(null, work, options);
  }

  /** Number of units waiting to be written. */
  get waitingWrites(): number {
    return this.waiting.length + this.yielding.length;
  }

  /** Adds the missing terms to the search index. Returns false if the database cannot be written to. */
  private async addTerms(): Promise<boolean> {
    this.writer.terms.request();
    try {
      while (this.writer.terms.isDue) await this.enqueue(null, async () => {});
      return true;
    } catch {
      // The batch has reported a failing disk or a foreign lock.
      return false;
    }
  }

  /** Removes the bytes of deleted rows from the database file and from its log, in units of low priority. */
  async eraseDeleted(signal?: AbortSignal): Promise<void> {
    const erasure = new Erasure(this.database, this.now);
    while (!signal?.aborted && (await this.enqueue(null, async () => erasure.step(), { yields: true })));
    for (let tries = 0; tries < LOG_TRIES.count && !signal?.aborted; tries++) {
      // SQLite truncates the log between transactions only.
      while (this.database.inTransaction) await yieldToEventLoop();
      const [log] = this.database.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[];
      if (log!.busy === 0) return;
      await sleep(LOG_TRIES.pauseMs);
    }
  }

  /** Copies all committed data to a database file, which may exist if empty. */
  copyTo(path: string): Promise<void> {
    return this.readers.copyTo(path);
  }

  /** Completes running work and closes every connection; the last one checkpoints the write-ahead log. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.restTimer);
    this.cancelTerms?.();
    this.scheduleBatch();
    if (this.isBatchDue) {
      await new Promise<void>((resolve) => {
        this.onIdle = resolve;
      });
    }
    await this.readers.close();
    this.writer.close();
  }

  private enqueue<T>(
    realmId: RealmId | null,
    work: Work<T>,
    { yields = false, onCommit }: WriteOptions = {},
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.isClosed) throw closed();
      this.guard.requireIntact();
      if (this.waitingWrites >= MAX_WAITING) throw storageBusy();
      (yields ? this.yielding : this.waiting).push({
        realmId,
        work,
        yields,
        queuedAt: this.now(),
        ...(onCommit && { onCommit }),
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.scheduleBatch();
    });
  }

  private scheduleBatch(): void {
    if (this.isBatchDue) return;
    if (this.waiting.length > 0 || this.restLeftMs() === 0) {
      this.isBatchDue = true;
      const startedAt = this.now();
      setImmediate(() => this.formBatch(startedAt));
    } else if (this.yielding.length > 0) {
      clearTimeout(this.restTimer);
      this.restTimer = setTimeout(() => this.scheduleBatch(), this.restLeftMs());
    }
  }

  /** Runs the batch once it has as many units as the last one: requests that arrive together share a commit. */
  private formBatch(startedAt: number): void {
    const maxMs = Math.min(MAX_FORMING_MS, this.last.durationMs);
    const isComplete = this.waiting.length === 0 || this.waiting.length >= this.last.units || this.isClosed;
    if (isComplete || this.now() - startedAt >= maxMs) void this.runBatch();
    else setImmediate(() => this.formBatch(startedAt));
  }

  /** Time until the next low-priority unit; infinite if there is none. */
  private restLeftMs(): number {
    if (this.yielding.length === 0) return Number.POSITIVE_INFINITY;
    if (this.isClosed) return 0;
    const { startedAt, durationMs, hasServed } = this.rest;
    return Math.max(0, startedAt + durationMs * (hasServed ? REST.busy : REST.idle) - this.now());
  }

  /** Takes waiting units in order. A yielding unit is first, and commits alone. */
  private takeBatch(): readonly Unit[] {
    return this.waiting.splice(0, this.waiting[0]?.yields ? 1 : MAX_UNITS_PER_BATCH);
  }

  private async runBatch(): Promise<void> {
    if (this.restLeftMs() === 0) this.waiting.unshift({ ...this.yielding.shift()!, queuedAt: this.now() });
    if (this.begin() || (await this.beginLater())) {
      const units = this.takeBatch();
      const startedAt = this.now();
      const { left, isCommitted, failure } = await this.writer.commitTogether(units);
      if (isCommitted || failure !== null) this.reportDisk(failure);
      if (units[0]?.yields) {
        const endedAt = this.now();
        this.rest = { startedAt: endedAt, durationMs: endedAt - startedAt, hasServed: false };
      } else this.rest.hasServed = true;
      this.last = { units: units.length - left.length, durationMs: this.now() - startedAt };
      if (isCommitted) this.onCommit?.(this.last);
      if (left.length > 0) this.waiting.unshift(...left);
    }
    this.isBatchDue = false;
    this.scheduleTerms();
    this.scheduleBatch();
    if (this.waitingWrites === 0) this.onIdle?.();
  }

  /** Adds the terms of a few messages if no search and no further commit does. */
  private scheduleTerms(): void {
    if (this.cancelTerms || this.isClosed || !this.writer.terms.isPending) return;
    this.cancelTerms = this.after(TERMS_DELAY_MS, () => {
      this.cancelTerms = undefined;
      if (this.writer.terms.isPending) void this.addTerms();
    });
  }

  /** Returns false if another process writes or no unit is waiting. */
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

  /** Reports disk failures at intervals, and recovery once. Null means success. */
  private reportDisk(failure: unknown): void {
    if (failure === null) {
      if (this.failureReportedAt !== null) this.report('The database is writable again.');
      this.failureReportedAt = null;
    } else if (isDiskFailure(failure)) {
      if (this.failureReportedAt !== null && this.now() - this.failureReportedAt < FAILURE_REPORT_MS) return;
      this.failureReportedAt = this.now();
      const { message } = sqliteErrorOf(failure);
      this.report(`The database cannot be written to: ${message}. All changes are rejected.`);
    }
  }

  /** Retries until the other process is done. Returns false if no unit is waiting by then. */
  private async beginLater(): Promise<boolean> {
    const startedAt = this.now();
    const [firstDelay, longestDelay] = LOCK_DELAYS_MS;
    let isReported = false;
    for (let delay: number = firstDelay; this.waiting.length > 0; delay = Math.min(2 * delay, longestDelay)) {
      await sleep(delay);
      if (this.begin()) return true;
      const now = this.now();
      const isOutOfPatience = ({ queuedAt }: Unit) => now - Math.max(startedAt, queuedAt) >= this.lockPatienceMs;
      // Units wait in arrival order, so expired ones come first.
      const count = this.waiting.findIndex((unit) => !isOutOfPatience(unit));
      const refused = this.waiting.splice(0, count === -1 ? this.waiting.length : count);
      if (refused.length > 0 && !isReported) {
        isReported = true;
        this.report(
          `Another process has held the database's write lock for ${Math.round((now - startedAt) / 1000)} s: writes are rejected until it is released`,
        );
      }
      for (const unit of refused) unit.reject(storageBusy());
    }
    return false;
  }
}

const closed = () => new DomainError('STORAGE_UNAVAILABLE', 'The storage is closed');
