import type { OutboxStorage, OutgoingMessage } from '@parley/chat';
import { isDestination, parseStored, readStored, store, storedKeys } from './storage.js';

/** Time for a reloaded page to start. */
const RELOAD_MS = 10_000;

/**
 * Unsent messages in the browser's storage, one list per tab. A tab holds a lock while it exists; afterwards another
 * tab takes over its list.
 */
export class StoredOutbox implements OutboxStorage {
  private readonly key: string;
  private readonly ending = new AbortController();

  constructor(
    /** Identifies the organization and the person. */
    private readonly prefix: string,
  ) {
    this.key = `${prefix}${Date.now()}.${Math.random()}`;
  }

  takeOver(found: (messages: readonly OutgoingMessage[]) => void): void {
    if (!('locks' in navigator)) return;
    // Browsers that refuse locks keep lists only until the page closes; its previous chat has ended.
    const hold = (key: string, task: () => Promise<void> | void) => navigator.locks.request(key, task).catch(task);
    const { signal } = this.ending;
    void hold(this.key, () => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())));
    const take = (key: string) =>
      hold(key, () => {
        const text = readStored(key);
        if (text === null || signal.aborted) return;
        // Messages are added to the own list before they are removed from the other one.
        found(parsed(text));
        store(key, null);
      });
    const known = new Set([this.key, ...storedKeys(this.prefix)]);
    for (const key of known) if (key !== this.key) void take(key);
    // Also takes over lists created later. Gives a reloading tab time to take its own list first.
    const follow = ({ key }: StorageEvent) => {
      if (!key?.startsWith(this.prefix) || known.has(key)) return;
      known.add(key);
      void hold(key, () => {}).then(() => setTimeout(take, RELOAD_MS, key));
    };
    addEventListener('storage', follow, { signal });
  }

  release(): void {
    this.ending.abort();
  }

  /** Removes the lists of all tabs on logout. */
  clear(): void {
    for (const key of storedKeys(this.prefix)) store(key, null);
  }

  save(messages: readonly OutgoingMessage[]): void {
    store(this.key, messages.length === 0 ? null : JSON.stringify(messages));
  }
}

function isOutgoing(value: unknown): value is OutgoingMessage {
  const { key, content, createdAt, destination } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    typeof key === 'string' &&
    typeof content === 'string' &&
    typeof createdAt === 'number' &&
    isDestination(destination)
  );
}

function parsed(text: string): readonly OutgoingMessage[] {
  const messages = parseStored(text);
  return Array.isArray(messages) ? messages.filter(isOutgoing) : [];
}
