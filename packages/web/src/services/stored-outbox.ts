import type { OutboxStorage, OutgoingMessage } from '@parley/chat';
import { hasStorage, isDestination, readStored, store, storedKeys } from './storage.js';

/** Time in which a page that is loaded again starts. */
const RELOAD_MS = 10_000;

/**
 * Messages on their way in the browser's storage, a list for each tab. A tab holds a lock as long as it lives; when it is
 * gone, another one takes its list over.
 */
export class StoredOutbox implements OutboxStorage {
  private readonly key: string;
  private readonly ending = new AbortController();

  constructor(
    /** Names the organization and the person. */
    private readonly prefix: string,
  ) {
    this.key = `${prefix}${Date.now()}.${Math.random()}`;
  }

  takeOver(found: (messages: readonly OutgoingMessage[]) => void): void {
    const { signal } = this.ending;
    const take = (key: string) => {
      const text = readStored(key);
      if (text === null || signal.aborted) return;
      // Messages are in the own list before they leave the other one.
      found(parsed(text));
      store(key, null);
    };
    const others = storedKeys(this.prefix).filter((key) => key !== this.key);
    // Lists of this page alone, whose earlier chat has ended.
    if (!hasStorage()) others.forEach(take);
    if (!hasStorage() || !('locks' in navigator)) return;
    const hold = (key: string, task: () => Promise<void> | void) => navigator.locks.request(key, task).catch(() => {});
    void hold(this.key, () => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())));
    const takeFree = (key: string) => hold(key, () => take(key));
    const known = new Set([this.key, ...others]);
    for (const key of others) void takeFree(key);
    // Lists that other tabs begin later. A tab that is loaded again takes its own list first.
    const follow = ({ key }: StorageEvent) => {
      if (!key?.startsWith(this.prefix) || known.has(key)) return;
      known.add(key);
      void hold(key, () => {}).then(() => setTimeout(takeFree, RELOAD_MS, key));
    };
    addEventListener('storage', follow, { signal });
  }

  release(): void {
    this.ending.abort();
  }

  /** Removes the lists of all tabs, on logging out. */
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
  try {
    const messages = JSON.parse(text);
    return Array.isArray(messages) ? messages.filter(isOutgoing) : [];
  } catch {
    return [];
  }
}
