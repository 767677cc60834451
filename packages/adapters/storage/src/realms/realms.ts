import { DomainError, getOrThrow, isSettingValue, type RealmId, type UnixSeconds } from '@parley/domain/kernel';
import {
  type LinkifierRow,
  type NewRealmRow,
  REALM_PERMISSIONS,
  REALM_SETTINGS,
  type Realm,
  type RealmImage,
  type RealmRepository,
  STORED_REALM_SETTINGS,
  USER_SETTINGS,
  USUAL_REALM_IMAGES,
} from '@parley/domain/realms';
import { unknownRealm } from '@parley/domain/users';
import type { FeatureTables } from '../engine/feature.js';
import type { Quarantine } from '../engine/quarantine.js';
import {
  type Flag,
  grouped,
  groupSettingsColumn,
  objectColumn,
  parseObject,
  settingsColumn,
  toFlag,
  withNobody,
} from '../engine/rows.js';
import type { Statements } from '../engine/statements.js';
import { memoize } from '../engine/text-cache.js';
import type { VersionedCache } from '../engine/versioned-cache.js';
import type { SqlGroupRepository } from '../groups/groups.js';
import { ALLOWED_DOMAIN_TABLE, LINKIFIER_TABLE, PLAYGROUND_TABLE, SqlLinkifiers } from './realm-lists.js';

const stringIdTaken = () =>
  new DomainError('STRING_ID_TAKEN', 'Subdomain already in use. Please choose a different one.');
const realmSettings = settingsColumn(STORED_REALM_SETTINGS, 'realm', 'settings');
/** Returns `searchLanguages` of the column `settings`; invalid values become the default. */
export const searchLanguagesOf = memoize((settings: string): string => {
  const { searchLanguages } = parseObject(settings).value;
  return isSettingValue(REALM_SETTINGS.searchLanguages, searchLanguages) ? (searchLanguages as string) : '';
});
const userDefaults = settingsColumn(USER_SETTINGS, 'realm', 'user_defaults');
const images = objectColumn<RealmImage>('realm', 'images', (value) => {
  const { isUploaded, version } = (value ?? {}) as Partial<RealmImage>;
  return typeof isUploaded === 'boolean' && Number.isSafeInteger(version);
});
const realmPermissions = groupSettingsColumn(REALM_PERMISSIONS, 'realm');

interface RealmRow {
  readonly id: RealmId;
  readonly version: number;
  readonly string_id: string;
  readonly uuid: string;
  readonly name: string;
  readonly is_deactivated: Flag;
  readonly created_at: UnixSeconds;
  readonly settings: string;
  readonly rendered_description: string;
  readonly permissions: string;
  readonly user_defaults: string;
  readonly is_at_server_address: Flag;
  readonly images: string;
}

/** `permissions` and `linkifiers` are read by separate statements. */
const toRealm = (
  row: RealmRow,
  permissions: Realm['permissions'],
  linkifiers: Realm['linkifiers'],
  quarantine: Quarantine,
): Realm => ({
  id: row.id,
  stringId: row.string_id,
  isAtServerAddress: row.is_at_server_address === 1,
  uuid: row.uuid,
  name: row.name,
  isDeactivated: row.is_deactivated === 1,
  createdAt: row.created_at,
  settings: realmSettings.fromJson(row.settings, row.id, quarantine),
  renderedDescription: row.rendered_description,
  permissions,
  linkifiers,
  images: { ...USUAL_REALM_IMAGES, ...images(row.images, row.id, quarantine) },
  userDefaults: userDefaults.fromJson(row.user_defaults, row.id, quarantine),
});

/** Returns column values in storage order, without permissions. */
function fromRealm(realm: NewRealmRow): readonly (string | number | null)[] {
  return [
    realm.stringId,
    realm.uuid,
    realm.name,
    toFlag(realm.isDeactivated),
    realm.createdAt,
    realmSettings.toJson(realm.settings),
    realm.renderedDescription,
    userDefaults.toJson(realm.userDefaults),
    toFlag(realm.isAtServerAddress),
    JSON.stringify(realm.images),
  ];
}

/** Realm repository without creating the event log, which differs between the databases. */
export abstract class SqlRealmRepository implements RealmRepository {
  private readonly version;
  private readonly allVersions;
  private readonly idOf;
  private readonly rows;
  private readonly linkifiers;
  private readonly insert;
  private readonly store;

  constructor(
    private readonly statements: Statements,
    private readonly cache: VersionedCache<number, Realm>,
    private readonly groups: Pick<SqlGroupRepository, 'nobodyOf'>,
    private readonly quarantine: Quarantine,
  ) {
    const { inSet } = statements.dialect;
    this.version = statements.values<number>('SELECT version FROM realm WHERE id = ?');
    this.allVersions = statements.tuples<[RealmId, number]>('SELECT id, version FROM realm ORDER BY id');
    this.idOf = statements.values<RealmId>('SELECT id FROM realm WHERE string_id = ?');
    this.rows = statements.rows<RealmRow>(`SELECT * FROM realm WHERE id ${inSet}`);
    this.linkifiers = new SqlLinkifiers(statements, LINKIFIER_TABLE, quarantine);
    this.insert = statements.values<RealmId>(
      `INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                          rendered_description, user_defaults, is_at_server_address, images, permissions)
       VALUES (1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}') ON CONFLICT DO NOTHING RETURNING id`,
    );
    this.store = statements.command(
      `UPDATE realm
       SET version = version + 1, string_id = ?, uuid = ?, name = ?, is_deactivated = ?, created_at = ?, settings = ?,
           rendered_description = ?, user_defaults = ?, is_at_server_address = ?, images = ?, permissions = ?
       WHERE id = ? AND NOT EXISTS (SELECT 1 FROM realm o WHERE o.string_id = ? AND o.id <> ?)
         AND (? = 0 OR NOT EXISTS (SELECT 1 FROM realm o WHERE o.is_at_server_address = 1 AND o.id <> ?))`,
    );
  }

  protected abstract beginLog(id: RealmId): void;

  protected versionOf(id: RealmId): number | undefined | Promise<number | undefined> {
    return this.version.get(id);
  }

  async find(id: RealmId): Promise<Realm | null> {
    const version = await this.versionOf(id);
    if (version === undefined) return null;
    return this.cache.get(id, version) ?? (await this.load([[id, version]]))[0] ?? null;
  }

  async get(id: RealmId): Promise<Realm> {
    const realm = await this.find(id);
    if (!realm) throw unknownRealm();
    return realm;
  }

  async findByStringId(stringId: string): Promise<Realm | null> {
    const id = await this.idOf.get(stringId);
    return id === undefined ? null : this.find(id);
  }

  async list(): Promise<readonly Realm[]> {
    return this.load(await this.allVersions.all());
  }

  async add(realm: NewRealmRow): Promise<RealmId> {
    this.statements.disableCaching();
    const id = await this.insert.get(...fromRealm(realm));
    if (id === undefined) throw stringIdTaken();
    this.beginLog(id);
    return id;
  }

  async update(realm: Realm): Promise<void> {
    this.statements.disableCaching();
    const { id, stringId, isAtServerAddress } = realm;
    const { changes } = await this.store.run(
      ...fromRealm(realm),
      ...[JSON.stringify(realm.permissions), id],
      ...[stringId, id, toFlag(isAtServerAddress), id],
    );
    if (changes === 0) throw (await this.version.get(id)) === undefined ? unknownRealm() : stringIdTaken();
  }

  /** Returns realms in the given order, cached ones if the version matches. */
  private async load(versions: readonly (readonly [RealmId, number])[]): Promise<readonly Realm[]> {
    const loaded = new Map<RealmId, Realm>();
    const missing: RealmId[] = [];
    for (const [id, version] of versions) {
      const realm = this.cache.get(id, version);
      if (realm) loaded.set(id, realm);
      else missing.push(id);
    }
    if (missing.length > 0) {
      const ids = this.statements.dialect.set(missing);
      const linkifiers = grouped(await this.linkifiers.listOf(missing), ({ realmId }) => realmId);
      for (const row of await this.rows.all(ids)) {
        const realm = await this.toRealm(row, linkifiers.get(row.id) ?? []);
        this.cache.put(this.statements, row.id, row.version, realm);
        loaded.set(row.id, realm);
      }
    }
    return versions.map(([id]) => getOrThrow(loaded, id));
  }

  /** Looks up the group `nobody` only if permissions are invalid. */
  private toRealm(row: RealmRow, linkifierRows: readonly LinkifierRow[]): Promise<Realm> {
    const linkifiers = linkifierRows.map(({ realmId: _, position: __, ...linkifier }) => linkifier);
    return withNobody(
      (nobody) =>
        toRealm(
          row,
          realmPermissions.fromJson(row.permissions, row.id, this.quarantine, nobody),
          linkifiers,
          this.quarantine,
        ),
      () => this.groups.nobodyOf(row.id),
    );
  }
}

const TABLES = `
-- Realms. Columns that every transaction reads come before the JSON columns.

CREATE TABLE realm (
  id {id},
  -- Increases with every change of the row.
  version {int} NOT NULL,
  -- Increases with every change of group membership in the realm.
  groups_version {int} NOT NULL,
  string_id {text} NOT NULL UNIQUE,
  uuid {text} NOT NULL,
  name {text} NOT NULL,
  is_deactivated {flag} NOT NULL,
  created_at {int} NOT NULL,
  -- JSON of the values that differ from the registry's defaults.
  settings {text} NOT NULL,
  rendered_description {text} NOT NULL,
  -- JSON: a group id for each permission.
  permissions {text} NOT NULL,
  -- JSON of the values that differ from the registry's defaults.
  user_defaults {text} NOT NULL,
  -- 1 for the realm at the server's own address; others have a host name or path of their own.
  is_at_server_address {flag} NOT NULL DEFAULT 0,
  -- JSON of icon and logos by name; '{}' if they never changed.
  images {text} NOT NULL DEFAULT '{}',
  -- Total number of direct members of named groups, without system groups.
  membership_count {int} NOT NULL DEFAULT 0,
  -- Total number of direct members and subgroups of anonymous groups.
  permission_holder_count {int} NOT NULL DEFAULT 0,
  -- Increases with every later change of an anonymous group.
  setting_values_version {int} NOT NULL DEFAULT 0
) {strict};
CREATE UNIQUE INDEX realm_at_server_address ON realm (is_at_server_address) WHERE is_at_server_address = 1;

${ALLOWED_DOMAIN_TABLE.sql}

${LINKIFIER_TABLE.sql}

${PLAYGROUND_TABLE.sql}
`;

/** Realm tables in both databases. */
export const REALM_TABLES = {
  schema: 'realms',
  steps: { 1: TABLES },
  realmTables: ['allowed_domain', 'linkifier', 'playground'],
  persons: {
    schema_step: { other: ['name', 'checksum'] },
    cache_stamp: {},
    allowed_domain: { other: ['domain'] },
    linkifier: { other: ['pattern', 'url_template', 'example_input', 'reverse_template', 'alternative_url_templates'] },
    playground: { other: ['name', 'language', 'url_template'] },
    realm: {
      other: [
        'string_id',
        'uuid',
        'name',
        'settings',
        'rendered_description',
        'permissions',
        'user_defaults',
        'images',
      ],
    },
  },
} satisfies FeatureTables;
