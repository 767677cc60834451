import type { Connection } from './connection.js';

/**
 * Entities by id under the version they were read at. Shared by all connections: whoever asks says which version their own
 * snapshot holds, so that nobody sees another unit's. A version that was never committed never gets in.
 */
export class VersionedCache<Version extends string | number, Value> {
  private readonly entries = new Map<number, { readonly version: Version; readonly value: Value }>();

  constructor(private readonly capacity: number) {}

  get(id: number, version: Version): Value | undefined {
    const entry = this.entries.get(id);
    return entry?.version === version ? entry.value : undefined;
  }

  put(connection: Connection, id: number, version: Version, value: Value): void {
    if (!connection.isCacheable) return;
    if (this.entries.size >= this.capacity && !this.entries.has(id)) {
      // The one longest in the cache; keeping track of use would cost more than reading it again.
      this.entries.delete(this.entries.keys().next().value!);
    }
    this.entries.set(id, { version, value });
  }
}

/**
 * Gives a pure function of a text a memory: most rows of a table hold the same JSON, and one value then serves them all.
 */
export function memoize<Value>(parse: (text: string) => Value, capacity = 1000): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const value = parse(text);
    if (known.size >= capacity) known.clear();
    known.set(text, value);
    return value;
  };
}
