import type { EventListener } from '../events/event-listener.js';
import { RecordingEventLog } from '../events/recording-event-log.js';
import { RecordingJobs, type ScheduledJob } from '../jobs/recording-jobs.js';
import type { Clock } from '../shared/clock.js';
import type { Repositories, Transaction, UnitOfWork, WriteOptions } from '../shared/unit-of-work.js';

/** Called with what a unit of this process has changed, once it is committed. */
export interface CommitListener extends Partial<EventListener> {
  onJobsScheduled?(jobs: readonly ScheduledJob[]): void;
}

/** Hands what each unit appended and scheduled to whoever follows it, once the unit is committed and not before. */
export class PublishingUnitOfWork implements UnitOfWork {
  private readonly listeners: CommitListener[] = [];

  constructor(
    private readonly inner: UnitOfWork,
    private readonly clock: Clock,
    /** A listener's bug is no failure of the unit, which is committed by then. */
    private readonly onListenerFailure: (error: unknown) => void,
  ) {}

  subscribe(listener: CommitListener): void {
    this.listeners.push(listener);
  }

  read<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    return this.inner.read(work);
  }

  async write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    let recorded!: { readonly events: RecordingEventLog; readonly jobs: RecordingJobs };
    const result = await this.inner.write((tx) => {
      // Anew each time: the inner unit of work may run the work again.
      recorded = { events: new RecordingEventLog(tx.events, this.clock), jobs: new RecordingJobs(tx.jobs) };
      // Not by a spread: to copy as many members takes a tenth of the time of a small unit.
      return work(Object.assign(Object.create(tx) as Transaction, recorded));
    }, options);
    const { appended, blanked } = recorded.events;
    const { scheduled } = recorded.jobs;
    for (const { realmId, messageIds } of blanked) this.notify((listener) => listener.onBlanked?.(realmId, messageIds));
    if (appended.length > 0) this.notify((listener) => listener.onEvents?.(appended));
    if (scheduled.length > 0) this.notify((listener) => listener.onJobsScheduled?.(scheduled));
    return result;
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
