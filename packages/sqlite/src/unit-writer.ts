import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transaction } from '@parley/domain/shared';
import type { Database, Statement } from 'better-sqlite3';
import { BatchEnd } from './batch-end.js';
import { Connection } from './connection.js';
import type { StorageGuard } from './storage-guard.js';
import { TurnWatch, UnitYielded, type WritableRepositories, withYield } from './unit-turns.js';
import { isLockedOut, writeFailure } from './write-failures.js';

/** Of units in one commit; beyond it the units already waiting would notice. */
const MAX_BATCH_MS = 5;
/** So many batches have savepoints after one that had to begin anew. */
const CAREFUL_BATCHES = 20;

export interface Unit {
  readonly work: (tx: Transaction) => Promise<unknown>;
  readonly givesWay: boolean;
  /** It has a commit of its own. */
  readonly isAlone: boolean;
  readonly queuedAt: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How a unit ended, before anybody knows whether it will be committed. */
type Outcome = { readonly value: unknown } | { readonly error: unknown };

interface BatchOutcome {
  /** Those there was no time for, or that have to run again. */
  readonly left: readonly Unit[];
  readonly isCommitted: boolean;
  /** Why the whole batch was lost; null: it was not. */
  readonly failure: unknown;
}

/** The one connection that writes. */
export class UnitWriter {
  private connection: Connection;
  private tx: Transaction;
  private readonly beginImmediate: Statement;
  private readonly commit: Statement;
  /** How many pages the log has when a commit folds it into the file. */
  private readonly checkpointPages: number;
  /** The last commit was long, and has left the log as it was; the last two were. */
  private isLogKept = false;
  private isFoldingDue = false;
  /** How many batches are still to have savepoints. */
  private carefulBatches = 0;
  private readonly rollback: Statement;
  private readonly savepoint: Statement;
  private readonly release: Statement;
  private readonly rollbackToSavepoint: Statement;
  private readonly watch: TurnWatch;
  private readonly batchEnd: BatchEnd;
  /** Ends the running unit without waiting for it. */
  private abortUnit: (() => void) | null = null;

  constructor(
    private readonly database: Database,
    private readonly createRepositories: (connection: Connection) => WritableRepositories,
    private readonly guard: StorageGuard,
    private readonly now: () => number,
  ) {
    this.watch = new TurnWatch(now);
    this.batchEnd = new BatchEnd(database);
    this.connection = this.createConnection();
    this.tx = this.createTransaction(this.connection);
    this.beginImmediate = database.prepare('BEGIN IMMEDIATE');
    this.commit = database.prepare('COMMIT');
    this.checkpointPages = database.pragma('wal_autocheckpoint', { simple: true }) as number;
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

  /** Answers the units in order, after the commit. */
  async commitTogether(units: readonly Unit[]): Promise<BatchOutcome> {
    const answers: (() => void)[] = [];
    let failure: unknown = null;
    let isCommitted = false;
    this.watch.start(() => this.abortUnit?.());
    try {
      this.connection.enterUnit();
      if (await this.runUnits(units, answers)) {
        this.batchEnd.write();
        this.commitBatch();
        // What went to a file that nobody will find again is not to be called done.
        this.guard.verifyNames();
        isCommitted = true;
      } else this.rollBackAll();
    } catch (error) {
      failure = error;
      // Those that come after the failure fail too: they would run into the same full disk.
      answers.length = 0;
      for (const unit of units) answers.push(() => unit.reject(writeFailure(error)));
      this.rollBackAll();
    } finally {
      this.batchEnd.clear();
      this.watch.stop();
      this.connection.leaveUnit();
    }
    // What listeners do with the events of a long unit is long as well.
    if (this.watch.hasTurned) await nextTurn();
    if (this.isFoldingDue) await this.foldLog();
    for (const answer of answers) answer();
    return { left: units.slice(answers.length), isCommitted, failure };
  }

  /**
   * After a long unit the log is not folded into the file at once, which takes as long as writing the log does: the next commit does
   * that, or, if it is as long, `foldLog`.
   */
  private commitBatch(): void {
    if (!this.watch.hasTurned) {
      this.commit.run();
      this.isLogKept = false;
      return;
    }
    // Not prepared: it takes effect when it is compiled.
    this.database.pragma('wal_autocheckpoint = 0');
    try {
      this.commit.run();
    } finally {
      this.database.pragma(`wal_autocheckpoint = ${this.checkpointPages}`);
    }
    this.isFoldingDue = this.isLogKept;
    this.isLogKept = true;
  }

  /** In a turn of its own. */
  private async foldLog(): Promise<void> {
    this.isFoldingDue = false;
    try {
      this.database.pragma('wal_checkpoint(PASSIVE)');
      this.isLogKept = false;
    } catch {
      // As after any commit: what is in the log is durable there.
    }
    await nextTurn();
  }

  close(): void {
    this.connection.retire();
    this.database.close();
  }

  /**
   * Collects how units are answered once the batch is durable. False: nothing of it may be committed.
   *
   * For every savepoint SQLite copies each page that is changed within it. Units mostly fail before they change anything, and
   * need none then. One that fails later takes the transaction with it: those before it run again, with savepoints.
   * @throws when the whole batch is lost
   */
  private async runUnits(units: readonly Unit[], answers: (() => void)[]): Promise<boolean> {
    const startedAt = this.now();
    const hasSavepoints = this.carefulBatches > 0 && units.length > 1;
    if (hasSavepoints) this.carefulBatches--;
    for (const unit of units) {
      const { connection } = this;
      connection.hasChanged = false;
      if (hasSavepoints) this.savepoint.run();
      const outcome = await this.outcomeOf(unit);
      this.abortUnit = null;
      this.watch.goOn();
      if ('value' in outcome) {
        answers.push(() => unit.resolve(outcome.value));
      } else {
        // A full disk or an I/O error makes SQLite roll back everything, without being asked.
        if (!this.database.inTransaction) throw outcome.error;
        const takesAllWithIt = connection.hasChanged && !hasSavepoints;
        if (takesAllWithIt && answers.length > 0) {
          answers.length = 0;
          this.carefulBatches = CAREFUL_BATCHES;
          return false;
        }
        answers.push(() => unit.reject(writeFailure(outcome.error)));
        if (takesAllWithIt) return false;
        if (hasSavepoints) this.rollbackToSavepoint.run();
      }
      if (hasSavepoints) this.release.run();
      if (this.now() - startedAt >= MAX_BATCH_MS) break;
    }
    return true;
  }

  private outcomeOf(unit: Unit): Promise<Outcome> {
    return new Promise<Outcome>((settle) => {
      this.abortUnit = () => {
        this.replaceRepositories();
        settle({ error: new UnitYielded() });
      };
      try {
        unit.work(this.tx).then(
          (value) => settle({ value }),
          (error: unknown) => settle({ error }),
        );
      } catch (error) {
        // It threw before it returned a promise.
        settle({ error });
      }
    });
  }

  private rollBackAll(): void {
    try {
      if (this.database.inTransaction) this.rollback.run();
    } catch {
      // Then the next BEGIN fails with the reason; the units of this batch are to be answered all the same.
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
    return new Connection(this.database, (connection) => this.watch.yield(connection), this.batchEnd);
  }

  private createTransaction(connection: Connection): Transaction {
    return withYield(this.createRepositories(connection), connection);
  }
}
