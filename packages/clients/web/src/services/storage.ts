import type { Destination } from '@parley/chat';

/** Texts that last until the page closes, because storage is full or forbidden. */
const ofPage = new Map<string, string>();

/** Text stored in this browser; null if there is none. */
export function readStored(key: string): string | null {
  try {
    return ofPage.get(key) ?? localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores a text in this browser, or removes it if null. */
export function store(key: string, text: string | null): void {
  ofPage.delete(key);
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    if (text !== null) ofPage.set(key, text);
  }
}

/** Keys of stored texts with a prefix. */
export function storedKeys(prefix: string): readonly string[] {
  return [...new Set([...ofPage.keys(), ...keysInBrowser()])].filter((key) => key.startsWith(prefix));
}

function keysInBrowser(): readonly string[] {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}

/**
 * Records of one kind, each in its own item. A window sees the changes of other windows a moment later, so windows that
 * share an item could overwrite each other's changes.
 */
export class StoredRecords {
  private readonly prefix: string;

  constructor(
    /** Storage key of the kind. */
    storageKey: string,
  ) {
    this.prefix = `${storageKey} `;
  }

  /** Texts by name. */
  read(): ReadonlyMap<string, string> {
    return new Map(storedKeys(this.prefix).map((key) => [key.slice(this.prefix.length), readStored(key) ?? '']));
  }

  get(name: string): string | null {
    return readStored(this.prefix + name);
  }

  /** Stores a record, or removes it if null. */
  set(name: string, text: string | null): void {
    const key = this.prefix + name;
    if (ofPage.has(key) || readStored(key) !== text) store(key, text);
  }

  clear(): void {
    for (const name of this.read().keys()) this.set(name, null);
  }

  /** Calls a function for changes of other windows. Returns an unsubscribe function. */
  follow(onChange: () => void): () => void {
    const onStorage = ({ key }: StorageEvent) => key?.startsWith(this.prefix) && onChange();
    addEventListener('storage', onStorage);
    return () => removeEventListener('storage', onStorage);
  }
}

/** JSON value of a stored text; null if there is none or it is damaged. */
export function parseStored(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/** True for a destination. Stored data may be damaged or belong to another page of the same origin. */
export function isDestination(value: unknown): value is Destination {
  const { kind, channelId, topic, userIds } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return kind === 'channel'
    ? Number.isInteger(channelId) && typeof topic === 'string'
    : kind === 'direct' && Array.isArray(userIds) && userIds.every(Number.isInteger);
}
