import type { Clock } from '../shared/clock.js';
import type { MessageId, RealmId } from '../shared/ids.js';
import type { Repositories, Transaction, UnitOfWork } from '../shared/unit-of-work.js';
import type { Announcement, EventLog, StoredEvent, UnreadableEvent } from './event-log.js';

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

/** What a unit did to the log. */
interface Recorded {
  readonly events: StoredEvent[];
  readonly blanked: { readonly realmId: RealmId; readonly messageIds: readonly MessageId[] }[];
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
    let recorded: Recorded = { events: [], blanked: [] };
    const result = await this.inner.write((tx) => {
      recorded = { events: [], blanked: [] };
      const events = recordInto(recorded, tx.events, this.clock);
      return work(Object.create(tx, { events: { value: events } }) as Transaction);
    });
    const { events, blanked } = recorded;
    for (const { realmId, messageIds } of blanked) this.tell((listener) => listener.onBlanked?.(realmId, messageIds));
    if (events.length > 0) this.tell((listener) => listener.onEvents(events));
    return result;
  }

  private tell(call: (listener: EventListener) => void): void {
    for (const listener of this.listeners) {
      try {
        call(listener);
      } catch (error) {
        this.onListenerFailure(error);
      }
    }
  }
}

function recordInto(recorded: Recorded, log: EventLog, clock: Clock): EventLog {
  const append = async (realmId: RealmId, announcement: Announcement) => {
    const seq = await log.append(realmId, announcement);
    const { event, audience, quotes = null } = announcement;
    recorded.events.push({ realmId, seq, event, audience, at: clock.now(), quotes });
    return seq;
  };
  const blank = async (realmId: RealmId, messageIds: readonly MessageId[]) => {
    await log.blank(realmId, messageIds);
    recorded.blanked.push({ realmId, messageIds });
  };
  return Object.create(log, { append: { value: append }, blank: { value: blank } }) as EventLog;
}
