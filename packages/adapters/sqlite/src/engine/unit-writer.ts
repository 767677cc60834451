import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { UnitRecord } from '@parley/domain/composition';
import type { RealmId, Transaction, WriteOptions } from '@parley/domain/kernel';
import type { Database, Statement } from 'better-sqlite3';
import type { DeferredTerms } from './deferred-terms.js';
import type { CreateRepositories } from './feature.js';
import type { StorageGuard } from './storage-guard.js';
import { UnitRunner } from './unit-runner.js';
import { isLockedOut, writeFailure } from './write-failures.js';

/** Time limit for the units of one commit, beyond which waiting units would notice the delay. */
const MAX_BATCH_MS = 5;

export interface Unit extends Pick<WriteOptions, 'onCommit'> {
  /** Organization of the unit, or null. */
  readonly realmId: RealmId | null;
  readonly work: (tx: Transaction) => Promise<unknown>;
  /** True if the unit commits alone. */
  readonly yields: boolean;
  readonly queuedAt: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Executed unit of a transaction that may not be committed yet. */
interface Attempt {
  readonly unit: Unit;
  readonly record: UnitRecord;
  readonly outcome: { readonly value: unknown } | { readonly error: unknown };
}

interface BatchOutcome {
  /** Units postponed by the time limit. */
  readonly left: readonly Unit[];
  readonly isCommitted: boolean;
  /** Error that failed the whole batch, or null. */
  readonly failure: unknown;
}

/** Writer connection that executes batches of units. */
export class UnitWriter {
  private readonly runner: UnitRunner;
  private readonly beginImmediate: Statement;
  private readonly commit: Statement;
  private readonly rollback: Statement;
  private readonly savepoint: Statement;
  private readonly release: Statement;
  private readonly rollbackToSavepoint: Statement;
  /** A commit triggers a checkpoint once the log has this many pages. */
  private readonly checkpointPages: number;
  /** Set after one long commit without a checkpoint, respectively after two. */
  private isLogKept = false;
  private isFoldingDue = false;

  constructor(
    private readonly database: Database,
    createRepositories: CreateRepositories,
    private readonly guard: StorageGuard,
    private readonly now: () => number,
  ) {
    this.runner = new UnitRunner(database, createRepositories, now);
    this.beginImmediate = database.prepare('BEGIN IMMEDIATE');
    this.commit = database.prepare('COMMIT');
    this.rollback = database.prepare('ROLLBACK');
    this.savepoint = database.prepare('SAVEPOINT unit');
    this.release = database.prepare('RELEASE unit');
    this.rollbackToSavepoint = database.prepare('ROLLBACK TO unit');
    this.checkpointPages = database.pragma('wal_autocheckpoint', { simple: true }) as number;
  }

  /** Opens the transaction of `commitTogether`. Returns false while another process writes. */
  begin(): boolean {
    try {
      this.beginImmediate.run();
      return true;
    } catch (error) {
      if (isLockedOut(error)) return false;
      throw error;
    }
  }

  /** Runs the units in order, commits those that succeed, and settles them all after the commit. */
  async commitTogether(units: readonly Unit[]): Promise<BatchOutcome> {
    const attempts: Attempt[] = [];
    let failure: unknown = null;
    let isCommitted = false;
    this.runner.start();
    try {
      await this.runUnits(units, attempts);
      if (attempts.some(({ outcome }) => 'value' in outcome)) {
        // FTS5 flushes and merges its buffer at each savepoint, so terms are written outside of them.
        if (this.terms.isDue) this.terms.addSome();
        this.commitBatch();
        // A commit to a file that has lost its name must not be acknowledged.
        this.guard.verifyNames();
        isCommitted = true;
      } else this.rollBackAll();
    } catch (error) {
      failure = error;
      for (const { record } of attempts.reverse()) record.rollBack();
      this.rollBackAll();
    } finally {
      this.runner.stop();
    }
    // Listeners take long over the events of a long unit as well.
    if (this.runner.hasYielded) await yieldToEventLoop();
    if (this.isFoldingDue) await this.foldLog();
    if (failure !== null) {
      // Units that did not run would fail for the same reason, such as a full disk.
      for (const unit of units) unit.reject(writeFailure(failure));
      return { left: [], isCommitted, failure };
    }
    for (const attempt of attempts) settle(attempt);
    return { left: units.slice(attempts.length), isCommitted, failure };
  }

  get terms(): DeferredTerms {
    return this.runner.connection.terms;
  }

  close(): void {
    this.runner.close();
  }

  /** @throws if the whole batch is lost */
  private async runUnits(units: readonly Unit[], attempts: Attempt[]): Promise<void> {
    const startedAt = this.now();
    // A single unit is rolled back with its transaction. Within a savepoint, SQLite would copy every page that it
    // changes.
    const hasSavepoints = units.length > 1;
    for (const unit of units) {
      if (hasSavepoints) this.savepoint.run();
      const record = new UnitRecord(unit.realmId);
      const outcome = await this.runner.run(unit.work, record).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      attempts.push({ unit, record, outcome });
      if ('error' in outcome) {
        // SQLite rolls back the whole transaction on a full disk or I/O error.
        if (!this.database.inTransaction) throw outcome.error;
        if (hasSavepoints) this.rollbackToSavepoint.run();
        record.rollBack();
      }
      if (hasSavepoints) this.release.run();
      if (this.now() - startedAt >= MAX_BATCH_MS) break;
    }
  }

  /**
   * Postpones the checkpoint after a long unit, because it takes as long as writing the log. The next commit performs
   * it, or `foldLog` if that one is long too.
   */
  private commitBatch(): void {
    if (!this.runner.hasYielded) {
      this.commit.run();
      this.isLogKept = false;
      return;
    }
    // Not prepared, because the pragma takes effect when compiled.
    this.database.pragma('wal_autocheckpoint = 0');
    try {
      this.commit.run();
    } finally {
      this.database.pragma(`wal_autocheckpoint = ${this.checkpointPages}`);
    }
    this.isFoldingDue = this.isLogKept;
    this.isLogKept = true;
  }

  /** Runs the checkpoint in a separate turn. */
  private async foldLog(): Promise<void> {
    this.isFoldingDue = false;
    try {
      this.database.pragma('wal_checkpoint(PASSIVE)');
      this.isLogKept = false;
    } catch {
      // A failed checkpoint leaves the log durable, as after any commit.
    }
    await yieldToEventLoop();
  }

  private rollBackAll(): void {
    try {
      if (this.database.inTransaction) this.rollback.run();
    } catch {
      // The next BEGIN fails with the reason. The units of this batch must be settled anyway.
    }
  }
}

function settle({ unit, record, outcome }: Attempt): void {
  if ('error' in outcome) {
    unit.reject(writeFailure(outcome.error));
    return;
  }
  unit.onCommit?.(record);
  unit.resolve(outcome.value);
}
