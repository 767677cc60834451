import { CACHE_FORMAT, type CachedChat, type CachedMessages, type ChatCache } from '@parley/chat';
import type { Event, InitialState, QueuePosition } from '@parley/client';
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';

/** Maximum number of cached conversations; the least recently saved one is evicted. */
const MAX_CONVERSATIONS = 50;

interface Schema extends DBSchema {
  /** Single row that identifies the state. */
  meta: {
    key: 'chat';
    value: { readonly format: number; readonly position: QueuePosition; readonly since: number };
  };
  state: { key: 'chat'; value: InitialState };
  /** One row per response: thousands of rows would take as long as applying their events. */
  events: { key: number; value: readonly Event[] };
  messages: { key: string; value: CachedMessages & { readonly savedAt: number }; indexes: { savedAt: number } };
}

/** A person's state in IndexedDB. Each method is one transaction, so a crash leaves a consistent state. */
export class IdbCache implements ChatCache {
  private readonly database: Promise<IDBPDatabase<Schema>>;

  constructor(
    baseUrl: string,
    private readonly userId: number,
    /** Delays reading the state, which may be large, until messages are visible. */
    private readonly isDrawn: Promise<void> = Promise.resolve(),
  ) {
    // Accessing `indexedDB` throws in browsers that forbid storage.
    this.database = Promise.resolve().then(() =>
      openDB<Schema>(`parley ${baseUrl}`, 1, {
        upgrade(database) {
          database.createObjectStore('meta');
          database.createObjectStore('state');
          database.createObjectStore('events', { autoIncrement: true });
          database.createObjectStore('messages').createIndex('savedAt', 'savedAt');
        },
        blocking: (_, __, { target }) => (target as IDBDatabase).close(),
      }),
    );
    // Later calls report the failure.
    this.database.catch(() => {});
  }

  async load(): Promise<CachedChat | null> {
    const database = await this.database;
    if (!(await database.get('meta', 'chat'))) return null;
    await this.isDrawn;
    const transaction = database.transaction(['meta', 'state', 'events']);
    const [meta, state, events] = await Promise.all([
      transaction.objectStore('meta').get('chat'),
      transaction.objectStore('state').get('chat'),
      transaction.objectStore('events').getAll(),
    ]);
    if (!meta || !state) return null;
    if (meta.format !== CACHE_FORMAT || state.user_id !== this.userId) {
      await this.clear();
      return null;
    }
    return { ...meta, state, events: events.flat() };
  }

  async save({ format, state, events, position, since }: CachedChat): Promise<void> {
    const transaction = (await this.database).transaction(['meta', 'state', 'events'], 'readwrite');
    const rows = transaction.objectStore('events');
    await Promise.all([
      transaction.objectStore('meta').put({ format, position, since }, 'chat'),
      transaction.objectStore('state').put(state, 'chat'),
      rows.clear(),
      rows.add(events),
      transaction.done,
    ]);
  }

  async append(events: readonly Event[], lastEventId: number): Promise<void> {
    const transaction = (await this.database).transaction(['meta', 'events'], 'readwrite');
    const meta = await transaction.objectStore('meta').get('chat');
    if (!meta) throw new Error('Nothing was saved');
    const rows = transaction.objectStore('events');
    await Promise.all([
      rows.add(events),
      transaction.objectStore('meta').put({ ...meta, position: { ...meta.position, lastEventId } }, 'chat'),
      transaction.done,
    ]);
  }

  async loadMessages(key: string): Promise<CachedMessages | null> {
    return (await (await this.database).get('messages', key)) ?? null;
  }

  async saveMessages(key: string, cached: CachedMessages): Promise<void> {
    const transaction = (await this.database).transaction('messages', 'readwrite');
    await transaction.store.put({ ...cached, savedAt: Date.now() }, key);
    let surplus = (await transaction.store.count()) - MAX_CONVERSATIONS;
    for (let cursor = await transaction.store.index('savedAt').openCursor(); cursor && surplus > 0; surplus--) {
      await cursor.delete();
      cursor = await cursor.continue();
    }
    await transaction.done;
  }

  async clear(): Promise<void> {
    const transaction = (await this.database).transaction(['meta', 'state', 'events', 'messages'], 'readwrite');
    const names = ['meta', 'state', 'events', 'messages'] as const;
    await Promise.all([...names.map((name) => transaction.objectStore(name).clear()), transaction.done]);
  }
}
