/** Caching-related part of a unit's connection. */
export interface Cacheability {
  /** False if the unit may read data that is never committed. */
  readonly isCacheable: boolean;
}

/**
 * Cache of entities by id and version, shared by all connections. Callers pass the version of their snapshot and so
 * never see data of another unit. Uncommitted versions are never cached.
 */
export class VersionedCache<Version extends string | number, Value> {
  private readonly entries = new Map<number, { readonly version: Version; readonly value: Value }>();
  /** Ids from the oldest on. One iterator for all evictions, because a new one visits every deleted entry again. */
  private readonly oldest = this.entries.keys();

  constructor(private readonly capacity: number) {}

  get(id: number, version: Version): Value | undefined {
    const entry = this.entries.get(id);
    return entry?.version === version ? entry.value : undefined;
  }

  /** Returns the cached entity of any version. */
  peek(id: number): Value | undefined {
    return this.entries.get(id)?.value;
  }

  put(connection: Cacheability, id: number, version: Version, value: Value): void {
    if (!connection.isCacheable) return;
    if (this.entries.size >= this.capacity && !this.entries.has(id)) {
      // Evicts the oldest entry; tracking usage would cost more than rereading.
      this.entries.delete(this.oldest.next().value!);
    }
    this.entries.set(id, { version, value });
  }
}
