import { UnitRecord } from '@parley/domain/composition';
import type { Transaction } from '@parley/domain/kernel';
import { SLICE_MS } from '@parley/storage';
import type { Database } from 'better-sqlite3';
import { Connection } from './connection.js';
import { DeferredTerms } from './deferred-terms.js';
import type { CreateRepositories } from './feature.js';

/**
 * Thrown if a unit awaits anything other than its repositories. A write would block all writers; a read would occupy a
 * connection and delay checkpoints.
 */
export class ForeignAwait extends Error {
  constructor() {
    super('A unit of work awaited something other than its repositories (I/O, a timer, or another unit) and was ended');
    this.name = 'ForeignAwait';
  }
}

/**
 * Runs units on one connection, one after the other. Repositories resolve within the turn of the event loop, so a unit that
 * is still running in the next turn has awaited something else, unless a repository has yielded.
 */
export class UnitRunner {
  private current: Connection;
  private tx: Transaction;
  private immediate: NodeJS.Immediate | undefined;
  /** Continues the unit that yielded to the event loop. */
  private resume: (() => void) | null = null;
  /** Resolves when the unit continues. */
  private pause: Promise<void> | null = null;
  /**
   * Rejects the running unit. Not a function literal, because V8 allocates a literal assigned to a property in the old
   * generation. It would keep the results of each unit alive until the next full garbage collection.
   */
  private reject: ((error: Error) => void) | null = null;
  private sliceStartedAt = 0;
  private yielded = false;

  constructor(
    private readonly database: Database,
    private readonly createRepositories: CreateRepositories,
    private readonly now: () => number,
    private readonly isReader = false,
  ) {
    this.current = this.createConnection();
    this.tx = this.createTransaction();
  }

  get connection(): Connection {
    return this.current;
  }

  /** True if a unit has yielded to the event loop since `start`. */
  get hasYielded(): boolean {
    return this.yielded;
  }

  /** Called before the first unit of a transaction. */
  start(): void {
    this.connection.enterUnit();
    this.sliceStartedAt = this.now();
    this.yielded = false;
    const onNextTurn = () => {
      this.immediate = setImmediate(onNextTurn);
      if (this.resume) this.resume();
      else this.abort();
    };
    this.immediate = setImmediate(onNextTurn);
  }

  /** @throws ForeignAwait, and what the work throws */
  async run<T>(work: (tx: Transaction) => Promise<T>, record = new UnitRecord()): Promise<T> {
    this.connection.record = record;
    try {
      return await new Promise<T>((resolve, reject) => {
        this.reject = reject;
        work(this.tx).then(resolve, reject);
      });
    } finally {
      this.reject = null;
      // Calls that the unit has not awaited run before it is committed or rolled back.
      this.resume?.();
    }
  }

  /** Called after the last unit of a transaction. */
  stop(): void {
    clearImmediate(this.immediate);
    this.connection.leaveUnit();
  }

  close(): void {
    this.connection.retire();
    this.database.close();
  }

  /** Ends the running unit without waiting for it. */
  private abort(): void {
    if (!this.reject) return;
    this.replaceConnection();
    this.reject(new ForeignAwait());
  }

  /** An aborted unit may continue later; its repositories must not reach the database then. */
  private replaceConnection(): void {
    const { isCacheable, terms } = this.connection;
    this.connection.retire();
    this.current = this.createConnection(terms);
    this.tx = this.createTransaction();
    this.connection.enterUnit();
    if (!isCacheable) this.connection.disableCaching();
  }

  private createConnection(terms = new DeferredTerms(this.database)): Connection {
    return new Connection(this.database, (connection) => this.startSlice(connection), terms, this.isReader);
  }

  private createTransaction(): Transaction {
    const { connection } = this;
    return Object.assign(this.createRepositories(connection), {
      onRollback: (undo: () => void) => connection.record.onRollback(undo),
    });
  }

  /** Returns null within the time slice. */
  private startSlice(connection: Connection): Promise<void> | null {
    if (this.resume) return this.pause;
    if (this.now() - this.sliceStartedAt < SLICE_MS) return null;
    this.yielded = true;
    this.pause = new Promise<void>((resolve) => {
      const resume = () => {
        this.resume = null;
        connection.enterUnit();
        this.sliceStartedAt = this.now();
        resolve();
      };
      this.resume = resume;
      // Units that run in the meantime must not use this connection. Repository calls of this unit that began before still
      // do: a tick added by a microtask runs after all microtasks.
      const suspend = () => {
        if (this.resume === resume) connection.suspend();
      };
      queueMicrotask(() => process.nextTick(suspend));
    });
    return this.pause;
  }
}
