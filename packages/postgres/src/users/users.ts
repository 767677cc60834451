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
  type Quarantine,
  toFlag,
  toUser,
  type UserRow,
  VersionedCache,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';

export type UserCache = VersionedCache<number, User>;

export class PostgresUserRepository implements UserRepository {
  private readonly versionOf;
  private readonly rowById;
  private readonly rowByEmail;
  private readonly rowsById;
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
  private readonly countSubscriber;
  private readonly hasRow;
  private readonly store;
  private readonly storePasswordHash;

  constructor(
    private readonly connection: Connection,
    private readonly cache: UserCache,
    private readonly known: KnownVersions<number>,
    private readonly quarantine: Quarantine,
  ) {
    this.versionOf = connection.values<number>(
      'SELECT version FROM "user" WHERE id = $1 AND realm_id = $2 AND system_kind IS NULL',
    );
    this.rowById = connection.rows<UserRow>('SELECT * FROM "user" WHERE id = $1');
    this.rowByEmail = connection.rows<UserRow>(
      'SELECT * FROM "user" WHERE realm_id = $1 AND email_key = $2 AND system_kind IS NULL',
    );
    this.rowsById = connection.rows<UserRow>('SELECT * FROM "user" WHERE realm_id = $1 AND id = ANY($2) ORDER BY id');
    this.activeIds = connection.values<UserId>(
      `SELECT id FROM "user"
       WHERE realm_id = $1 AND id = ANY($2) AND is_active = 1 AND system_kind IS NULL ORDER BY id`,
    );
    this.rowsByEmail = connection.rows<UserRow>(
      `SELECT * FROM "user"
       WHERE realm_id = $1 AND email_key = ANY($2) ORDER BY id`,
    );
    this.rowsByName = connection.rows<UserRow>(
      'SELECT * FROM "user" WHERE realm_id = $1 AND name_key = ANY($2) ORDER BY id',
    );
    this.rowsByExternalId = connection.rows<UserRow>(
      'SELECT * FROM "user" WHERE realm_id = $1 AND external_id = ANY($2) ORDER BY id',
    );
    this.entries = connection.tuples<readonly [UserId, number, Flag]>(
      'SELECT id, version, is_active FROM "user" WHERE realm_id = $1 AND system_kind IS NULL ORDER BY id',
    );
    this.systemBotRows = connection.rows<UserRow>(
      'SELECT * FROM "user" WHERE realm_id = $1 AND system_kind IS NOT NULL ORDER BY id',
    );
    this.systemBotRow = connection.rows<UserRow>('SELECT * FROM "user" WHERE realm_id = $1 AND system_kind = $2');
    this.nameTaken = connection.values<Flag>(
      `SELECT EXISTS (
         SELECT 1 FROM "user" WHERE realm_id = $1 AND name_nfkc_key = $2 AND id IS DISTINCT FROM $3 AND system_kind IS NULL
       )`,
    );
    this.partners = connection.values<UserId>(
      `SELECT other.user_id
       FROM subscription own
       JOIN subscription other ON other.channel_id = own.channel_id AND other.is_active = 1
       JOIN "user" u ON u.id = other.user_id AND u.is_active = 1
       WHERE own.user_id = $1 AND own.realm_id = $2 AND own.is_active = 1
       UNION
       SELECT other.user_id
       FROM direct_participant own JOIN direct_participant other ON other.recipient_id = own.recipient_id
       WHERE own.user_id = $1 AND own.realm_id = $2`,
    );
    // Covers channels and direct conversations, because every recipient of messages has a span.
    this.partnerAnswers = connection.values<Flag>(
      `SELECT EXISTS (
         SELECT 1 FROM span own JOIN span other ON other.recipient_id = own.recipient_id
         WHERE own.user_id = asked.guest_id AND own.realm_id = $1 AND other.user_id = asked.user_id
           AND own.from_seq <= asked.at AND coalesce(own.to_seq > asked.at, true)
           AND other.from_seq <= asked.at AND coalesce(other.to_seq > asked.at, true)
       )
       FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY asked (guest_id, user_id, at, number)
       ORDER BY asked.number`,
    );
    this.idsReadingAllNotices = connection.values<UserId>(
      `SELECT id FROM "user"
       WHERE realm_id = $1 AND settings LIKE '%"resolvedTopicNoticeAutoReadPolicy":"never"%' AND bot_kind IS NULL
       ORDER BY id`,
    );
    this.botIds = connection.values<UserId>(
      'SELECT id FROM "user" WHERE realm_id = $1 AND bot_kind IS NOT NULL AND system_kind IS NULL ORDER BY id',
    );
    this.passwordHash = connection.values<string | null>(
      'SELECT password_hash FROM "user" WHERE id = $1 AND realm_id = $2',
    );
    this.insert = connection.values<UserId>(
      `INSERT INTO "user" (realm_id, version, role, is_active, is_deleted, email, email_key, full_name, name_key, name_nfkc_key, joined_at,
                         bot_kind, bot_owner_id, bot_default_channel_id, avatar_source, avatar_version, avatar_key,
                         special_permissions, settings, edited_settings, external_id, system_kind, password_hash)
       VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
       ON CONFLICT DO NOTHING RETURNING id`,
    );
    // Deactivated users are hidden from all group member lists.
    this.raiseGroupsVersion = connection.command(
      `UPDATE realm
       SET groups_version = groups_version + 1,
           setting_values_version = setting_values_version + EXISTS (
             SELECT 1 FROM group_member m JOIN user_group g ON g.id = m.group_id
             WHERE m.user_id = $1 AND g.name_key IS NULL)::int
       WHERE id = $2 AND EXISTS (SELECT 1 FROM "user" WHERE id = $1 AND is_active <> $3)`,
    );
    // Active users count as subscribers.
    this.countSubscriber = connection.command(
      `UPDATE channel SET subscriber_count = subscriber_count + $3 - u.is_active
       FROM "user" u JOIN subscription s ON s.user_id = u.id AND s.is_active = 1
       WHERE u.id = $1 AND u.realm_id = $2 AND u.is_active <> $3 AND channel.id = s.channel_id`,
    );
    this.store = connection.values<number>(
      `UPDATE "user"
       SET version = version + 1, role = $1, is_active = $2, is_deleted = $3, email = $4, email_key = $5, full_name = $6, name_key = $7,
           name_nfkc_key = $8, joined_at = $9, bot_kind = $10, bot_owner_id = $11, bot_default_channel_id = $12, avatar_source = $13,
           avatar_version = $14, avatar_key = $15, special_permissions = $16, settings = $17, edited_settings = $18
       WHERE id = $19 AND realm_id = $20
         AND NOT EXISTS (SELECT 1 FROM "user" WHERE realm_id = $20 AND email_key = $5 AND id <> $19)
       RETURNING version`,
    );
    this.hasRow = connection.values<number>('SELECT 1 FROM "user" WHERE id = $1 AND realm_id = $2');
    this.storePasswordHash = connection.command('UPDATE "user" SET password_hash = $1 WHERE id = $2 AND realm_id = $3');
  }

  async find(realmId: RealmId, id: UserId): Promise<User | null> {
    const version = await this.known.of(this.connection, realmId, id, () => this.versionOf.get(id, realmId));
    if (version === undefined) return null;
    const cached = this.cache.get(id, version);
    if (cached) return cached;
    const user = toUser((await this.rowById.get(id))!, this.quarantine);
    this.cache.put(this.connection, id, version, user);
    return user;
  }

  async findByEmail(realmId: RealmId, email: string): Promise<User | null> {
    const row = await this.rowByEmail.get(realmId, foldCase(email));
    return row ? toUser(row, this.quarantine) : null;
  }

  async list(realmId: RealmId, ids: readonly UserId[]): Promise<readonly User[]> {
    if (ids.length === 0) return [];
    return (await this.rowsById.all(realmId, ids)).map((row) => toUser(row, this.quarantine));
  }

  async listActiveIds(realmId: RealmId, ids: readonly UserId[]): Promise<readonly UserId[]> {
    return await this.activeIds.all(realmId, [...ids]);
  }

  async listByEmail(realmId: RealmId, emails: readonly string[]): Promise<readonly User[]> {
    return (
      await this.rowsByEmail.all(
        realmId,
        emails.map((email) => foldCase(email.trim())),
      )
    ).map((row) => toUser(row, this.quarantine));
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly User[]> {
    return (await this.rowsByName.all(realmId, names.map(foldCase))).map((row) => toUser(row, this.quarantine));
  }

  async listByExternalId(realmId: RealmId, externalIds: readonly string[]): Promise<readonly User[]> {
    return (await this.rowsByExternalId.all(realmId, [...externalIds])).map((row) => toUser(row, this.quarantine));
  }

  async listEntries(realmId: RealmId): Promise<readonly UserListEntry[]> {
    const entries = await this.entries.all(realmId);
    return entries.map(([id, version, isActive]) => ({ id, version, isActive: isActive === 1 }));
  }

  async listSystemBots(realmId: RealmId): Promise<readonly User[]> {
    return (await this.systemBotRows.all(realmId)).map((row) => toUser(row, this.quarantine));
  }

  async findSystemBot(realmId: RealmId, kind: SystemBotKind): Promise<User> {
    const row = await this.systemBotRow.get(realmId, kind);
    if (!row) throw new Error(`Realm ${realmId} has no ${kind} bot`);
    return toUser(row, this.quarantine);
  }

  async isNameTaken(realmId: RealmId, fullName: string, except: UserId | null): Promise<boolean> {
    return (await this.nameTaken.get(realmId, foldedName(fullName), except)) === 1;
  }

  async listConversationPartners(realmId: RealmId, id: UserId): Promise<ReadonlySet<UserId>> {
    const partners = new Set(await this.partners.all(id, realmId));
    partners.delete(id);
    return partners;
  }

  async areConversationPartners(
    realmId: RealmId,
    questions: readonly ConversationPartnerQuestion[],
  ): Promise<readonly boolean[]> {
    const answers = await this.partnerAnswers.all(
      realmId,
      questions.map(({ guestId }) => guestId),
      questions.map(({ userId }) => userId),
      questions.map(({ at }) => at ?? Number.MAX_SAFE_INTEGER),
    );
    return answers.map((flag) => flag === 1);
  }

  async listIdsReadingAllNotices(realmId: RealmId): Promise<readonly UserId[]> {
    return await this.idsReadingAllNotices.all(realmId);
  }

  async listBotIds(realmId: RealmId): Promise<readonly UserId[]> {
    return await this.botIds.all(realmId);
  }

  async findPasswordHash(realmId: RealmId, id: UserId): Promise<string | null> {
    return (await this.passwordHash.get(id, realmId)) ?? null;
  }

  async add(
    user: Omit<User, 'id' | 'version'>,
    passwordHash: string | null,
    systemKind?: SystemBotKind,
  ): Promise<User> {
    this.connection.disableCaching();
    const kind = user.bot?.isSystem ? (systemKind ?? '') : null;
    const id = await this.insert.get(user.realmId, ...fromUser(user), user.externalId ?? null, kind, passwordHash);
    if (id === undefined) throw emailTaken(user.email);
    return { ...user, id, version: 1 };
  }

  async update(user: User): Promise<User> {
    this.connection.disableCaching();
    this.raiseGroupsVersion.defer(user.id, user.realmId, toFlag(user.isActive));
    this.countSubscriber.defer(user.id, user.realmId, toFlag(user.isActive));
    const version = await this.store.get(...fromUser(user), user.id, user.realmId);
    if (version !== undefined) return { ...user, version };
    if (await this.hasRow.get(user.id, user.realmId)) throw emailTaken(user.email);
    throw new Error(`Realm ${user.realmId} has no user ${user.id}`);
  }

  async setPasswordHash(realmId: RealmId, id: UserId, hash: string | null): Promise<void> {
    const { changes } = await this.storePasswordHash.run(hash, id, realmId);
    if (changes === 0) throw new Error(`Realm ${realmId} has no user ${id}`);
  }
}

export const USER_FEATURE = {
  schema: 'users',
  realmTables: ['profile_value', 'profile_field', 'user'],
  repositories: ({ quarantine }) => {
    const cache: UserCache = new VersionedCache(20_000);
    const known = new KnownVersions<number>(20_000);
    return (connection) => ({ users: new PostgresUserRepository(connection, cache, known, quarantine) });
  },
} satisfies PostgresFeature;
