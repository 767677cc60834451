import type { EventListener } from '../kernel/event-log.js';
import type { RealmId } from '../kernel/ids.js';
import type { ScheduledJob } from '../kernel/jobs.js';
import { DEFAULT_SWEEP_OPTIONS } from '../kernel/queue-sweep.js';
import type { Repositories, Transaction, UnitChanges, UnitOfWork, WriteOptions } from '../kernel/unit-of-work.js';

/** Receives the changes of a transaction of this process after its commit. */
export interface CommitListener extends Partial<EventListener> {
  onJobsScheduled?(jobs: readonly ScheduledJob[]): void;
}

/**
 * Notifies listeners of the events and jobs of each committed unit, before `write` resolves. Keeps the log of an
 * organization within its size: a unit that exceeds it removes the oldest events.
 */
export class PublishingUnitOfWork implements UnitOfWork {
  private readonly listeners: CommitListener[] = [];

  constructor(
    private readonly inner: UnitOfWork,
    /** A listener failure does not affect the transaction, which is already committed. */
    private readonly onListenerFailure: (error: unknown) => void,
    private readonly maxLogBytes = DEFAULT_SWEEP_OPTIONS.maxLogBytes,
  ) {}

  subscribe(listener: CommitListener): void {
    this.listeners.push(listener);
  }

  read<T>(realmId: RealmId, work: (repositories: Repositories) => Promise<T>): Promise<T> {
    return this.inner.read(realmId, work);
  }

  readAcross<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    return this.inner.readAcross(work);
  }

  write<T>(realmId: RealmId, work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    const bounded = async (tx: Transaction): Promise<T> => {
      const result = await work(tx);
      await tx.events.shrink(realmId, this.maxLogBytes);
      return result;
    };
    return this.inner.write(realmId, bounded, this.publishing(options));
  }

  writeAcross<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    return this.inner.writeAcross(work, this.publishing(options));
  }

  private publishing(options?: WriteOptions): WriteOptions {
    return {
      ...options,
      onCommit: (changes) => {
        options?.onCommit?.(changes);
        this.publish(changes);
      },
    };
  }

  private publish({ events, blanked, jobs }: UnitChanges): void {
    for (const { realmId, messageIds } of blanked) this.notify((listener) => listener.onBlanked?.(realmId, messageIds));
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
