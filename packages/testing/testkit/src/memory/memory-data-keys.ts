import {
  type DataFilter,
  type DataKey,
  type DataKeyDeclaration,
  type DataKeyId,
  type DataKeyRepository,
  indexedValue,
  type RealmId,
} from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly dataKeys: Map<DataKeyId, DataKey & { readonly realmId: RealmId }>;
  }
}

/** Implementation without an index: filters read all data. */
export class MemoryDataKeys implements DataKeyRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list(realmId: RealmId): Promise<readonly DataKey[]> {
    return [...this.unit.read('dataKeys').values()]
      .filter((key) => key.realmId === realmId)
      .map(({ realmId: _, ...key }) => key);
  }

  async listObjects(realmId: RealmId, { key, value }: DataFilter, after: number, limit: number) {
    const kind = this.unit.read('dataKeys').get(key.id)?.kind;
    return this.dataOf(realmId, kind)
      .filter(([id, { data }]) => id > after && indexedValue(data, key) === value)
      .map(([id]) => id)
      .sort((a, b) => a - b)
      .slice(0, limit);
  }

  async add(realmId: RealmId, key: DataKeyDeclaration): Promise<void> {
    const id = this.unit.nextNumber<DataKeyId>('dataKeys');
    this.unit.change('dataKeys').set(id, { ...key, id, isIndexed: false, realmId });
  }

  async remove(_realmId: RealmId, id: DataKeyId): Promise<void> {
    this.unit.change('dataKeys').delete(id);
  }

  async removeSome(): Promise<boolean> {
    return false;
  }

  async indexSome(realmId: RealmId): Promise<boolean> {
    for (const [id, key] of [...this.unit.read('dataKeys')]) {
      if (key.realmId === realmId) this.unit.change('dataKeys').set(id, { ...key, isIndexed: true });
    }
    return false;
  }

  async index(): Promise<void> {}

  private dataOf(realmId: RealmId, kind: string | undefined) {
    const owned =
      kind === 'message'
        ? [...this.unit.read('host data of messages')].map(([id, row]) => [id as number, row] as const)
        : [...this.unit.read('hostData')].flatMap(([key, row]) => {
            const [of, id] = key.split(':');
            return of === kind ? [[Number(id), row] as const] : [];
          });
    return owned.filter(([, row]) => row.realmId === realmId).map(([id, row]) => [id, row.data] as const);
  }
}
