import type { RealmId, UserId } from '@parley/domain/kernel';
import type { StatusRepository, UserStatus } from '@parley/domain/users';
import { ascending, keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Statuses by realm and user. */
    readonly statuses: Map<string, { readonly realmId: RealmId; readonly userId: UserId; readonly status: UserStatus }>;
  }
}

export class MemoryStatuses implements StatusRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, userId: UserId): Promise<UserStatus | null> {
    return this.unit.read('statuses').get(keyOf(realmId, userId))?.status ?? null;
  }

  async list(realmId: RealmId): Promise<ReadonlyMap<UserId, UserStatus>> {
    const rows = [...this.unit.read('statuses').values()].filter((row) => row.realmId === realmId);
    return new Map(rows.sort((a, b) => ascending(a.userId, b.userId)).map(({ userId, status }) => [userId, status]));
  }

  async put(realmId: RealmId, userId: UserId, status: UserStatus): Promise<void> {
    this.unit.change('statuses').set(keyOf(realmId, userId), { realmId, userId, status });
  }
}
