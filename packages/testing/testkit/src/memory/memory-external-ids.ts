import type { RealmId, UserId } from '@parley/domain/kernel';
import { type ExternalIdRepository, externalIdTaken } from '@parley/domain/membership';
import type { MemoryUsers } from './memory-users.js';

export class MemoryExternalIds implements ExternalIdRepository {
  constructor(private readonly users: MemoryUsers) {}

  async find(realmId: RealmId, externalId: string): Promise<UserId | null> {
    return (await this.listUserIds(realmId, [externalId])).get(externalId) ?? null;
  }

  async listUserIds(realmId: RealmId, externalIds: readonly string[]): Promise<ReadonlyMap<string, UserId>> {
    const users = await this.users.listByExternalId(realmId, externalIds);
    return new Map(users.map(({ id, externalId }) => [externalId!, id]));
  }

  async listByUser(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    const users = await this.users.list(realmId, userIds);
    return new Map(users.flatMap(({ id, externalId }) => (externalId === undefined ? [] : [[id, externalId]])));
  }

  async assign(realmId: RealmId, userId: UserId, externalId: string): Promise<void> {
    const user = await this.users.find(realmId, userId);
    const owner = await this.find(realmId, externalId);
    if (owner === userId) return;
    if (!user || user.externalId !== undefined || owner !== null) throw externalIdTaken(externalId);
    await this.users.update({ ...user, externalId });
  }

  async remove(realmId: RealmId, userId: UserId): Promise<void> {
    const { externalId: _, ...user } = await this.users.get(realmId, userId);
    await this.users.update(user);
  }
}
