import { type EventListener, isReadable, type LoggedEvent, type StoredEvent } from './event-log.js';
import type { EventSeq, MessageId, RealmId } from './ids.js';
import type { UnitOfWork } from './unit-of-work.js';

const PAGE = 500;
const PAGE_BYTES = 1024 * 1024;

/**
 * Delivers every event to listeners once in order of seq, from any process. Transactions of this process pass their
 * events on; others are read from the log. A failing listener does not affect the others.
 */
export class LogFollower implements EventListener {
  private readonly lastSeqs = new Map<RealmId, number>();
  private readonly filling = new Map<RealmId, Promise<void>>();
  private readonly listeners: EventListener[] = [];

  constructor(
    private readonly uow: UnitOfWork,
    private readonly onListenerFailure: (error: unknown) => void,
  ) {}

  subscribe(listener: EventListener): void {
    this.listeners.push(listener);
  }

  /** Starts at the current end of every log. */
  async start(): Promise<void> {
    for (const { realmId, seq } of await this.uow.readAcross(({ events }) => events.listLastSeqs()))
      this.lastSeqs.set(realmId, seq);
  }

  /** Returns the seq of the last event delivered to listeners. */
  lastSeqOf(realmId: RealmId): EventSeq {
    return (this.lastSeqs.get(realmId) ?? 0) as EventSeq;
  }

  onEvents(events: readonly StoredEvent[]): void {
    const undelivered: StoredEvent[] = [];
    for (const event of events) {
      const lastSeq = this.lastSeqs.get(event.realmId) ?? 0;
      if (event.seq === lastSeq + 1) {
        this.lastSeqs.set(event.realmId, event.seq);
        undelivered.push(event);
      } else if (event.seq > lastSeq) {
        // Another process wrote in between, so this event is read from the log as well. If the read fails, the next
        // event or `catchUp` retries.
        this.fill(event.realmId).catch(() => undefined);
      }
    }
    if (undelivered.length > 0) this.notify((listener) => listener.onEvents(undelivered));
  }

  onBlanked(realmId: RealmId, messageIds: readonly MessageId[]): void {
    this.notify((listener) => listener.onBlanked?.(realmId, messageIds));
  }

  /** Number of logged events not yet delivered to listeners. */
  async countUndelivered(): Promise<number> {
    const lastSeqs = await this.uow.readAcross(({ events }) => events.listLastSeqs());
    return lastSeqs.reduce((sum, { realmId, seq }) => sum + Math.max(0, seq - this.lastSeqOf(realmId)), 0);
  }

  /** Reads the ends of the logs; cheap and idempotent. Called by a timer, for commits of other processes. */
  async catchUp(): Promise<void> {
    const lastSeqs = await this.uow.readAcross(({ events }) => events.listLastSeqs());
    for (const { realmId, seq } of lastSeqs) if (seq > this.lastSeqOf(realmId)) await this.fill(realmId);
  }

  /** Reads from the last delivered event to the end of the log. */
  fill(realmId: RealmId): Promise<void> {
    let running = this.filling.get(realmId);
    if (!running) {
      running = this.readOn(realmId).finally(() => this.filling.delete(realmId));
      this.filling.set(realmId, running);
    }
    return running;
  }

  private async readOn(realmId: RealmId): Promise<void> {
    for (;;) {
      const lastSeq = this.lastSeqOf(realmId);
      const page = await this.uow.read(realmId, ({ events }) => events.listAfter(realmId, lastSeq, PAGE, PAGE_BYTES));
      if (page.length === 0) return;
      const undelivered = page.filter((event) => event.seq > this.lastSeqOf(realmId));
      if (undelivered.length === 0) continue;
      this.lastSeqs.set(realmId, undelivered.at(-1)!.seq);
      this.notify((listener) => listener.onWrittenElsewhere?.(realmId));
      this.deliverInOrder(undelivered);
    }
  }

  private deliverInOrder(undelivered: readonly LoggedEvent[]): void {
    let readable: StoredEvent[] = [];
    const deliverReadable = () => {
      const events = readable;
      readable = [];
      if (events.length > 0) this.notify((listener) => listener.onEvents(events));
    };
    for (const logged of undelivered) {
      if (isReadable(logged)) readable.push(logged);
      else {
        deliverReadable();
        this.notify((listener) => listener.onUnreadable?.(logged));
      }
    }
    deliverReadable();
  }

  private notify(call: (listener: EventListener) => void): void {
    for (const listener of this.listeners) {
      try {
        call(listener);
      } catch (error) {
        this.onListenerFailure(error);
      }
    }
  }
}
