import { DomainError, type RealmId, type UnixSeconds } from '@parley/domain/kernel';
import {
  type Linkifier,
  type NewRealmRow,
  REALM_PERMISSIONS,
  type Realm,
  type RealmImage,
  type RealmRepository,
  STORED_REALM_SETTINGS,
  USER_SETTINGS,
  USUAL_REALM_IMAGES,
} from '@parley/domain/realms';
import {
  type Flag,
  groupSettingsColumn,
  objectColumn,
  type Parameter,
  type Quarantine,
  settingsColumn,
  toFlag,
  VersionedCache,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';
import { readPermissions } from '../engine/permissions.js';
import type { PostgresGroupRepository } from '../groups/groups.js';
import { LinkifierReads } from './realm-lists.js';

export type RealmCache = VersionedCache<number, Realm>;

export class PostgresRealmRepository implements RealmRepository {
  private readonly versions;
  private readonly allVersions;
  private readonly idOf;
  private readonly rows;
  private readonly insert;
  private readonly insertLogHead;
  private readonly store;

  constructor(
    private readonly connection: Connection,
    private readonly cache: RealmCache,
    private readonly known: KnownVersions<number>,
    private readonly groups: Pick<PostgresGroupRepository, 'nobodyOf'>,
    private readonly linkifiers: LinkifierReads,
    private readonly quarantine: Quarantine,
  ) {
    this.versions = connection.tuples<[RealmId, number]>(
      'SELECT id, version FROM realm WHERE id = ANY($1) ORDER BY id',
    );
    this.allVersions = connection.tuples<[RealmId, number]>('SELECT id, version FROM realm ORDER BY id');
    this.idOf = connection.values<RealmId>('SELECT id FROM realm WHERE string_id = $1');
    this.rows = connection.rows<RealmRow>('SELECT * FROM realm WHERE id = ANY($1)');
    this.insert = connection.values<RealmId>(
      `INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                          rendered_description, user_defaults, is_at_server_address, images, permissions)
       VALUES (1, 1, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '{}')
       ON CONFLICT DO NOTHING RETURNING id`,
    );
    this.insertLogHead = connection.command(
      'INSERT INTO event_log_head (realm_id, last_seq, pruned_up_to, total) VALUES ($1, 0, 0, 0)',
    );
    this.store = connection.command(
      `UPDATE realm
       SET version = version + 1, string_id = $1, uuid = $2, name = $3, is_deactivated = $4, created_at = $5, settings = $6,
           rendered_description = $7, user_defaults = $8, is_at_server_address = $9, images = $10, permissions = $11
       WHERE id = $12
         AND NOT EXISTS (
           SELECT 1 FROM realm WHERE id <> $12 AND (string_id = $1 OR $9 = 1 AND is_at_server_address = 1))`,
    );
  }

  async find(id: RealmId): Promise<Realm | null> {
    const version = await this.known.of(this.connection, id, id, async () => (await this.versions.get([id]))?.[1]);
    return version === undefined ? null : (await this.load([[id, version]]))[0]!;
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
    this.connection.disableCaching();
    const id = await this.insert.get(...fromRealm(realm));
    if (id === undefined) throw stringIdTaken();
    this.insertLogHead.defer(id);
    return id;
  }

  async update(realm: Realm): Promise<void> {
    this.connection.disableCaching();
    const { changes } = await this.store.run(...fromRealm(realm), JSON.stringify(realm.permissions), realm.id);
    if (changes === 0) throw (await this.versions.get([realm.id])) ? stringIdTaken() : unknownRealm();
  }

  private async load(versions: readonly (readonly [RealmId, number])[]): Promise<readonly Realm[]> {
    const missing = versions.filter(([id, version]) => !this.cache.get(id, version)).map(([id]) => id);
    const loaded = new Map<RealmId, Realm>();
    if (missing.length > 0) {
      const linkifiers = await this.linkifiers.listOf(missing);
      for (const row of await this.rows.all(missing)) {
        const realm = await this.toRealm(row, linkifiers.get(row.id) ?? []);
        this.cache.put(this.connection, row.id, row.version, realm);
        loaded.set(row.id, realm);
      }
    }
    return versions.map(([id, version]) => loaded.get(id) ?? this.cache.get(id, version)!);
  }

  private async toRealm(row: RealmRow, linkifiers: readonly Linkifier[]): Promise<Realm> {
    return {
      id: row.id,
      stringId: row.string_id,
      isAtServerAddress: row.is_at_server_address === 1,
      uuid: row.uuid,
      name: row.name,
      isDeactivated: row.is_deactivated === 1,
      createdAt: row.created_at,
      settings: realmSettings.fromJson(row.settings, row.id, this.quarantine),
      renderedDescription: row.rendered_description,
      permissions: await readPermissions(permissions, row.permissions, row.id, this.quarantine, () =>
        this.groups.nobodyOf(row.id),
      ),
      linkifiers,
      images: { ...USUAL_REALM_IMAGES, ...images(row.images, row.id, this.quarantine) },
      userDefaults: userDefaults.fromJson(row.user_defaults, row.id, this.quarantine),
    };
  }
}

const unknownRealm = () => new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
const stringIdTaken = () =>
  new DomainError('STRING_ID_TAKEN', 'Subdomain already in use. Please choose a different one.');
const realmSettings = settingsColumn(STORED_REALM_SETTINGS, 'realm', 'settings');
const userDefaults = settingsColumn(USER_SETTINGS, 'realm', 'user_defaults');
const images = objectColumn<RealmImage>('realm', 'images', (value) => {
  const { isUploaded, version } = (value ?? {}) as Partial<RealmImage>;
  return typeof isUploaded === 'boolean' && Number.isSafeInteger(version);
});
const permissions = groupSettingsColumn(REALM_PERMISSIONS, 'realm');

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

/** Column values in the order of `insert` and `store`, without permissions. */
function fromRealm(realm: NewRealmRow): readonly Parameter[] {
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

export const REALM_FEATURE = {
  schema: 'realms',
  realmTables: ['cache_stamp', 'allowed_domain', 'linkifier', 'playground'],
  notExported: { cache_stamp: 'Concerns caches of servers.' },
  repositories: ({ quarantine }) => {
    const cache: RealmCache = new VersionedCache(10_000);
    const known = new KnownVersions<number>(10_000);
    return (connection, { groups }) => {
      const linkifiers = new LinkifierReads(connection, quarantine);
      return { realms: new PostgresRealmRepository(connection, cache, known, groups, linkifiers, quarantine) };
    };
  },
} satisfies PostgresFeature;
