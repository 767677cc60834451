import type { OutboxStorage, OutgoingMessage } from '@parley/chat';
import { isDestination, readStored, store, storedKeys } from './storage.js';

/**
 * Messages on their way in the browser's storage, a list for each tab. A tab holds a lock as long as it lives; when it is
 * gone, another one takes its list over.
 */
export class StoredOutbox implements OutboxStorage {
  private readonly key: string;
  private end: (() => void) | null = null;

  constructor(
    /** Names the organization and the person. */
    private readonly prefix: string,
  ) {
    this.key = `${prefix}${Date.now()}.${Math.random()}`;
  }

  takeOver(found: (messages: readonly OutgoingMessage[]) => void): void {
    if (!('locks' in navigator)) return;
    // Browsers that refuse locks keep no lists either.
    const hold = (key: string, task: () => Promise<void> | void) => navigator.locks.request(key, task).catch(() => {});
    void hold(
      this.key,
      () =>
        new Promise<void>((resolve) => {
          this.end = resolve;
        }),
    );
    for (const key of storedKeys(this.prefix)) {
      if (key === this.key) continue;
      void hold(key, () => {
        const text = readStored(key);
        if (text === null) return;
        // Messages are in the own list before they leave the other one.
        found(parsed(text));
        store(key, null);
      });
    }
  }

  release(): void {
    this.end?.();
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
