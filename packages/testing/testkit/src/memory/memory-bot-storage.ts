import { compareCodePoints, type RealmId, type UserId } from '@parley/domain/kernel';
import type { BotStorageRepository, MeasuredEntry, StorageUsage, StoredEntry } from '@parley/domain/membership';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Values by realm and bot, then by key. */
    readonly botStorage: Map<string, ReadonlyMap<string, string>>;
  }
}

const sizeOf = (key: string, value: string): number => [...key].length + [...value].length;

export class MemoryBotStorage implements BotStorageRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async usage(realmId: RealmId, botId: UserId): Promise<StorageUsage> {
    const values = this.valuesOf(realmId, botId);
    return { size: [...values].reduce((sum, [key, value]) => sum + sizeOf(key, value), 0), keys: values.size };
  }

  async sizesOf(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = await this.list(realmId, botId, [...new Set(keys)]);
    return new Map(found.map(({ key, value }) => [key, sizeOf(key, value)]));
  }

  async list(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<readonly StoredEntry[]> {
    const values = this.valuesOf(realmId, botId);
    return keys.flatMap((key) => (values.has(key) ? [{ key, value: values.get(key)! }] : []));
  }

  async listAfter(realmId: RealmId, botId: UserId, after: string | null, limit: number) {
    return [...this.valuesOf(realmId, botId)]
      .map(([key, value]) => ({ key, value }))
      .filter(({ key }) => after === null || compareCodePoints(key, after) > 0)
      .sort((a, b) => compareCodePoints(a.key, b.key))
      .slice(0, limit);
  }

  async put(realmId: RealmId, botId: UserId, entries: readonly MeasuredEntry[]): Promise<void> {
    const added = entries.map(({ key, value }) => [key, value] as const);
    this.replace(realmId, botId, [...this.valuesOf(realmId, botId), ...added]);
  }

  async remove(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<void> {
    const kept = [...this.valuesOf(realmId, botId)].filter(([key]) => !keys.includes(key));
    this.replace(realmId, botId, kept);
  }

  async removeSome(realmId: RealmId, botId: UserId, limit: number): Promise<number> {
    const all = [...this.valuesOf(realmId, botId)];
    this.replace(realmId, botId, all.slice(limit));
    return Math.min(all.length, limit);
  }

  private valuesOf(realmId: RealmId, botId: UserId): ReadonlyMap<string, string> {
    return this.unit.read('botStorage').get(keyOf(realmId, botId)) ?? new Map();
  }

  private replace(realmId: RealmId, botId: UserId, values: readonly (readonly [string, string])[]): void {
    this.unit.change('botStorage').set(keyOf(realmId, botId), new Map(values));
  }
}
