import type { RealmId, UserId } from '@parley/domain/kernel';
import { type ExternalIdRepository, externalIdTaken } from '@parley/domain/membership';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresExternalIdRepository implements ExternalIdRepository {
  private readonly byValue;
  private readonly byValues;
  private readonly byUsers;
  private readonly store;

  constructor(private readonly connection: Connection) {
    this.byValue = connection.values<UserId>('SELECT id FROM "user" WHERE realm_id = $1 AND external_id = $2');
    this.byValues = connection.tuples<readonly [string, UserId]>(
      'SELECT external_id, id FROM "user" WHERE external_id = ANY($1) AND realm_id = $2',
    );
    this.byUsers = connection.tuples<readonly [UserId, string]>(
      'SELECT id, external_id FROM "user" WHERE id = ANY($1) AND realm_id = $2 AND external_id IS NOT NULL',
    );
    this.store = connection.command(
      `UPDATE "user" SET external_id = $1, version = version + 1
       WHERE id = $2 AND realm_id = $3 AND external_id IS NULL
         AND NOT EXISTS (SELECT 1 FROM "user" other WHERE other.realm_id = $3 AND other.external_id = $1)`,
    );
  }

  async find(realmId: RealmId, externalId: string): Promise<UserId | null> {
    return (await this.byValue.get(realmId, externalId)) ?? null;
  }

  async listUserIds(realmId: RealmId, externalIds: readonly string[]): Promise<ReadonlyMap<string, UserId>> {
    return new Map(await this.byValues.all([...externalIds], realmId));
  }

  async listByUser(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    return new Map(await this.byUsers.all([...userIds], realmId));
  }

  async assign(realmId: RealmId, userId: UserId, externalId: string): Promise<void> {
    this.connection.disableCaching();
    if ((await this.store.run(externalId, userId, realmId)).changes === 1) return;
    if ((await this.find(realmId, externalId)) !== userId) throw externalIdTaken(externalId);
  }
}

export const HOST_USER_FEATURE = {
  repositories: () => (connection) => ({ externalIds: new PostgresExternalIdRepository(connection) }),
} satisfies PostgresFeature;
