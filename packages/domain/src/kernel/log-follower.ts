import type { Bus, BusHint, Unsubscribe } from './bus.js';
import { isDue } from './clock-watch.js';
import {
  type EventListener,
  type FollowedLog,
  isReadable,
  type LogEnd,
  type LoggedEvent,
  type StoredEvent,
} from './event-log.js';
import type { EventSeq, RealmId } from './ids.js';
import type { Clock, Timers } from './ports.js';
import type { UnitOfWork } from './unit-of-work.js';
import { lastOf } from './work.js';

const PAGE = 500;
const PAGE_BYTES = 1024 * 1024;
/** Time without units of work after which an organization is no longer followed. */
const IDLE_MS = 600_000;
/** Time to wait for missing events from the bus before reading them from the log. */
const GAP_MS = 50;
/** Maximum number of events after a gap kept per organization. */
const MAX_EARLY = 256;
/** Age at which the known log ends are too old to trust cached data. */
const CURRENT_MS = 5000;

export interface LogFollowerParts {
  /** Storage with units of work that do not open organizations. */
  readonly uow: UnitOfWork;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly timers: Pick<Timers, 'after' | 'elapsedMs'>;
  readonly onListenerFailure: (error: unknown) => void;
}

interface OpenRealm {
  lastSeq: number;
  /** True if a unit of work used the organization since the last `catchUp`. */
  isUsed: boolean;
  /** Events that arrived after a gap, by seq. */
  readonly early: Map<number, StoredEvent>;
  isFillPlanned: boolean;
  readonly unsubscribe: Unsubscribe;
}

/**
 * Delivers events of open organizations to listeners, once and in seq order, from any process. Transactions of this
 * process pass on their events; other events are read from the log. An organization is opened before its first unit of
 * work, and thus before any of its data is cached. A failing listener does not affect the others.
 */
export class LogFollower implements EventListener, FollowedLog {
  private readonly realms = new Map<RealmId, OpenRealm>();
  private readonly opening = new Map<RealmId, { readonly opened: Promise<void>; delivered: number }>();
  private readonly filling = new Map<RealmId, Promise<void>>();
  private readonly listeners: EventListener[] = [];
  private followed: 'open' | 'allSoon' | 'all' = 'open';
  private nextCloseMs: number;
  /** Monotonic time up to which all events of other processes were delivered. */
  private readAtMs: number;

  constructor(private readonly parts: LogFollowerParts) {
    this.readAtMs = parts.timers.elapsedMs();
    this.nextCloseMs = parts.clock.nowMs() + IDLE_MS;
  }

  isCurrent(): boolean {
    return this.parts.timers.elapsedMs() - this.readAtMs <= CURRENT_MS;
  }

  subscribe(listener: EventListener): void {
    this.listeners.push(listener);
  }

  /** Follows the organization from the current end of its log. Returns null if it is already followed. */
  open(realmId: RealmId): Promise<void> | null {
    const realm = this.realms.get(realmId);
    if (realm) {
      realm.isUsed = true;
      return null;
    }
    const running = this.opening.get(realmId);
    if (running) return running.opened;
    const opened = this.begin(realmId).finally(() => this.opening.delete(realmId));
    this.opening.set(realmId, { opened, delivered: 0 });
    return opened;
  }

  /** Follows all organizations, for listeners outside the server. Takes effect with the next `catchUp`. */
  followAll(): void {
    if (this.followed === 'open') this.followed = 'allSoon';
  }

  /** True if listeners outside the server follow all organizations. */
  get followsAll(): boolean {
    return this.followed !== 'open';
  }

  /** Returns the seq of the last event delivered to listeners; 0 if the organization is not open. */
  lastSeqOf(realmId: RealmId): EventSeq {
    return (this.realms.get(realmId)?.lastSeq ?? 0) as EventSeq;
  }

  /** Accepts the events of a transaction of this process. */
  onEvents(events: readonly StoredEvent[]): void {
    this.deliver(events);
    const byRealm = new Map<RealmId, StoredEvent[]>();
    for (const event of events) {
      const others = byRealm.get(event.realmId);
      if (others) others.push(event);
      else byRealm.set(event.realmId, [event]);
    }
    for (const [realmId, own] of byRealm) {
      this.parts.bus.publish(realmId, { kind: 'committed', seq: lastOf(own).seq, events: own });
    }
  }

  private deliver(events: readonly StoredEvent[]): void {
    const due = events.flatMap((event) => this.accept(event));
    if (due.length > 0) this.notify((listener) => listener.onEvents(due));
  }

  /** Returns the event and its successors that arrived early, or nothing if it is not the next event. */
  private accept(event: StoredEvent): readonly StoredEvent[] {
    const { realmId, seq } = event;
    const realm = this.realms.get(realmId);
    if (!realm) {
      // No data of the organization is cached, so earlier events concern no listener.
      const opening = this.opening.get(realmId);
      if (opening) opening.delivered = Math.max(opening.delivered, seq);
      return [event];
    }
    if (seq <= realm.lastSeq) return [];
    if (seq > realm.lastSeq + 1) {
      // Another process has written in between.
      if (realm.early.size < MAX_EARLY) realm.early.set(seq, event);
      this.fillLater(realmId, realm);
      return [];
    }
    realm.lastSeq = seq;
    return [event, ...takeEarly(realm)];
  }

  /** Counts the logged events of open organizations that were not yet delivered to listeners. */
  async countUndelivered(): Promise<number> {
    const ends = await this.readEnds();
    return ends.reduce(
      (sum, { realmId, seq }) => sum + Math.max(0, seq - (this.realms.get(realmId)?.lastSeq ?? seq)),
      0,
    );
  }

  /** Reads the log ends; cheap and idempotent. Called by a timer to notice commits of other processes. */
  async catchUp(): Promise<void> {
    const { followed } = this;
    const startedAtMs = this.parts.timers.elapsedMs();
    const before = new Map([...this.realms].map(([realmId, { lastSeq }]) => [realmId, lastSeq]));
    for (const { realmId, seq } of await this.readEnds()) {
      // We already delivered these events, so they were committed: the database was rolled back.
      if (seq < (before.get(realmId) ?? 0)) this.fork(realmId, seq);
      // An organization that appears later is new, and so are all of its events.
      if (!this.realms.has(realmId) && followed !== 'open') await this.begin(realmId, followed === 'all' ? 0 : seq);
      if (seq > this.lastSeqOf(realmId)) await this.readToEnd(realmId);
    }
    this.readAtMs = startedAtMs;
    if (followed === 'allSoon') this.followed = 'all';
    this.closeIdle();
  }

  /** Reads from the last delivered event up to the log end at the time of the call. */
  async fill(realmId: RealmId): Promise<void> {
    // A running read may have started before this end was written.
    await this.filling.get(realmId);
    return this.readToEnd(realmId);
  }

  private async readToEnd(realmId: RealmId): Promise<void> {
    await this.open(realmId);
    let running = this.filling.get(realmId);
    if (!running) {
      running = this.readOn(realmId).finally(() => this.filling.delete(realmId));
      this.filling.set(realmId, running);
    }
    return running;
  }

  private async begin(realmId: RealmId, from?: number): Promise<void> {
    const { uow, bus } = this.parts;
    const unsubscribe = await bus.subscribe(realmId, (hint) => this.take(realmId, hint));
    try {
      const end = from ?? (await uow.read(realmId, ({ events }) => events.lastSeq(realmId)));
      const lastSeq = Math.max(end, this.opening.get(realmId)?.delivered ?? 0);
      if (this.realms.has(realmId)) unsubscribe();
      else this.realms.set(realmId, { lastSeq, isUsed: true, early: new Map(), isFillPlanned: false, unsubscribe });
    } catch (error) {
      unsubscribe();
      throw error;
    }
  }

  private take(realmId: RealmId, hint: BusHint): void {
    if (hint.kind !== 'committed') this.notify((listener) => listener.onHint?.(realmId, hint));
    else if (hint.seq <= this.lastSeqOf(realmId)) return;
    else if (hint.events && this.realms.has(realmId)) this.deliver(hint.events);
    else this.fillSoon(realmId);
  }

  private fillLater(realmId: RealmId, realm: OpenRealm): void {
    if (realm.isFillPlanned) return;
    realm.isFillPlanned = true;
    this.parts.timers.after(GAP_MS, () => {
      realm.isFillPlanned = false;
      if (realm.early.size > 0) this.fillSoon(realmId);
    });
  }

  /** If the read fails, the next event or `catchUp` retries. */
  private fillSoon(realmId: RealmId): void {
    this.readToEnd(realmId).catch(() => undefined);
  }

  private readEnds(): Promise<readonly LogEnd[]> {
    const realmIds = this.followed === 'open' ? [...this.realms.keys()] : undefined;
    return this.parts.uow.readAcross(({ events }) => events.listLastSeqs(realmIds));
  }

  private closeIdle(): void {
    const nowMs = this.parts.clock.nowMs();
    if (this.followed !== 'open' || !isDue(this.nextCloseMs, nowMs, IDLE_MS)) return;
    this.nextCloseMs = nowMs + IDLE_MS;
    for (const [realmId, realm] of this.realms) {
      const isIdle = !realm.isUsed && !this.listeners.some((listener) => listener.holds?.(realmId));
      realm.isUsed = false;
      if (!isIdle) continue;
      realm.unsubscribe();
      this.realms.delete(realmId);
      this.notify((listener) => listener.onClosed?.(realmId));
    }
  }

  private async readOn(realmId: RealmId): Promise<void> {
    for (;;) {
      const realm = this.realms.get(realmId);
      if (!realm) return;
      const after = realm.lastSeq as EventSeq;
      const page = await this.parts.uow.read(realmId, ({ events }) =>
        events.listAfter(realmId, after, PAGE, PAGE_BYTES),
      );
      if (page.length === 0) return;
      const undelivered = page.filter((event) => event.seq > realm.lastSeq);
      if (undelivered.length === 0) continue;
      realm.lastSeq = lastOf(undelivered).seq;
      this.deliverInOrder([...undelivered, ...takeEarly(realm)]);
    }
  }

  /** Returns to the end of a log that is shorter than known. */
  private fork(realmId: RealmId, after: EventSeq): void {
    const realm = this.realms.get(realmId);
    if (!realm || realm.lastSeq <= after) return;
    realm.lastSeq = after;
    realm.early.clear();
    this.announceFork(realmId, after, Number.POSITIVE_INFINITY);
  }

  private announceFork(realmId: RealmId, after: EventSeq, before: number): void {
    this.notify((listener) => listener.onClosed?.(realmId));
    this.notify((listener) => listener.onForked?.(realmId, after, before));
  }

  private deliverInOrder(undelivered: readonly LoggedEvent[]): void {
    let readable: StoredEvent[] = [];
    const deliverReadable = () => {
      const events = readable;
      readable = [];
      if (events.length > 0) this.notify((listener) => listener.onEvents(events));
    };
    for (const logged of undelivered) {
      if (isReadable(logged)) {
        if (logged.event.type === 'forked') {
          deliverReadable();
          this.announceFork(logged.realmId, logged.event.after, logged.seq);
        }
        if (logged.event.type === 'restarted') {
          deliverReadable();
          this.notify((listener) => listener.onClosed?.(logged.realmId));
        }
        readable.push(logged);
      } else {
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
        this.parts.onListenerFailure(error);
      }
    }
  }
}

/** Removes and returns the early events that are next in order. */
function takeEarly(realm: OpenRealm): readonly StoredEvent[] {
  const { early } = realm;
  if (early.size === 0) return [];
  const due: StoredEvent[] = [];
  for (let next = early.get(realm.lastSeq + 1); next; next = early.get(realm.lastSeq + 1)) {
    due.push(next);
    realm.lastSeq++;
  }
  for (const seq of early.keys()) if (seq <= realm.lastSeq) early.delete(seq);
  return due;
}
