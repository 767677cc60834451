import type { RealmId } from '@parley/domain/kernel';
import type { Linkifier, NewRealmRow, Realm, RealmRepository } from '@parley/domain/realms';
import { unknownRealm } from '@parley/domain/users';
import {
  fromRealm,
  type LinkifierRow,
  type Quarantine,
  type RealmRow,
  realmPermissions,
  stringIdTaken,
  toLinkifier,
  toRealm,
  VersionedCache,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';
import { readPermissions } from '../engine/permissions.js';
import type { PostgresGroupRepository } from '../groups/groups.js';

export type RealmCache = VersionedCache<number, Realm>;

export class PostgresRealmRepository implements RealmRepository {
  private readonly versions;
  private readonly allVersions;
  private readonly idOf;
  private readonly rows;
  private readonly insert;
  private readonly insertLogHead;
  private readonly store;
  private readonly linkifiers;

  constructor(
    private readonly connection: Connection,
    private readonly cache: RealmCache,
    private readonly known: KnownVersions<number>,
    private readonly groups: Pick<PostgresGroupRepository, 'nobodyOf'>,
    private readonly quarantine: Quarantine,
  ) {
    this.versions = connection.tuples<[RealmId, number]>(
      'SELECT id, version FROM realm WHERE id = ANY($1) ORDER BY id',
    );
    this.allVersions = connection.tuples<[RealmId, number]>('SELECT id, version FROM realm ORDER BY id');
    this.idOf = connection.values<RealmId>('SELECT id FROM realm WHERE string_id = $1');
    this.rows = connection.rows<RealmRow>('SELECT * FROM realm WHERE id = ANY($1)');
    this.linkifiers = connection.rows<LinkifierRow & { readonly realm_id: RealmId }>(
      'SELECT * FROM linkifier WHERE realm_id = ANY($1) ORDER BY position',
    );
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
      const linkifiers = new Map<RealmId, Linkifier[]>(missing.map((id) => [id, []]));
      for (const row of await this.linkifiers.all(missing))
        linkifiers.get(row.realm_id)!.push(toLinkifier(row, this.quarantine));
      for (const row of await this.rows.all(missing)) {
        const realm = await this.toRealm(row, linkifiers.get(row.id)!);
        this.cache.put(this.connection, row.id, row.version, realm);
        loaded.set(row.id, realm);
      }
    }
    return versions.map(([id, version]) => loaded.get(id) ?? this.cache.get(id, version)!);
  }

  private async toRealm(row: RealmRow, linkifiers: readonly Linkifier[]): Promise<Realm> {
    const permissions = await readPermissions(realmPermissions, row.permissions, row.id, this.quarantine, () =>
      this.groups.nobodyOf(row.id),
    );
    return toRealm(row, permissions, linkifiers, this.quarantine);
  }
}

export const REALM_FEATURE = {
  schema: 'realms',
  realmTables: ['cache_stamp', 'allowed_domain', 'linkifier', 'playground'],
  notExported: { cache_stamp: 'Concerns caches of servers.' },
  repositories: ({ quarantine }) => {
    const cache: RealmCache = new VersionedCache(10_000);
    const known = new KnownVersions<number>(10_000);
    return (connection, { groups }) => ({
      realms: new PostgresRealmRepository(connection, cache, known, groups, quarantine),
    });
  },
} satisfies PostgresFeature;
