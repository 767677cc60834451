import type { ProfileFieldId, RealmId, UserId } from '@parley/domain/kernel';
import type { ProfileRepository, ProfileValue } from '@parley/domain/users';
import { ascending, keyOf, type MemoryUnit } from './tables.js';

interface ValueRow {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly value: ProfileValue;
}

declare module './tables.js' {
  interface Tables {
    /** Values by user and field. */
    readonly profileValues: Map<string, ValueRow>;
  }
}

export class MemoryProfiles implements ProfileRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async listValues(
    realmId: RealmId,
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, readonly ProfileValue[]>> {
    const values = new Map<UserId, ProfileValue[]>();
    for (const row of this.rows(realmId)) {
      if (!userIds.includes(row.userId)) continue;
      values.set(row.userId, [...(values.get(row.userId) ?? []), row.value]);
    }
    for (const own of values.values()) own.sort((a, b) => ascending(a.fieldId, b.fieldId));
    return values;
  }

  async putValue(realmId: RealmId, userId: UserId, value: ProfileValue): Promise<void> {
    this.unit.change('profileValues').set(keyOf(userId, value.fieldId), { realmId, userId, value });
    this.renew(userId);
  }

  async removeValue(realmId: RealmId, userId: UserId, fieldId: ProfileFieldId): Promise<boolean> {
    const key = keyOf(userId, fieldId);
    if (this.unit.read('profileValues').get(key)?.realmId !== realmId) return false;
    this.unit.change('profileValues').delete(key);
    this.renew(userId);
    return true;
  }

  async removeValuesOf(
    realmId: RealmId,
    fieldId: ProfileFieldId,
    values: readonly string[] | null,
    limit: number,
  ): Promise<number> {
    const removed = this.rows(realmId)
      .filter(({ value }) => value.fieldId === fieldId && (values === null || values.includes(value.value)))
      .slice(0, limit);
    for (const { userId } of removed) await this.removeValue(realmId, userId, fieldId);
    return removed.length;
  }

  private rows(realmId: RealmId): ValueRow[] {
    return [...this.unit.read('profileValues').values()].filter((row) => row.realmId === realmId);
  }

  private renew(userId: UserId): void {
    const row = this.unit.read('users').get(userId)!;
    this.unit.change('users').set(userId, { ...row, user: { ...row.user, version: row.user.version + 1 } });
  }
}
