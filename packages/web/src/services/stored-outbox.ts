import type { OutboxStorage, OutgoingMessage } from '@parley/chat';

/**
 * Messages on their way in the browser's storage, a list for each tab. A tab holds a lock as long as it lives; when it is
 * gone, another one takes its list over.
 */
export class StoredOutbox implements OutboxStorage {
  private readonly key: string;

  constructor(
    /** Names the organization and the person. */
    private readonly prefix: string,
  ) {
    this.key = `${prefix}${Date.now()}.${Math.random()}`;
  }

  takeOver(found: (messages: readonly OutgoingMessage[]) => void): void {
    if (!('locks' in navigator)) return;
    void navigator.locks.request(this.key, () => new Promise(() => {}));
    for (const key of this.otherKeys()) {
      void navigator.locks.request(key, () => {
        const text = localStorage.getItem(key);
        if (text === null) return;
        // They are in the own list before they leave the other one.
        found(JSON.parse(text));
        localStorage.removeItem(key);
      });
    }
  }

  save(messages: readonly OutgoingMessage[]): void {
    // Storage may be full or forbidden; the messages then last as long as the page.
    try {
      if (messages.length === 0) localStorage.removeItem(this.key);
      else localStorage.setItem(this.key, JSON.stringify(messages));
    } catch {}
  }

  private otherKeys(): readonly string[] {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(this.prefix) && key !== this.key);
    } catch {
      return [];
    }
  }
}
