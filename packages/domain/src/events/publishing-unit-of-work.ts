import type { Clock } from '../shared/clock.js';
import type { RealmId } from '../shared/ids.js';
import type { Repositories, Transaction, UnitOfWork } from '../shared/unit-of-work.js';
import type { Announcement, EventLog, StoredEvent } from './event-log.js';

/** Somebody who follows what happens in this process. Called after each commit, in order of seq within a realm. */
export interface EventListener {
  onEvents(events: readonly StoredEvent[]): void;
}

/** Hands the events of each unit to whoever follows them, once the unit is committed and not before. */
export class PublishingUnitOfWork implements UnitOfWork {
  private readonly listeners: EventListener[] = [];

  constructor(
    private readonly inner: UnitOfWork,
    private readonly clock: Clock,
    /** A listener's bug is no failure of the unit, which is committed by then. */
    private readonly onListenerFailure: (error: unknown) => void,
  ) {}

  subscribe(listener: EventListener): void {
    this.listeners.push(listener);
  }

  read<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    return this.inner.read(work);
  }

  async write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    let recorded: StoredEvent[] = [];
    const result = await this.inner.write((tx) => {
      recorded = [];
      const events = recordInto(recorded, tx.events, this.clock);
      return work(Object.create(tx, { events: { value: events } }) as Transaction);
    });
    if (recorded.length > 0) this.tell(recorded);
    return result;
  }

  private tell(events: readonly StoredEvent[]): void {
    for (const listener of this.listeners) {
      try {
        listener.onEvents(events);
      } catch (error) {
        this.onListenerFailure(error);
      }
    }
  }
}

function recordInto(recorded: StoredEvent[], log: EventLog, clock: Clock): EventLog {
  const append = async (realmId: RealmId, announcement: Announcement) => {
    const seq = await log.append(realmId, announcement);
    const { event, audience } = announcement;
    recorded.push({ realmId, seq, event, audience, at: clock.now() });
    return seq;
  };
  return Object.create(log, { append: { value: append } }) as EventLog;
}
