import type { GroupId, RealmId, UserId } from '@parley/domain/kernel';
import type { ProvisionedGroup, ProvisioningRepository, ProvisioningToken } from '@parley/domain/log-in';
import type { StorageFeature } from '../engine/feature.js';
import { PAST } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

const GROUP =
  'SELECT group_id AS "groupId", external_id AS "externalId", is_removed AS "isRemoved" FROM provisioned_group';

type GroupRow = Omit<ProvisionedGroup, 'isRemoved'> & { readonly isRemoved: number };

const toGroup = (row: GroupRow): ProvisionedGroup => ({ ...row, isRemoved: row.isRemoved === 1 });

export class SqlProvisioningRepository implements ProvisioningRepository {
  private readonly token;
  private readonly tokens;
  private readonly insertToken;
  private readonly deleteToken;
  private readonly removed;
  private readonly removedIds;
  private readonly insertRemoved;
  private readonly deleteRemoved;
  private readonly group;
  private readonly groups;
  private readonly writeGroup;

  constructor(connection: Statements) {
    this.token = connection.rows<ProvisioningToken>(
      `SELECT realm_id AS "realmId", name, created_at AS "createdAt" FROM provisioning_token
       WHERE fingerprint = ? AND realm_id = ?`,
    );
    this.tokens = connection.rows<ProvisioningToken>(
      `SELECT realm_id AS "realmId", name, created_at AS "createdAt" FROM provisioning_token
       WHERE realm_id = ? ORDER BY name`,
    );
    this.insertToken = connection.command(
      'INSERT INTO provisioning_token (realm_id, name, fingerprint, created_at) VALUES (?, ?, ?, ?)',
    );
    this.deleteToken = connection.command('DELETE FROM provisioning_token WHERE realm_id = ? AND name = ?');
    this.removed = connection.values<UserId>('SELECT user_id FROM removed_user WHERE realm_id = ? AND user_id = ?');
    this.removedIds = connection.values<UserId>('SELECT user_id FROM removed_user WHERE realm_id = ? ORDER BY user_id');
    this.insertRemoved = connection.command(
      'INSERT INTO removed_user (realm_id, user_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
    );
    this.deleteRemoved = connection.command('DELETE FROM removed_user WHERE realm_id = ? AND user_id = ?');
    this.group = connection.rows<GroupRow>(`${GROUP} WHERE realm_id = ? AND group_id = ?`);
    this.groups = connection.rows<GroupRow>(`${GROUP} WHERE realm_id = ? ORDER BY group_id`);
    this.writeGroup = connection.command(
      `INSERT INTO provisioned_group (realm_id, group_id, external_id, is_removed) VALUES (?, ?, ?, ?)
       ON CONFLICT (realm_id, group_id)
       DO UPDATE SET external_id = excluded.external_id, is_removed = excluded.is_removed`,
    );
  }

  async findToken(realmId: RealmId, fingerprint: string): Promise<ProvisioningToken | null> {
    return (await this.token.get(fingerprint, realmId)) ?? null;
  }

  async listTokens(realmId: RealmId): Promise<readonly ProvisioningToken[]> {
    return await this.tokens.all(realmId);
  }

  async addToken({ realmId, name, createdAt }: ProvisioningToken, fingerprint: string): Promise<void> {
    this.insertToken.defer(realmId, name, fingerprint, createdAt);
  }

  async removeToken(realmId: RealmId, name: string): Promise<boolean> {
    return (await this.deleteToken.run(realmId, name)).changes === 1;
  }

  async listRemovedUserIds(realmId: RealmId): Promise<readonly UserId[]> {
    return await this.removedIds.all(realmId);
  }

  async isUserRemoved(realmId: RealmId, userId: UserId): Promise<boolean> {
    return (await this.removed.get(realmId, userId)) !== undefined;
  }

  async setUserRemoved(realmId: RealmId, userId: UserId, isRemoved: boolean): Promise<void> {
    (isRemoved ? this.insertRemoved : this.deleteRemoved).defer(realmId, userId);
  }

  async findGroup(realmId: RealmId, groupId: GroupId): Promise<ProvisionedGroup | null> {
    const row = await this.group.get(realmId, groupId);
    return row ? toGroup(row) : null;
  }

  async listGroups(realmId: RealmId): Promise<readonly ProvisionedGroup[]> {
    return (await this.groups.all(realmId)).map(toGroup);
  }

  async putGroup(realmId: RealmId, { groupId, externalId, isRemoved }: ProvisionedGroup): Promise<void> {
    this.writeGroup.defer(realmId, groupId, externalId, isRemoved ? 1 : 0);
  }
}

const TABLES = `
-- Directories that manage people and groups.

CREATE TABLE provisioning_token (
  realm_id {int} NOT NULL REFERENCES realm (id),
  name {text} NOT NULL,
  -- SHA-256 of the token.
  fingerprint {text} NOT NULL UNIQUE,
  created_at {int} NOT NULL,
  PRIMARY KEY (realm_id, name)
) {withoutRowId};

-- Users deleted by a directory.
CREATE TABLE removed_user (
  realm_id {int} NOT NULL,
  user_id {int} NOT NULL REFERENCES {user} (id),
  PRIMARY KEY (realm_id, user_id)
) {withoutRowId};

-- Groups that a directory made.
CREATE TABLE provisioned_group (
  realm_id {int} NOT NULL,
  group_id {int} NOT NULL REFERENCES user_group (id),
  -- Id in the directory.
  external_id {text},
  is_removed {flag} NOT NULL,
  PRIMARY KEY (realm_id, group_id)
) {withoutRowId};
`;

export const PROVISIONING_FEATURE = {
  schema: 'provisioning',
  steps: { 15: TABLES },
  realmTables: ['provisioning_token', 'removed_user', 'provisioned_group'],
  persons: {
    provisioning_token: { other: ['name', 'fingerprint'] },
    removed_user: {
      data: 'Accounts hidden from directories',
      fate: PAST,
      keep: { 'Ids without text.': ['user_id'] },
    },
    provisioned_group: { other: ['external_id'] },
  },
  notExported: {
    provisioning_token: 'Directories are connected to the original server.',
    removed_user: 'Directories store ids of the original server.',
    provisioned_group: 'Directories store ids of the original server.',
  },
  repositories: () => (connection) => ({ provisioning: new SqlProvisioningRepository(connection) }),
} satisfies StorageFeature;
