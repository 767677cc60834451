import { ROLES, type Role } from '@parley/domain/access';
import { DomainError, foldCase, type RealmId, type Seed, type UnixSeconds, type UserId } from '@parley/domain/kernel';
import type { UserSummary } from '@parley/domain/messages';
import { USER_SETTINGS, type UserSettingName } from '@parley/domain/realms';
import {
  type Avatar,
  type AvatarSource,
  type BotKind,
  type ConversationPartnerQuestion,
  foldedName,
  SPECIAL_PERMISSIONS,
  type SpecialPermission,
  type SystemBotKind,
  type User,
  type UserListEntry,
  type UserRepository,
} from '@parley/domain/users';
import type { FeatureTables } from '../engine/feature.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';
import type { Quarantine } from '../engine/quarantine.js';
import {
  ColumnQuery,
  type Columns,
  containing,
  type Flag,
  listColumn,
  settingsColumn,
  toFlag,
} from '../engine/rows.js';
import { newSeed } from '../engine/seeds.js';
import type { Parameter, Statements } from '../engine/statements.js';
import type { VersionedCache } from '../engine/versioned-cache.js';

/** Avatar columns of `user`. */
interface AvatarColumns {
  readonly id: UserId;
  readonly avatar_source: AvatarSource;
  readonly avatar_version: number;
  /** Key of an uploaded avatar. */
  readonly avatar_key: string | null;
}

const SOURCES: readonly AvatarSource[] = ['gravatar', 'uploaded', 'generated'];

/** Treats invalid values as a generated avatar. */
function toAvatar(row: AvatarColumns, quarantine: Quarantine): Avatar {
  const { avatar_version: version, avatar_key: key } = row;
  const source = quarantine.word(row.avatar_source, SOURCES, 'generated', 'user', row.id, 'avatar_source');
  if (source !== 'uploaded') return { source, version };
  return key === null ? { source: 'generated', version } : { source, version, key };
}

const emailTaken = () => new DomainError('EMAIL_TAKEN', 'Email is already in use.');
const userSettings = settingsColumn(USER_SETTINGS, 'user', 'settings');
const specialPermissions = listColumn<SpecialPermission>('user', 'special_permissions', (value) =>
  (SPECIAL_PERMISSIONS as readonly unknown[]).includes(value),
);
const editedSettings = listColumn<UserSettingName>(
  'user',
  'edited_settings',
  (name) => typeof name === 'string' && Object.hasOwn(USER_SETTINGS, name),
);
const BOT_KINDS: readonly BotKind[] = ['generic', 'incomingWebhook', 'outgoingWebhook', 'embedded'];

interface UserRow extends AvatarColumns {
  readonly realm_id: RealmId;
  readonly version: number;
  readonly role: Role;
  readonly is_active: Flag;
  readonly is_deleted: Flag;
  readonly email: string;
  readonly full_name: string;
  readonly joined_at: UnixSeconds;
  readonly bot_kind: BotKind | null;
  readonly bot_owner_id: UserId | null;
  readonly bot_default_channel_id: number | null;
  readonly system_kind: string | null;
  readonly special_permissions: string;
  readonly settings: string;
  readonly edited_settings: string;
  readonly external_id: string | null;
}

const USER_COLUMNS: readonly (keyof UserRow)[] = [
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
];

function toUser(row: UserRow, quarantine: Quarantine): User {
  return {
    id: row.id,
    realmId: row.realm_id,
    email: row.email,
    fullName: row.full_name,
    role: quarantine.word(row.role, ROLES, 'guest', 'user', row.id, 'role'),
    isActive: row.is_active === 1,
    isDeleted: row.is_deleted === 1,
    joinedAt: row.joined_at,
    bot:
      row.bot_kind === null
        ? null
        : {
            kind: quarantine.word(row.bot_kind, BOT_KINDS, 'generic', 'user', row.id, 'bot_kind'),
            ownerId: row.bot_owner_id,
            isSystem: row.system_kind !== null,
            defaultSendingChannelId: row.bot_default_channel_id,
          },
    avatar: toAvatar(row, quarantine),
    specialPermissions: specialPermissions(row.special_permissions, row.id, quarantine),
    settings: userSettings.fromJson(row.settings, row.id, quarantine),
    editedSettings: editedSettings(row.edited_settings, row.id, quarantine),
    ...(row.external_id !== null && { externalId: row.external_id }),
    version: row.version,
  };
}

/** Returns column values in storage order. */
function fromUser(user: Omit<User, 'id' | 'version'>): readonly (string | number | null)[] {
  return [
    user.role,
    toFlag(user.isActive),
    toFlag(user.isDeleted),
    user.email,
    foldCase(user.email),
    user.fullName,
    foldCase(user.fullName),
    foldedName(user.fullName),
    user.joinedAt,
    user.bot?.kind ?? null,
    user.bot?.ownerId ?? null,
    user.bot?.defaultSendingChannelId ?? null,
    user.avatar.source,
    user.avatar.version,
    user.avatar.source === 'uploaded' ? user.avatar.key : null,
    JSON.stringify(user.specialPermissions),
    userSettings.toJson(user.settings),
    JSON.stringify(user.editedSettings),
  ];
}

export interface UserSummaryRow extends AvatarColumns {
  readonly full_name: string;
  readonly email: string;
  readonly settings: string;
  readonly is_bot: Flag;
  readonly is_system_bot: Flag;
  readonly external_id: string | null;
}

/** Returns the user properties shown with messages. */
const toEntries = ({ id: ids, version, is_active }: Columns<Pick<UserRow, 'id' | 'version' | 'is_active'>>) =>
  ids.map((id, n) => ({ id, version: version[n]!, isActive: is_active[n] === 1 }));

export function toUserSummary(row: UserSummaryRow, quarantine: Quarantine): UserSummary {
  return {
    id: row.id,
    fullName: row.full_name,
    email: row.email,
    emailVisibility:
      row.is_bot === 1 ? 'everyone' : userSettings.fromJson(row.settings, row.id, quarantine).emailAddressVisibility,
    avatar: toAvatar(row, quarantine),
    isSystemBot: row.is_system_bot === 1,
    ...(row.external_id !== null && { externalId: row.external_id }),
  };
}

/** User repository without conversation partner queries, which differ between the databases. */
export abstract class SqlUserRepository implements UserRepository {
  private readonly version;
  private readonly rowById;
  private readonly rowByEmail;
  private readonly rowsById;
  private readonly activeIds;
  private readonly rowsByEmail;
  private readonly rowsByName;
  private readonly rowsByExternalId;
  private readonly entries;
  private readonly someEntries;
  private readonly memberEntries;
  private readonly namedLike;
  private readonly systemBotRows;
  private readonly systemBotRow;
  private readonly nameTaken;
  private readonly partners;
  private readonly idsReadingAllNotices;
  private readonly botIds;
  private readonly guestIds;
  private readonly passwordHash;
  private readonly seed;
  private readonly insert;
  private readonly raiseGroupsVersion;
  private readonly store;
  private readonly hasRow;
  private readonly storePasswordHash;

  /** @param neverMarksNotices condition on users who read notices of resolved topics themselves */
  constructor(
    private readonly statements: Statements,
    private readonly cache: VersionedCache<number, User>,
    private readonly quarantine: Quarantine,
    neverMarksNotices: string,
  ) {
    const { inSet, indexedBy } = statements.dialect;
    this.version = statements.values<number>(
      'SELECT version FROM "user" WHERE id = ? AND realm_id = ? AND system_kind IS NULL',
    );
    this.rowById = statements.rows<UserRow>('SELECT * FROM "user" WHERE id = ?');
    this.rowByEmail = statements.rows<UserRow>(
      'SELECT * FROM "user" WHERE realm_id = ? AND email_key = ? AND system_kind IS NULL',
    );
    // The plus sign keeps SQLite from scanning the whole realm to find a few ids, here and in other repositories.
    this.rowsById = new ColumnQuery<UserRow>(
      statements,
      USER_COLUMNS,
      `SELECT * FROM "user" WHERE +realm_id = ? AND id ${inSet} ORDER BY id`,
    );
    this.activeIds = statements.values<UserId>(
      `SELECT id FROM "user" WHERE +realm_id = ? AND id ${inSet} AND is_active = 1 AND system_kind IS NULL ORDER BY id`,
    );
    // The plus sign forces a separate sort. Without it, SQLite would scan the sorted list of users.
    const rowsBy = (column: string) =>
      statements.rows<UserRow>(`SELECT * FROM "user" WHERE realm_id = ? AND ${column} ${inSet} ORDER BY +id`);
    this.rowsByEmail = rowsBy('email_key');
    this.rowsByName = rowsBy('name_key');
    this.rowsByExternalId = rowsBy('external_id');
    const entries = (where: string) =>
      new ColumnQuery<Pick<UserRow, 'id' | 'version' | 'is_active'>>(
        statements,
        ['id', 'version', 'is_active'],
        `SELECT id, version, is_active FROM "user" WHERE ${where} AND system_kind IS NULL ORDER BY id`,
      );
    this.entries = entries('realm_id = ?');
    this.someEntries = entries(`+realm_id = ? AND id ${inSet}`);
    this.memberEntries = entries("realm_id = ? AND role <> 'guest'");
    this.namedLike = statements.values<UserId>(
      `SELECT id FROM "user" WHERE realm_id = ? AND name_key LIKE ? ESCAPE '\\' AND system_kind IS NULL
       ORDER BY is_active DESC, name_key LIMIT ? + 0`,
    );
    this.systemBotRows = statements.rows<UserRow>(
      'SELECT * FROM "user" WHERE realm_id = ? AND system_kind IS NOT NULL ORDER BY id',
    );
    this.systemBotRow = statements.rows<UserRow>('SELECT * FROM "user" WHERE realm_id = ? AND system_kind = ?');
    this.nameTaken = statements.values<Flag>(
      `SELECT EXISTS (
         SELECT 1 FROM "user"
         WHERE realm_id = ? AND name_nfkc_key = ? AND id IS DISTINCT FROM ? AND system_kind IS NULL)`,
    );
    // CROSS JOIN keeps the order from channels to users.
    this.partners = statements.values<UserId>(
      `SELECT other.user_id
       FROM subscription own
       JOIN subscription other ON other.channel_id = own.channel_id AND other.is_active = 1
       CROSS JOIN "user" u
       WHERE own.user_id = ? AND own.realm_id = ? AND own.is_active = 1 AND u.id = other.user_id AND u.is_active = 1
       UNION
       SELECT other.user_id
       FROM direct_participant own JOIN direct_participant other ON other.recipient_id = own.recipient_id
       WHERE own.user_id = ? AND own.realm_id = ?`,
    );
    this.idsReadingAllNotices = statements.values<UserId>(
      `SELECT id FROM "user" ${indexedBy('user_reading_all_notices')}
       WHERE realm_id = ? AND ${neverMarksNotices} AND bot_kind IS NULL ORDER BY id`,
    );
    this.botIds = statements.values<UserId>(
      'SELECT id FROM "user" WHERE realm_id = ? AND bot_kind IS NOT NULL AND system_kind IS NULL ORDER BY id',
    );
    this.guestIds = statements.values<UserId>(
      `SELECT id FROM "user" WHERE realm_id = ? AND role = 'guest' ORDER BY id`,
    );
    this.passwordHash = statements.values<string | null>(
      'SELECT password_hash FROM "user" WHERE id = ? AND realm_id = ?',
    );
    this.seed = statements.values<Seed>('SELECT seed FROM "user" WHERE id = ? AND realm_id = ?');
    this.insert = statements.values<UserId>(
      `INSERT INTO "user" (realm_id, version, role, is_active, is_deleted, email, email_key, full_name, name_key, name_nfkc_key, joined_at,
                           bot_kind, bot_owner_id, bot_default_channel_id, avatar_source, avatar_version, avatar_key,
                           special_permissions, settings, edited_settings, external_id, system_kind, password_hash,
                           seed)
       VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING id`,
    );
    // Deactivated users are hidden from all group member lists, but the groups of others stay.
    this.raiseGroupsVersion = statements.command(
      `UPDATE realm
       SET groups_version = groups_version + 1,
           member_changes = member_changes + 1,
           setting_values_version = setting_values_version + CAST(EXISTS (
             SELECT 1 FROM group_member m JOIN user_group g ON g.id = m.group_id
             WHERE m.user_id = ? AND g.name_key IS NULL) AS integer)
       WHERE id = ? AND EXISTS (SELECT 1 FROM "user" WHERE id = ? AND is_active <> ?)`,
    );
    this.store = statements.values<number>(
      `UPDATE "user"
       SET version = version + 1, role = ?, is_active = ?, is_deleted = ?, email = ?, email_key = ?, full_name = ?, name_key = ?,
           name_nfkc_key = ?, joined_at = ?, bot_kind = ?, bot_owner_id = ?, bot_default_channel_id = ?, avatar_source = ?,
           avatar_version = ?, avatar_key = ?, special_permissions = ?, settings = ?, edited_settings = ?
       WHERE id = ? AND realm_id = ?
         AND NOT EXISTS (SELECT 1 FROM "user" o WHERE o.realm_id = ? AND o.email_key = ? AND o.id <> ?)
       RETURNING version`,
    );
    this.hasRow = statements.values<1>('SELECT 1 FROM "user" WHERE id = ? AND realm_id = ?');
    this.storePasswordHash = statements.command('UPDATE "user" SET password_hash = ? WHERE id = ? AND realm_id = ?');
  }

  abstract areConversationPartners(
    realmId: RealmId,
    questions: readonly ConversationPartnerQuestion[],
  ): Promise<readonly boolean[]>;

  protected versionOf(realmId: RealmId, id: UserId): number | undefined | Promise<number | undefined> {
    return this.version.get(id, realmId);
  }

  async find(realmId: RealmId, id: UserId): Promise<User | null> {
    const version = await this.versionOf(realmId, id);
    if (version === undefined) return null;
    const cached = this.cache.get(id, version);
    if (cached) return cached;
    const user = toUser(await this.rowById.one(id), this.quarantine);
    this.cache.put(this.statements, id, version, user);
    return user;
  }

  async get(realmId: RealmId, id: UserId): Promise<User> {
    const user = await this.find(realmId, id);
    if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
    return user;
  }

  async findByEmail(realmId: RealmId, email: string): Promise<User | null> {
    const row = await this.rowByEmail.get(realmId, foldCase(email));
    return row ? toUser(row, this.quarantine) : null;
  }

  async list(realmId: RealmId, ids: readonly UserId[]): Promise<readonly User[]> {
    if (ids.length === 0) return [];
    return this.toUsers(await this.rowsById.rows(realmId, this.set(ids)));
  }

  async listActiveIds(realmId: RealmId, ids: readonly UserId[]): Promise<readonly UserId[]> {
    return await this.activeIds.all(realmId, this.set(ids));
  }

  async listByEmail(realmId: RealmId, emails: readonly string[]): Promise<readonly User[]> {
    const keys = emails.map((email) => foldCase(email.trim()));
    return this.toUsers(await this.rowsByEmail.all(realmId, this.set(keys)));
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly User[]> {
    return this.toUsers(await this.rowsByName.all(realmId, this.set(names.map(foldCase))));
  }

  async listByExternalId(realmId: RealmId, externalIds: readonly string[]): Promise<readonly User[]> {
    return this.toUsers(await this.rowsByExternalId.all(realmId, this.set(externalIds)));
  }

  async listEntries(realmId: RealmId): Promise<readonly UserListEntry[]> {
    return toEntries(await this.entries.columns(realmId));
  }

  async listSomeEntries(realmId: RealmId, ids: readonly UserId[]): Promise<readonly UserListEntry[]> {
    return toEntries(await this.someEntries.columns(realmId, this.set(ids)));
  }

  async listMemberEntries(realmId: RealmId): Promise<readonly UserListEntry[]> {
    return toEntries(await this.memberEntries.columns(realmId));
  }

  async listIdsNamedLike(realmId: RealmId, text: string, limit: number): Promise<readonly UserId[]> {
    return await this.namedLike.all(realmId, containing(text), limit);
  }

  async listSystemBots(realmId: RealmId): Promise<readonly User[]> {
    return this.toUsers(await this.systemBotRows.all(realmId));
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
    const partners = new Set(await this.partners.all(id, realmId, id, realmId));
    partners.delete(id);
    return partners;
  }

  async listIdsReadingAllNotices(realmId: RealmId): Promise<readonly UserId[]> {
    return await this.idsReadingAllNotices.all(realmId);
  }

  async listBotIds(realmId: RealmId): Promise<readonly UserId[]> {
    return await this.botIds.all(realmId);
  }

  async listGuestIds(realmId: RealmId): Promise<readonly UserId[]> {
    return await this.guestIds.all(realmId);
  }

  async findPasswordHash(realmId: RealmId, id: UserId): Promise<string | null> {
    return (await this.passwordHash.get(id, realmId)) ?? null;
  }

  async findSeed(realmId: RealmId, id: UserId): Promise<Seed> {
    return (await this.seed.get(id, realmId)) ?? null;
  }

  async add(
    user: Omit<User, 'id' | 'version'>,
    passwordHash: string | null,
    systemKind?: SystemBotKind,
  ): Promise<User> {
    this.statements.disableCaching();
    const kind = user.bot?.isSystem ? (systemKind ?? '') : null;
    const secrets = [passwordHash, newSeed()] as const;
    const id = await this.insert.get(user.realmId, ...fromUser(user), user.externalId ?? null, kind, ...secrets);
    if (id === undefined) throw emailTaken();
    return { ...user, id, version: 1 };
  }

  async update(user: User): Promise<User> {
    this.statements.disableCaching();
    const { id, realmId, email } = user;
    this.raiseGroupsVersion.defer(id, realmId, id, toFlag(user.isActive));
    const version = await this.store.get(...fromUser(user), id, realmId, realmId, foldCase(email), id);
    if (version !== undefined) return { ...user, version };
    if (await this.hasRow.get(id, realmId)) throw emailTaken();
    throw new Error(`Realm ${realmId} has no user ${id}`);
  }

  async setPasswordHash(realmId: RealmId, id: UserId, hash: string | null): Promise<void> {
    const { changes } = await this.storePasswordHash.run(hash, id, realmId);
    if (changes === 0) throw new Error(`Realm ${realmId} has no user ${id}`);
  }

  private toUsers(rows: readonly UserRow[]): readonly User[] {
    return rows.map((row) => toUser(row, this.quarantine));
  }

  private set(values: readonly (number | string)[]): Parameter {
    return this.statements.dialect.set(values);
  }
}

const MEMBERS = `
-- expand: clients with a partial state get all users except guests without reading the guests.
CREATE INDEX user_members ON {user} (realm_id, id, version, is_active, system_kind) WHERE role <> 'guest';
`;

const USER_SEEDS = `
-- expand: links and tokens of lost users after a restore do not open later accounts.
ALTER TABLE {user} ADD COLUMN seed {text};
`;

/** Tables of users in both databases. */
export const USER_TABLES = {
  schema: 'users',
  steps: { 60: MEMBERS, 66: USER_SEEDS },
  realmTables: ['user'],
  persons: {
    user: {
      data: 'Name, email, settings, password and external id',
      fate: OF_ACCOUNT,
      anonymise: [
        'email',
        'email_key',
        'full_name',
        'name_key',
        'name_nfkc_key',
        'avatar_source',
        'avatar_key',
        'settings',
        'edited_settings',
        'special_permissions',
        'password_hash',
        'external_id',
      ],
      keep: { 'Ids without text.': ['bot_owner_id'] },
      other: ['role', 'bot_kind', 'system_kind', 'seed'],
    },
  },
} satisfies FeatureTables;
