import type { RealmId } from '@parley/domain/kernel';
import type { CachedKind, Connection } from './connection.js';

/**
 * Data, mostly versions of entities, by the stamp of their realm, shared by all connections. While the stamp is
 * unchanged, so is the data, and a unit that has read the stamp need not read it.
 */
export class KnownVersions<Version, Id extends string | number = number> {
  private readonly known = new Map<
    Id,
    { readonly realmId: RealmId; readonly stamp: number; readonly version: Version }
  >();
  /** Ids from the oldest on. One iterator for all evictions, because a new one visits every deleted entry again. */
  private readonly oldest = this.known.keys();

  constructor(
    private readonly capacity: number,
    private readonly kind: CachedKind = 'entities',
  ) {}

  /** @param read looks up the version; undefined for missing entities, which are never cached */
  async of(
    connection: Connection,
    realmId: RealmId,
    id: Id,
    read: () => Version | undefined | Promise<Version | undefined>,
  ): Promise<Version | undefined> {
    const known = (await this.findAll(connection, realmId, [id])).get(id);
    if (known !== undefined) return known;
    const version = await read();
    if (version !== undefined) await this.learn(connection, realmId, [[id, version]]);
    return version;
  }

  /** Returns the cached versions. */
  async findAll(connection: Connection, realmId: RealmId, ids: readonly Id[]): Promise<ReadonlyMap<Id, Version>> {
    const found = new Map<Id, Version>();
    const stamp = await connection.stampOf(realmId, this.kind);
    if (stamp === null) return found;
    for (const id of ids) {
      const existing = this.known.get(id);
      if (existing?.stamp === stamp && existing.realmId === realmId) found.set(id, existing.version);
    }
    return found;
  }

  /** Caches versions read by the unit. */
  async learn(connection: Connection, realmId: RealmId, read: readonly (readonly [Id, Version])[]): Promise<void> {
    const stamp = await connection.stampOf(realmId, this.kind);
    if (stamp === null) return;
    for (const [id, version] of read) {
      // Evicts the oldest entry; tracking usage would cost more than rereading.
      if (this.known.size >= this.capacity && !this.known.has(id)) this.known.delete(this.oldest.next().value!);
      this.known.set(id, { realmId, stamp, version });
    }
  }
}
