import type { RealmId, UserId } from '@parley/domain/kernel';
import { type ExternalIdRepository, externalIdTaken } from '@parley/domain/membership';
import type { StorageFeature } from '../engine/feature.js';
import type { Statements } from '../engine/statements.js';

export class SqlExternalIdRepository implements ExternalIdRepository {
  private readonly byValue;
  private readonly byValues;
  private readonly byUsers;
  private readonly store;
  private readonly clear;

  constructor(private readonly connection: Statements) {
    const { inSet } = connection.dialect;
    this.byValue = connection.values<UserId>('SELECT id FROM "user" WHERE realm_id = ? AND external_id = ?');
    this.byValues = connection.tuples<readonly [string, UserId]>(
      `SELECT external_id, id FROM "user" WHERE external_id ${inSet} AND realm_id = ?`,
    );
    this.byUsers = connection.tuples<readonly [UserId, string]>(
      `SELECT id, external_id FROM "user" WHERE id ${inSet} AND +realm_id = ? AND external_id IS NOT NULL`,
    );
    this.store = connection.command(
      `UPDATE "user" SET external_id = ?, version = version + 1
       WHERE id = ? AND realm_id = ? AND external_id IS NULL
         AND NOT EXISTS (SELECT 1 FROM "user" other WHERE other.realm_id = ? AND other.external_id = ?)`,
    );
    this.clear = connection.command(
      'UPDATE "user" SET external_id = NULL, version = version + 1 WHERE id = ? AND realm_id = ?',
    );
  }

  async find(realmId: RealmId, externalId: string): Promise<UserId | null> {
    return (await this.byValue.get(realmId, externalId)) ?? null;
  }

  async listUserIds(realmId: RealmId, externalIds: readonly string[]): Promise<ReadonlyMap<string, UserId>> {
    return new Map(await this.byValues.all(this.connection.dialect.set(externalIds), realmId));
  }

  async listByUser(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    return new Map(await this.byUsers.all(this.connection.dialect.set(userIds), realmId));
  }

  async assign(realmId: RealmId, userId: UserId, externalId: string): Promise<void> {
    this.connection.disableCaching();
    if ((await this.store.run(externalId, userId, realmId, realmId, externalId)).changes === 1) return;
    if ((await this.find(realmId, externalId)) !== userId) throw externalIdTaken(externalId);
  }

  async remove(realmId: RealmId, userId: UserId): Promise<void> {
    this.connection.disableCaching();
    this.clear.defer(userId, realmId);
  }
}

export const HOST_USER_FEATURE = {
  schema: 'host-users',
  repositories: () => (connection) => ({ externalIds: new SqlExternalIdRepository(connection) }),
} satisfies StorageFeature;
