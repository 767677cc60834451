import type { EventListener } from '../kernel/event-log.js';
import type { UnitChanges } from '../kernel/feature-types.js';
import type { RealmId } from '../kernel/ids.js';
import type { ScheduledJob } from '../kernel/jobs.js';
import { DEFAULT_SWEEP_OPTIONS } from '../kernel/queue-sweep.js';
import type { ReadOptions, Repositories, Transaction, UnitOfWork, WriteOptions } from '../kernel/unit-of-work.js';

/** Receives the changes of the transactions of this process after their commit, in one call for all that commit together. */
export interface CommitListener extends Partial<EventListener> {
  onJobsScheduled?(jobs: readonly ScheduledJob[]): void;
}

export interface PublishingOptions {
  readonly maxLogBytes?: number | undefined;
  /** Called before each unit of work of an organization; see `LogFollower.open`. */
  readonly open?: (realmId: RealmId) => Promise<void> | null;
}

/**
 * Notifies listeners of the events and jobs of committed units, before `write` resolves. Limits the log size of each
 * organization: a unit that exceeds it removes the oldest events.
 */
export class PublishingUnitOfWork implements UnitOfWork {
  private readonly listeners: CommitListener[] = [];
  private committed: UnitChanges[] = [];

  constructor(
    private readonly inner: UnitOfWork,
    /** A listener failure does not affect the transaction, which is already committed. */
    private readonly onListenerFailure: (error: unknown) => void,
    private readonly options: PublishingOptions = {},
  ) {}

  subscribe(listener: CommitListener): void {
    this.listeners.push(listener);
  }

  read<T>(realmId: RealmId, work: (repositories: Repositories) => Promise<T>, options?: ReadOptions): Promise<T> {
    const opening = this.options.open?.(realmId);
    const run = () => this.inner.read(realmId, work, options);
    return opening ? opening.then(run) : run();
  }

  readAcross<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    return this.inner.readAcross(work);
  }

  write<T>(realmId: RealmId, work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    const { maxLogBytes = DEFAULT_SWEEP_OPTIONS.maxLogBytes } = this.options;
    const bounded = async (tx: Transaction): Promise<T> => {
      const result = await work(tx);
      await tx.events.shrink(realmId, maxLogBytes);
      return result;
    };
    const run = () => this.inner.write(realmId, bounded, this.publishing(options));
    const opening = this.options.open?.(realmId);
    return opening ? opening.then(run) : run();
  }

  writeAcross<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    return this.inner.writeAcross(work, this.publishing(options));
  }

  private publishing(options?: WriteOptions): WriteOptions {
    return {
      ...options,
      onCommit: (changes) => {
        options?.onCommit?.(changes);
        // A storage settles all units of a commit in one turn, and their callers continue after this microtask.
        if (this.committed.push(changes) === 1) void Promise.resolve().then(() => this.publish());
      },
    };
  }

  private publish(): void {
    const units = this.committed;
    this.committed = [];
    const events = units.flatMap((unit) => unit.events);
    const jobs = units.flatMap((unit) => unit.jobs);
    if (events.length > 0) this.notify((listener) => listener.onEvents?.(events));
    if (jobs.length > 0) this.notify((listener) => listener.onJobsScheduled?.(jobs));
  }

  private notify(call: (listener: CommitListener) => void): void {
    for (const listener of this.listeners) {
      try {
        call(listener);
      } catch (error) {
        this.onListenerFailure(error);
      }
    }
  }
}
