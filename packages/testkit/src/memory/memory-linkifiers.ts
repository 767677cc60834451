import type { RealmId } from '@parley/domain/kernel';
import type { Linkifier, LinkifierFields, LinkifierRepository } from '@parley/domain/realms';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Order of application. */
    readonly linkifiers: Map<RealmId, readonly Linkifier[]>;
  }
}

export class MemoryLinkifiers implements LinkifierRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async add(realmId: RealmId, linkifier: LinkifierFields): Promise<number> {
    const id = this.unit.nextNumber('linkifier');
    this.put(realmId, [...this.list(realmId), { ...linkifier, id }]);
    return id;
  }

  async update(realmId: RealmId, linkifier: Linkifier): Promise<boolean> {
    return this.replace(realmId, linkifier.id, [linkifier]);
  }

  async remove(realmId: RealmId, id: number): Promise<boolean> {
    return this.replace(realmId, id, []);
  }

  async reorder(realmId: RealmId, ids: readonly number[]): Promise<void> {
    const rows = new Map(this.list(realmId).map((row) => [row.id, row]));
    this.put(
      realmId,
      ids.map((id) => rows.get(id)!),
    );
  }

  private list(realmId: RealmId): readonly Linkifier[] {
    return this.unit.read('linkifiers').get(realmId) ?? [];
  }

  private put(realmId: RealmId, rows: readonly Linkifier[]): void {
    this.unit.change('linkifiers').set(realmId, rows);
  }

  /** Returns true if the linkifier existed. */
  private replace(realmId: RealmId, id: number, by: readonly Linkifier[]): boolean {
    const rows = this.list(realmId);
    this.put(
      realmId,
      rows.flatMap((row) => (row.id === id ? by : [row])),
    );
    return rows.some((row) => row.id === id);
  }
}
