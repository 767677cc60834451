import { CACHE_FORMAT, type CachedChat, type CachedMessages, type ChatCache } from '@parley/chat';
import type { Event, InitialState, QueuePosition } from '@parley/client';

/** Maximum number of cached conversations; the least recently saved one is evicted. */
const MAX_CONVERSATIONS = 50;

const STORES = ['meta', 'state', 'events', 'messages'] as const;

type Store = (typeof STORES)[number];

/** Key of the only row of `meta` and `state`. */
const KEY = 'chat';

/** Identifies the state. */
interface Meta {
  readonly format: number;
  readonly position: QueuePosition;
  readonly since: number;
}

/** A person's state in IndexedDB. Each method is one transaction, so a crash leaves a consistent state. */
export class IdbCache implements ChatCache {
  private readonly database: Promise<IDBDatabase>;

  constructor(
    baseUrl: string,
    private readonly userId: number,
    /** Delays reading the state, which may be large, until messages are visible. */
    private readonly isDrawn: Promise<void> = Promise.resolve(),
  ) {
    this.database = open(`parley ${baseUrl}`);
    // Later calls report the failure.
    this.database.catch(() => {});
  }

  async load(): Promise<CachedChat | null> {
    const start = await this.begin('readonly', 'meta');
    if (!(await resultOf(start.objectStore('meta').get(KEY)))) return null;
    await this.isDrawn;
    const transaction = await this.begin('readonly', 'meta', 'state', 'events');
    const [meta, state, events] = await Promise.all([
      resultOf<Meta | undefined>(transaction.objectStore('meta').get(KEY)),
      resultOf<InitialState | undefined>(transaction.objectStore('state').get(KEY)),
      resultOf<(readonly Event[])[]>(transaction.objectStore('events').getAll()),
    ]);
    if (!meta || !state) return null;
    if (meta.format !== CACHE_FORMAT || state.user_id !== this.userId) {
      await this.clear();
      return null;
    }
    return { ...meta, state, events: events.flat() };
  }

  async save({ format, state, events, position, since }: CachedChat): Promise<void> {
    const transaction = await this.begin('readwrite', 'meta', 'state', 'events');
    const rows = transaction.objectStore('events');
    transaction.objectStore('meta').put({ format, position, since }, KEY);
    transaction.objectStore('state').put(state, KEY);
    rows.clear();
    rows.add(events);
    await done(transaction);
  }

  async append(events: readonly Event[], lastEventId: number): Promise<void> {
    const transaction = await this.begin('readwrite', 'meta', 'events');
    const metas = transaction.objectStore('meta');
    const meta = await resultOf<Meta | undefined>(metas.get(KEY));
    if (!meta) throw new Error('Nothing was saved');
    transaction.objectStore('events').add(events);
    metas.put({ ...meta, position: { ...meta.position, lastEventId } }, KEY);
    await done(transaction);
  }

  async loadMessages(key: string): Promise<CachedMessages | null> {
    const transaction = await this.begin('readonly', 'messages');
    return (await resultOf<CachedMessages | undefined>(transaction.objectStore('messages').get(key))) ?? null;
  }

  async saveMessages(key: string, cached: CachedMessages): Promise<void> {
    const transaction = await this.begin('readwrite', 'messages');
    const messages = transaction.objectStore('messages');
    messages.put({ ...cached, savedAt: Date.now() }, key);
    const surplus = (await resultOf(messages.count())) - MAX_CONVERSATIONS;
    if (surplus > 0) {
      const oldest = await resultOf(messages.index('savedAt').getAllKeys(null, surplus));
      for (const each of oldest) messages.delete(each);
    }
    await done(transaction);
  }

  async clear(): Promise<void> {
    const transaction = await this.begin('readwrite', ...STORES);
    for (const name of STORES) transaction.objectStore(name).clear();
    await done(transaction);
  }

  private async begin(mode: IDBTransactionMode, ...stores: readonly Store[]): Promise<IDBTransaction> {
    return (await this.database).transaction(stores, mode);
  }
}

/** @throws if the browser forbids storage */
async function open(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    const { result: database } = request;
    database.createObjectStore('meta');
    database.createObjectStore('state');
    // One row per response: thousands of rows would take as long as applying their events.
    database.createObjectStore('events', { autoIncrement: true });
    database.createObjectStore('messages').createIndex('savedAt', 'savedAt');
  };
  const database = await resultOf(request);
  // Deleting the database waits until it is closed.
  database.onversionchange = () => database.close();
  return database;
}

const resultOf = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Resolves when the changes are stored. */
const done = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
