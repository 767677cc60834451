import type { RealmId, UserId } from '@parley/domain/kernel';
import { type ExternalIdRepository, externalIdTaken } from '@parley/domain/membership';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly externalIds: Map<UserId, { readonly realmId: RealmId; readonly externalId: string }>;
  }
}

export class MemoryExternalIds implements ExternalIdRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, externalId: string): Promise<UserId | null> {
    return (await this.listUserIds(realmId, [externalId])).get(externalId) ?? null;
  }

  async listUserIds(realmId: RealmId, externalIds: readonly string[]): Promise<ReadonlyMap<string, UserId>> {
    const wanted = new Set(externalIds);
    const found = new Map<string, UserId>();
    for (const [userId, row] of this.unit.read('externalIds')) {
      if (row.realmId === realmId && wanted.has(row.externalId)) found.set(row.externalId, userId);
    }
    return found;
  }

  async listByUser(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    const rows = this.unit.read('externalIds');
    const found = new Map<UserId, string>();
    for (const userId of userIds) {
      const row = rows.get(userId);
      if (row?.realmId === realmId) found.set(userId, row.externalId);
    }
    return found;
  }

  async assign(realmId: RealmId, userId: UserId, externalId: string): Promise<void> {
    const own = this.unit.read('externalIds').get(userId)?.externalId;
    const owner = await this.find(realmId, externalId);
    if (own === externalId && owner === userId) return;
    if (own !== undefined || owner !== null) throw externalIdTaken(externalId);
    this.unit.change('externalIds').set(userId, { realmId, externalId });
  }
}
