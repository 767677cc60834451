import type { RealmId, UserId } from '@parley/domain/kernel';
import { type ExternalIdRepository, externalIdTaken } from '@parley/domain/membership';
import type { Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { jsonList } from '../engine/rows.js';

export class SqliteExternalIdRepository implements ExternalIdRepository {
  private readonly byValue;
  private readonly byValues;
  private readonly byUsers;
  private readonly insert;

  constructor(connection: Connection) {
    this.byValue = connection.values<UserId>('SELECT user_id FROM external_id WHERE realm_id = ? AND external_id = ?');
    this.byValues = connection.tuples<readonly [string, UserId]>(
      `SELECT e.external_id, e.user_id FROM json_each(?) j
       CROSS JOIN external_id e ON e.realm_id = ? AND e.external_id = j.value`,
    );
    this.byUsers = connection.tuples<readonly [UserId, string]>(
      `SELECT e.user_id, e.external_id FROM json_each(?) j
       CROSS JOIN external_id e ON e.user_id = j.value AND e.realm_id = ?`,
    );
    this.insert = connection.command(
      'INSERT INTO external_id (user_id, realm_id, external_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
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
    if (this.insert.run(userId, realmId, externalId).changes === 1) return;
    if ((await this.find(realmId, externalId)) !== userId) throw externalIdTaken(externalId);
  }
}

export const HOST_USER_FEATURE = {
  schema: 'host-users',
  realmTables: ['external_id'],
  notExported: {
    external_id: 'External ids belong to the host application.',
  },
  repositories: () => (connection) => ({ externalIds: new SqliteExternalIdRepository(connection) }),
} satisfies SqliteFeature;
