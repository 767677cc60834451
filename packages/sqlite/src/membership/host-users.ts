import type { RealmId, UserId } from '@parley/domain/kernel';
import { type ExternalIdRepository, externalIdTaken } from '@parley/domain/membership';
import { jsonList } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

export class SqliteExternalIdRepository implements ExternalIdRepository {
  private readonly byValue;
  private readonly byValues;
  private readonly byUsers;
  private readonly store;

  constructor(private readonly connection: Connection) {
    this.byValue = connection.values<UserId>('SELECT id FROM user WHERE realm_id = ? AND external_id = ?');
    this.byValues = connection.tuples<readonly [string, UserId]>(
      `SELECT u.external_id, u.id FROM json_each(?) j
       CROSS JOIN user u ON u.realm_id = ? AND u.external_id = j.value`,
    );
    this.byUsers = connection.tuples<readonly [UserId, string]>(
      `SELECT u.id, u.external_id FROM json_each(?) j
       CROSS JOIN user u ON u.id = j.value AND +u.realm_id = ? AND u.external_id IS NOT NULL`,
    );
    this.store = connection.command(
      `UPDATE user SET external_id = ?, version = version + 1
       WHERE id = ? AND realm_id = ? AND external_id IS NULL
         AND NOT EXISTS (SELECT 1 FROM user other WHERE other.realm_id = user.realm_id AND other.external_id = ?)`,
    );
  }

  async find(realmId: RealmId, externalId: string): Promise<UserId | null> {
    return this.byValue.get(realmId, externalId) ?? null;
  }

  async listUserIds(realmId: RealmId, externalIds: readonly string[]): Promise<ReadonlyMap<string, UserId>> {
    return new Map(this.byValues.all(jsonList(externalIds), realmId));
  }

  async listByUser(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    return new Map(this.byUsers.all(jsonList(userIds), realmId));
  }

  async assign(realmId: RealmId, userId: UserId, externalId: string): Promise<void> {
    this.connection.disableCaching();
    if (this.store.run(externalId, userId, realmId, externalId).changes === 1) return;
    if ((await this.find(realmId, externalId)) !== userId) throw externalIdTaken(externalId);
  }
}

export const HOST_USER_FEATURE = {
  schema: 'host-users',
  repositories: () => (connection) => ({ externalIds: new SqliteExternalIdRepository(connection) }),
} satisfies SqliteFeature;
