import type { RealmId } from '@parley/domain/kernel';
import type { Presence, PresenceRepository } from '@parley/domain/users';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Presence by realm and user. */
    readonly presence: Map<string, Presence & { readonly realmId: RealmId }>;
  }
}

export class MemoryPresence implements PresenceRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list(realmId: RealmId, after = 0): Promise<readonly Presence[]> {
    return [...this.unit.read('presence').values()]
      .filter((row) => row.realmId === realmId && row.updateId > after)
      .map(({ realmId: _, ...presence }) => presence)
      .sort((a, b) => a.updateId - b.updateId);
  }

  async put(realmId: RealmId, presences: readonly Presence[]): Promise<void> {
    for (const { userId, lastActive, lastConnected, updateId } of presences) {
      const row = { realmId, userId, lastActive, lastConnected, updateId };
      this.unit.change('presence').set(keyOf(realmId, userId), row);
    }
  }

  async reserveIds(realmId: RealmId, count: number): Promise<number> {
    const counter = `presence ${realmId}`;
    const last = this.unit.read('counters').get(counter) ?? 0;
    this.unit.change('counters').set(counter, last + count);
    return last + 1;
  }
}
