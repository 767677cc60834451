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

  /** Under whichever version it is kept; of the reader's own snapshot or not. */
  peek(id: number): Value | undefined {
    return this.entries.get(id)?.value;
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
