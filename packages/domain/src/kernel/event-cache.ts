import { follows, isReadable, type LoggedEvent } from './event-log.js';
import type { EventSeq, MessageId, RealmId } from './ids.js';
import type { UnitOfWork } from './unit-of-work.js';

const EVENTS_PER_PAGE = 128;
/** Bytes of JSON read from the log at a time. */
const PAGE_BYTES = 1024 * 1024;
/** Approximate size limit of the cache. */
const DEFAULT_BYTES = 24 * 1024 * 1024;

interface Page {
  readonly key: number;
  readonly realmId: RealmId;
  /** Events by position in the page; undefined if not loaded. */
  readonly events: (LoggedEvent | undefined)[];
  bytes: number;
}

/**
 * Cache of decoded events, shared by all queues. Holds pages up to a byte limit; evicted pages are read from the log
 * again.
 */
export class EventCache {
  /** Least recently used page first. */
  private readonly pages = new Map<number, Page>();
  private newest: Page | null = null;
  private bytes = 0;
  /** Number of invalidations. A page read that overlaps an invalidation is repeated. */
  private changes = 0;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly maxBytes = DEFAULT_BYTES,
  ) {}

  /** Approximate size of the cache in bytes. */
  get size(): number {
    return this.bytes;
  }

  /** Adds an event that was just committed. */
  add(logged: LoggedEvent): void {
    const page = this.pageOf(logged.realmId, logged.seq) ?? this.newPage(logged.realmId, logged.seq);
    this.put(page, logged);
    this.shrink();
  }

  /** Returns undefined if the event is not cached. */
  find(realmId: RealmId, seq: EventSeq): LoggedEvent | undefined {
    return this.pageOf(realmId, seq)?.events[seq % EVENTS_PER_PAGE];
  }

  /**
   * Returns at least one event after `after`, in order and up to and including `upTo`. Returns null if the log no
   * longer has the next one.
   */
  async listAfter(realmId: RealmId, after: EventSeq, upTo: EventSeq): Promise<readonly LoggedEvent[] | null> {
    const next = (after + 1) as EventSeq;
    const run = this.run(realmId, next, upTo);
    if (run.length > 0) return run;
    const limit = EVENTS_PER_PAGE - (next % EVENTS_PER_PAGE);
    const { changes } = this;
    const read = await this.uow.read(realmId, ({ events }) => events.listAfter(realmId, after, limit, PAGE_BYTES));
    if (changes !== this.changes) return this.listAfter(realmId, after, upTo);
    const [first] = read;
    if (!follows(first, after)) return null;
    if (first.seq !== next) return [first];
    for (const logged of read) {
      this.put(this.pageOf(realmId, logged.seq) ?? this.newPage(realmId, logged.seq), logged);
    }
    const found = this.run(realmId, next, upTo);
    this.shrink();
    return found;
  }

  /** Drops events that quote these messages, which the log has already blanked. */
  blank(realmId: RealmId, messageIds: readonly MessageId[]): void {
    this.changes++;
    const blanked = new Set(messageIds);
    for (const page of this.pages.values()) {
      if (page.realmId !== realmId) continue;
      page.events.forEach((logged, index) => {
        if (!logged || !isReadable(logged) || logged.quotes === null || !blanked.has(logged.quotes)) return;
        page.events[index] = { ...logged, event: { type: 'blank' } };
      });
    }
  }

  /** Evicts the realm's events, which may no longer match the log. */
  forget(realmId: RealmId): void {
    this.changes++;
    for (const page of this.pages.values()) if (page.realmId === realmId) this.drop(page);
  }

  /** Returns the cached events from `from` up to the first gap. */
  private run(realmId: RealmId, from: EventSeq, upTo: EventSeq): readonly LoggedEvent[] {
    const page = this.pageOf(realmId, from);
    if (!page) return [];
    const start = from % EVENTS_PER_PAGE;
    const end = Math.min(EVENTS_PER_PAGE, start + upTo - from + 1);
    let index = start;
    while (index < end && page.events[index] !== undefined) index++;
    return page.events.slice(start, index) as LoggedEvent[];
  }

  private pageOf(realmId: RealmId, seq: EventSeq): Page | undefined {
    const key = keyOf(realmId, seq);
    if (this.newest?.key === key) return this.newest;
    const page = this.pages.get(key);
    if (!page) return undefined;
    this.pages.delete(key);
    this.pages.set(key, page);
    this.newest = page;
    return page;
  }

  private newPage(realmId: RealmId, seq: EventSeq): Page {
    const page: Page = { key: keyOf(realmId, seq), realmId, events: [], bytes: 0 };
    this.pages.set(page.key, page);
    this.newest = page;
    return page;
  }

  private put(page: Page, logged: LoggedEvent): void {
    const index = logged.seq % EVENTS_PER_PAGE;
    // Earlier readers hold this object and data derived from it.
    if (page.events[index] !== undefined) return;
    // Fills gaps with undefined to avoid a sparse array.
    while (page.events.length < index) page.events.push(undefined);
    page.events[index] = logged;
    const bytes = bytesOf(logged);
    page.bytes += bytes;
    this.bytes += bytes;
  }

  private shrink(): void {
    for (const page of this.pages.values()) {
      if (this.bytes <= this.maxBytes) return;
      this.drop(page);
    }
  }

  private drop(page: Page): void {
    this.pages.delete(page.key);
    this.bytes -= page.bytes;
    if (this.newest === page) this.newest = null;
  }
}

const PAGES_PER_REALM = 2 ** 32;
const keyOf = (realmId: RealmId, seq: EventSeq): number =>
  realmId * PAGES_PER_REALM + Math.floor(seq / EVENTS_PER_PAGE);

/** Estimates the memory of a plain value, erring on the high side. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return 24 + value.length * 2;
  if (typeof value !== 'object' || value === null) return 8;
  // Long lists contain ids.
  if (Array.isArray(value) && typeof value[0] === 'number') return 32 + 16 * value.length;
  let bytes = 32;
  for (const member of Array.isArray(value) ? value : Object.values(value)) bytes += 8 + bytesOf(member);
  return bytes;
}
