import type { Event, QueuePosition } from '@parley/client';
import { CACHE_FORMAT, type CachedChat, type CachedMessages, type ChatCache } from '../kernel/ports.js';
import type { ChatState } from '../kernel/state.js';
import { present } from './rules.js';

/** Number of events after which the whole state is stored again. */
const MAX_EVENTS = 10_000;

/** Persists the state and the events of each response before the server may discard them. */
export class Journal {
  private pending: Event[] = [];
  private stored = 0;
  private isWhole = false;
  /** Position up to which all events are applied. */
  private position: QueuePosition | null = null;

  constructor(
    private readonly state: ChatState,
    private cache: ChatCache | null,
  ) {}

  async load(): Promise<CachedChat | null> {
    const cached = await this.attempt((cache) => cache.load());
    // Damaged data often lacks a part.
    if (cached?.format !== CACHE_FORMAT || !Array.isArray(cached.state.realm_users)) return null;
    this.isWhole = true;
    this.stored = cached.events.length;
    return cached;
  }

  /** Called when the state was replaced; the next `flush` stores all of it. */
  registered(): void {
    this.pending = [];
    this.isWhole = false;
  }

  add(event: Event): void {
    if (this.cache && this.isWhole) this.pending.push(event);
  }

  /** Stores changes up to a position with all events applied. */
  async flush(position: QueuePosition | null): Promise<void> {
    if (!this.cache || position === null) return;
    this.position = position;
    const events = this.pending;
    this.pending = [];
    if (!this.isWhole || this.stored + events.length > MAX_EVENTS) {
      this.isWhole = true;
      this.stored = 0;
      const state = present(this.state);
      const since = position.lastEventId;
      await this.attempt((cache) => cache.save({ format: CACHE_FORMAT, state, events: [], position, since }));
    } else if (events.length > 0) {
      this.stored += events.length;
      await this.attempt((cache) => cache.append(events, position.lastEventId));
    }
  }

  /** Returns cached messages of a conversation; null if there are none. */
  messages(key: string): Promise<CachedMessages | null> {
    return this.attempt((cache) => cache.loadMessages(key));
  }

  async keepMessages(key: string, cached: CachedMessages): Promise<void> {
    const { position } = this;
    await this.attempt((cache) => cache.saveMessages(key, { ...cached, ...(position && { position }) }));
  }

  /** Removes all stored data and ends storing. */
  async clear(): Promise<void> {
    const { cache } = this;
    this.cache = null;
    // A cache that cannot be cleared cannot be read either; nothing more is stored.
    await cache?.clear().catch(() => {});
  }

  private async attempt<T>(call: (cache: ChatCache) => Promise<T>): Promise<T | null> {
    try {
      return this.cache && (await call(this.cache));
    } catch {
      // The stored state no longer matches the queue.
      await this.clear();
      return null;
    }
  }
}

/**
 * Cache for tests and programs that restart a chat. Stores serialized text, so that nothing is shared with the state.
 */
export class MemoryCache implements ChatCache {
  private text: string | null = null;
  private readonly conversations = new Map<string, string>();

  /** Number of events since the state was saved. */
  get eventCount(): number {
    return this.text === null ? 0 : (JSON.parse(this.text) as CachedChat).events.length;
  }

  async load(): Promise<CachedChat | null> {
    return this.text === null ? null : JSON.parse(this.text);
  }

  async save(cached: CachedChat): Promise<void> {
    this.text = JSON.stringify(cached);
  }

  async append(events: readonly Event[], lastEventId: number): Promise<void> {
    const cached = await this.load();
    if (!cached) throw new Error('Nothing was saved');
    const position = { ...cached.position, lastEventId };
    await this.save({ ...cached, events: [...cached.events, ...events], position });
  }

  /** True if messages of a conversation are cached. */
  has(key: string): boolean {
    return this.conversations.has(key);
  }

  async loadMessages(key: string): Promise<CachedMessages | null> {
    const text = this.conversations.get(key);
    return text === undefined ? null : JSON.parse(text);
  }

  async saveMessages(key: string, cached: CachedMessages): Promise<void> {
    this.conversations.set(key, JSON.stringify(cached));
  }

  async clear(): Promise<void> {
    this.conversations.clear();
    this.text = null;
  }
}
