import type { Destination } from '@parley/chat';

/** Texts that last until the page closes, if storage is forbidden. */
const ofPage = new Map<string, string>();

/** Text stored in this browser; null if there is none. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return ofPage.get(key) ?? null;
  }
}

/** Stores a text in this browser, or removes it if null. Returns false if storage is full or forbidden. */
export function store(key: string, text: string | null): boolean {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    return true;
  } catch {
    if (text === null) ofPage.delete(key);
    else ofPage.set(key, text);
    return false;
  }
}

/** Keys of stored texts with a prefix. */
export function storedKeys(prefix: string): readonly string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [...ofPage.keys()].filter((key) => key.startsWith(prefix));
  }
}

/** True for a destination. Stored data may be damaged or belong to another page of the same origin. */
export function isDestination(value: unknown): value is Destination {
  const { kind, channelId, topic, userIds } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return kind === 'channel'
    ? Number.isInteger(channelId) && typeof topic === 'string'
    : kind === 'direct' && Array.isArray(userIds) && userIds.every(Number.isInteger);
}
