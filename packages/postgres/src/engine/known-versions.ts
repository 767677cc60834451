import type { RealmId } from '@parley/domain/kernel';
import type { Connection } from './connection.js';

/**
 * Versions of entities by the stamp of their realm, shared by all connections. While the stamp is the same, nobody has
 * changed cached data of the realm, so a unit that has read its stamp need not ask for versions.
 */
export class KnownVersions<Version extends string | number> {
  private readonly known = new Map<
    number,
    { readonly realmId: RealmId; readonly stamp: number; readonly version: Version }
  >();

  constructor(private readonly capacity: number) {}

  /** @param read looks the version up; undefined if there is no such entity, which is never known */
  async of(
    connection: Connection,
    realmId: RealmId,
    id: number,
    read: () => Promise<Version | undefined>,
  ): Promise<Version | undefined> {
    const stamp = await connection.stampOf(realmId);
    if (stamp === null) return read();
    const existing = this.known.get(id);
    if (existing?.stamp === stamp && existing.realmId === realmId) return existing.version;
    const version = await read();
    if (version === undefined || !connection.isCacheable) return version;
    // Evicts the oldest entry; tracking usage would cost more than reading again.
    if (this.known.size >= this.capacity && !this.known.has(id)) this.known.delete(this.known.keys().next().value!);
    this.known.set(id, { realmId, stamp, version });
    return version;
  }
}
