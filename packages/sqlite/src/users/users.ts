import { foldCase, type RealmId, type UserId } from '@parley/domain/kernel';
import {
  type ConversationPartnerQuestion,
  foldedName,
  type SystemBotKind,
  type User,
  type UserListEntry,
  type UserRepository,
} from '@parley/domain/users';
import {
  emailTaken,
  type Flag,
  fromUser,
  jsonList,
  type Quarantine,
  toFlag,
  toUser,
  type UserRow,
  VersionedCache,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { ColumnReader, refusingTaken } from '../engine/rows.js';

export type UserCache = VersionedCache<number, User>;

export class SqliteUserRepository implements UserRepository {
  private readonly versionOf;
  private readonly rowById;
  private readonly rowByEmail;
  private readonly columnsById;
  private readonly activeIds;
  private readonly rowsByEmail;
  private readonly rowsByName;
  private readonly rowsByExternalId;
  private readonly entries;
  private readonly systemBotRows;
  private readonly systemBotRow;
  private readonly nameTaken;
  private readonly partners;
  private readonly partnerAnswers;
  private readonly idsReadingAllNotices;
  private readonly botIds;
  private readonly passwordHash;
  private readonly insert;
  private readonly raiseGroupsVersion;
  private readonly store;
  private readonly storePasswordHash;

  constructor(
    private readonly connection: Connection,
    private readonly cache: UserCache,
    private readonly quarantine: Quarantine,
  ) {
    this.versionOf = connection.values<number>(
      'SELECT version FROM user WHERE id = ? AND realm_id = ? AND system_kind IS NULL',
    );
    this.rowById = connection.rows<UserRow>('SELECT * FROM user WHERE id = ?');
    this.rowByEmail = connection.rows<UserRow>(
      'SELECT * FROM user WHERE realm_id = ? AND email_key = ? AND system_kind IS NULL',
    );
    // The plus sign keeps SQLite from scanning the whole realm to find a few ids, here and in other repositories.
    this.columnsById = connection.tuples<string[]>(BY_ID.sql);
    this.activeIds = connection.values<UserId>(
      `SELECT id FROM user
       WHERE +realm_id = ? AND id IN (SELECT value FROM json_each(?)) AND is_active = 1 AND system_kind IS NULL ORDER BY id`,
    );
    // The plus sign sorts afterwards. Without it, SQLite would scan the sorted list of users.
    this.rowsByEmail = connection.rows<UserRow>(
      `SELECT * FROM user
       WHERE realm_id = ? AND email_key IN (SELECT value FROM json_each(?)) ORDER BY +id`,
    );
    this.rowsByName = connection.rows<UserRow>(
      'SELECT * FROM user WHERE realm_id = ? AND name_key IN (SELECT value FROM json_each(?)) ORDER BY +id',
    );
    this.rowsByExternalId = connection.rows<UserRow>(
      'SELECT * FROM user WHERE realm_id = ? AND external_id IN (SELECT value FROM json_each(?)) ORDER BY +id',
    );
    // One text per column; handing over ten thousand single rows is more than twice as slow.
    this.entries = connection.tuples<readonly string[]>(
      `SELECT json_group_array(id), json_group_array(version), json_group_array(is_active) FROM (
         SELECT id, version, is_active FROM user WHERE realm_id = ? AND system_kind IS NULL ORDER BY id)`,
    );
    this.systemBotRows = connection.rows<UserRow>(
      'SELECT * FROM user WHERE realm_id = ? AND system_kind IS NOT NULL ORDER BY id',
    );
    this.systemBotRow = connection.rows<UserRow>('SELECT * FROM user WHERE realm_id = ? AND system_kind = ?');
    this.nameTaken = connection.values<Flag>(
      `SELECT EXISTS (
         SELECT 1 FROM user WHERE realm_id = ? AND name_nfkc_key = ? AND id IS NOT ? AND system_kind IS NULL
       )`,
    );
    this.partners = connection.values<UserId>(
      `SELECT other.user_id
       FROM subscription own
       JOIN subscription other ON other.channel_id = own.channel_id AND other.is_active = 1
       CROSS JOIN user ON user.id = other.user_id AND user.is_active = 1
       WHERE own.user_id = ? AND own.realm_id = ? AND own.is_active = 1
       UNION
       SELECT other.user_id
       FROM direct_participant own JOIN direct_participant other ON other.recipient_id = own.recipient_id
       WHERE own.user_id = ? AND own.realm_id = ?`,
    );
    // Covers channels and direct conversations, because every recipient of messages has a span.
    this.partnerAnswers = connection.values<Flag>(
      `SELECT EXISTS (
         SELECT 1 FROM span own CROSS JOIN span other
         WHERE own.user_id = asked.value ->> 0 AND own.realm_id = ?
           AND other.user_id = asked.value ->> 1 AND other.recipient_id = own.recipient_id
           AND own.from_seq <= asked.value ->> 2 AND coalesce(own.to_seq > asked.value ->> 2, 1)
           AND other.from_seq <= asked.value ->> 2 AND coalesce(other.to_seq > asked.value ->> 2, 1)
       )
       FROM json_each(?) asked ORDER BY asked.key`,
    );
    this.idsReadingAllNotices = connection.values<UserId>(
      `SELECT id FROM user INDEXED BY user_reading_all_notices
       WHERE realm_id = ? AND CASE WHEN json_valid(settings) THEN settings ->> '$.resolvedTopicNoticeAutoReadPolicy' END = 'never' AND bot_kind IS NULL
       ORDER BY id`,
    );
    this.botIds = connection.values<UserId>(
      'SELECT id FROM user WHERE realm_id = ? AND bot_kind IS NOT NULL AND system_kind IS NULL ORDER BY id',
    );
    this.passwordHash = connection.values<string | null>(
      'SELECT password_hash FROM user WHERE id = ? AND realm_id = ?',
    );
    this.insert = connection.values<UserId>(
      `INSERT INTO user (realm_id, version, role, is_active, is_deleted, email, email_key, full_name, name_key, name_nfkc_key, joined_at,
                         bot_kind, bot_owner_id, bot_default_channel_id, avatar_source, avatar_version, avatar_key,
                         special_permissions, settings, edited_settings, external_id, system_kind, password_hash)
       VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    );
    // Deactivated users are hidden from all group member lists.
    this.raiseGroupsVersion = connection.command(
      `UPDATE realm
       SET groups_version = groups_version + 1,
           setting_values_version = setting_values_version + EXISTS (
             SELECT 1 FROM group_member m JOIN user_group g ON g.id = m.group_id
             WHERE m.user_id = ? AND g.name_key IS NULL)
       WHERE id = ? AND EXISTS (SELECT 1 FROM user WHERE id = ? AND is_active <> ?)`,
    );
    this.store = connection.values<number>(
      `UPDATE user
       SET version = version + 1, role = ?, is_active = ?, is_deleted = ?, email = ?, email_key = ?, full_name = ?, name_key = ?,
           name_nfkc_key = ?, joined_at = ?, bot_kind = ?, bot_owner_id = ?, bot_default_channel_id = ?, avatar_source = ?,
           avatar_version = ?, avatar_key = ?, special_permissions = ?, settings = ?, edited_settings = ?
       WHERE id = ? AND realm_id = ? RETURNING version`,
    );
    this.storePasswordHash = connection.command('UPDATE user SET password_hash = ? WHERE id = ? AND realm_id = ?');
  }

  async find(realmId: RealmId, id: UserId): Promise<User | null> {
    const version = this.versionOf.get(id, realmId);
    if (version === undefined) return null;
    const cached = this.cache.get(id, version);
    if (cached) return cached;
    const user = toUser(this.rowById.get(id)!, this.quarantine);
    this.cache.put(this.connection, id, version, user);
    return user;
  }

  async findByEmail(realmId: RealmId, email: string): Promise<User | null> {
    const row = this.rowByEmail.get(realmId, foldCase(email));
    return row ? toUser(row, this.quarantine) : null;
  }

  async list(realmId: RealmId, ids: readonly UserId[]): Promise<readonly User[]> {
    if (ids.length === 0) return [];
    return BY_ID.rows(this.columnsById.get(realmId, jsonList(ids))!).map((row) => toUser(row, this.quarantine));
  }

  async listActiveIds(realmId: RealmId, ids: readonly UserId[]): Promise<readonly UserId[]> {
    return this.activeIds.all(realmId, jsonList(ids));
  }

  async listByEmail(realmId: RealmId, emails: readonly string[]): Promise<readonly User[]> {
    return this.rowsByEmail
      .all(realmId, jsonList(emails.map((email) => foldCase(email.trim()))))
      .map((row) => toUser(row, this.quarantine));
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly User[]> {
    return this.rowsByName.all(realmId, jsonList(names.map(foldCase))).map((row) => toUser(row, this.quarantine));
  }

  async listByExternalId(realmId: RealmId, externalIds: readonly string[]): Promise<readonly User[]> {
    return this.rowsByExternalId.all(realmId, jsonList(externalIds)).map((row) => toUser(row, this.quarantine));
  }

  async listEntries(realmId: RealmId): Promise<readonly UserListEntry[]> {
    const [ids, versions, areActive] = this.entries.get(realmId)!.map((column) => JSON.parse(column) as number[]);
    return ids!.map((id, index) => ({
      id: id as UserId,
      version: versions![index]!,
      isActive: areActive![index] === 1,
    }));
  }

  async listSystemBots(realmId: RealmId): Promise<readonly User[]> {
    return this.systemBotRows.all(realmId).map((row) => toUser(row, this.quarantine));
  }

  async findSystemBot(realmId: RealmId, kind: SystemBotKind): Promise<User> {
    const row = this.systemBotRow.get(realmId, kind);
    if (!row) throw new Error(`Realm ${realmId} has no ${kind} bot`);
    return toUser(row, this.quarantine);
  }

  async isNameTaken(realmId: RealmId, fullName: string, except: UserId | null): Promise<boolean> {
    return this.nameTaken.get(realmId, foldedName(fullName), except) === 1;
  }

  async listConversationPartners(realmId: RealmId, id: UserId): Promise<ReadonlySet<UserId>> {
    const partners = new Set(this.partners.all(id, realmId, id, realmId));
    partners.delete(id);
    return partners;
  }

  async areConversationPartners(
    realmId: RealmId,
    questions: readonly ConversationPartnerQuestion[],
  ): Promise<readonly boolean[]> {
    const asked = questions.map(({ guestId, userId, at }) => [guestId, userId, at ?? Number.MAX_SAFE_INTEGER]);
    return this.partnerAnswers.all(realmId, JSON.stringify(asked)).map((flag) => flag === 1);
  }

  async listIdsReadingAllNotices(realmId: RealmId): Promise<readonly UserId[]> {
    return this.idsReadingAllNotices.all(realmId);
  }

  async listBotIds(realmId: RealmId): Promise<readonly UserId[]> {
    return this.botIds.all(realmId);
  }

  async findPasswordHash(realmId: RealmId, id: UserId): Promise<string | null> {
    return this.passwordHash.get(id, realmId) ?? null;
  }

  async add(
    user: Omit<User, 'id' | 'version'>,
    passwordHash: string | null,
    systemKind?: SystemBotKind,
  ): Promise<User> {
    this.connection.disableCaching();
    return refusingTaken(
      () => emailTaken(user.email),
      () => {
        const kind = user.bot?.isSystem ? (systemKind ?? '') : null;
        const id = this.insert.get(user.realmId, ...fromUser(user), user.externalId ?? null, kind, passwordHash)!;
        return { ...user, id, version: 1 };
      },
    );
  }

  async update(user: User): Promise<User> {
    this.connection.disableCaching();
    this.raiseGroupsVersion.run(user.id, user.realmId, user.id, toFlag(user.isActive));
    return refusingTaken(
      () => emailTaken(user.email),
      () => {
        const version = this.store.get(...fromUser(user), user.id, user.realmId);
        if (version === undefined) throw new Error(`Realm ${user.realmId} has no user ${user.id}`);
        return { ...user, version };
      },
    );
  }

  async setPasswordHash(realmId: RealmId, id: UserId, hash: string | null): Promise<void> {
    const { changes } = this.storePasswordHash.run(hash, id, realmId);
    if (changes === 0) throw new Error(`Realm ${realmId} has no user ${id}`);
  }
}

const BY_ID = new ColumnReader<UserRow>(
  [
    'id',
    'realm_id',
    'version',
    'role',
    'is_active',
    'is_deleted',
    'email',
    'full_name',
    'joined_at',
    'bot_kind',
    'bot_owner_id',
    'bot_default_channel_id',
    'system_kind',
    'avatar_source',
    'avatar_version',
    'avatar_key',
    'special_permissions',
    'settings',
    'edited_settings',
    'external_id',
  ],
  '(SELECT * FROM user WHERE +realm_id = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY id)',
);

export const USER_FEATURE = {
  schema: 'users',
  realmTables: ['profile_value', 'profile_field', 'user'],
  repositories: ({ quarantine }) => {
    const cache: UserCache = new VersionedCache(20_000);
    return (connection) => ({ users: new SqliteUserRepository(connection, cache, quarantine) });
  },
} satisfies SqliteFeature;
