import { RecordingJobs, type ScheduledJob } from '../jobs/recording-jobs.js';
import type { Clock } from '../shared/clock.js';
import type { MessageId, RealmId } from '../shared/ids.js';
import type { Repositories, Transaction, UnitOfWork } from '../shared/unit-of-work.js';
import type { StoredEvent, UnreadableEvent } from './event-log.js';
import { RecordingEventLog } from './recording-event-log.js';

/** Somebody who follows what happens. Called after each commit, in order of seq within a realm. */
export interface EventListener {
  onEvents(events: readonly StoredEvent[]): void;
  /** What the log quoted of these messages is gone. Before the events of the same unit. */
  onBlanked?(realmId: RealmId, messageIds: readonly MessageId[]): void;
  /** Something happened that this version cannot read: what is kept of the realm in memory may not be true any more. */
  onUnreadable?(event: UnreadableEvent): void;
  /** Another process has written to the realm: what was read of its log may not be true any more. Before its events. */
  onWrittenElsewhere?(realmId: RealmId): void;
}

/** Told what a unit of this process has changed, once it is committed. */
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

  async write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    let recorded!: { readonly events: RecordingEventLog; readonly jobs: RecordingJobs };
    const result = await this.inner.write((tx) => {
      // Anew each time: the inner unit of work may run the work again.
      recorded = { events: new RecordingEventLog(tx.events, this.clock), jobs: new RecordingJobs(tx.jobs) };
      return work({ ...tx, ...recorded });
    });
    const { appended, blanked } = recorded.events;
    const { scheduled } = recorded.jobs;
    for (const { realmId, messageIds } of blanked) this.tell((listener) => listener.onBlanked?.(realmId, messageIds));
    if (appended.length > 0) this.tell((listener) => listener.onEvents?.(appended));
    if (scheduled.length > 0) this.tell((listener) => listener.onJobsScheduled?.(scheduled));
    return result;
  }

  private tell(call: (listener: CommitListener) => void): void {
    for (const listener of this.listeners) {
      try {
        call(listener);
      } catch (error) {
        this.onListenerFailure(error);
      }
    }
  }
}
