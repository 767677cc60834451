import type { RealmId } from '@parley/domain/kernel';
import type { Connection } from './connection.js';

/**
 * Values that a connection has read, such as versions of entities. Valid until another connection commits or a unit
 * changes cached data.
 */
export class KnownValues<Value> {
  private readonly values = new Map<number, { readonly realmId: RealmId; readonly value: Value }>();
  private epoch = 0;

  constructor(
    private readonly connection: Connection,
    private readonly capacity: number,
  ) {}

  /** @param read looks up the value; undefined for missing entities, which are read again */
  get(realmId: RealmId, id: number, read: () => Value | undefined): Value | undefined {
    if (!this.connection.isCacheable) return read();
    this.dropStale();
    const known = this.values.get(id);
    if (known?.realmId === realmId) return known.value;
    const value = read();
    if (value !== undefined) this.put(realmId, id, value);
    return value;
  }

  put(realmId: RealmId, id: number, value: Value): void {
    if (!this.connection.isCacheable) return;
    this.dropStale();
    if (this.values.size >= this.capacity) this.values.clear();
    this.values.set(id, { realmId, value });
  }

  forget(id: number): void {
    this.values.delete(id);
  }

  private dropStale(): void {
    const { epoch } = this.connection;
    if (epoch !== this.epoch) this.values.clear();
    this.epoch = epoch;
  }
}
