import type { RealmId } from '@parley/domain/kernel';
import type { NewRealmRow, Realm, RealmRepository } from '@parley/domain/realms';
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
import type { SqliteFeature } from '../engine/feature.js';
import { refusingTaken } from '../engine/rows.js';
import type { SqliteGroupRepository } from '../groups/groups.js';

export type RealmCache = VersionedCache<number, Realm>;

export class SqliteRealmRepository implements RealmRepository {
  private readonly versionOf;
  private readonly idOf;
  private readonly allIds;
  private readonly row;
  private readonly insert;
  private readonly insertLogStart;
  private readonly store;
  private readonly linkifiers;

  constructor(
    private readonly connection: Connection,
    private readonly cache: RealmCache,
    private readonly groups: Pick<SqliteGroupRepository, 'nobodyOf'>,
    private readonly quarantine: Quarantine,
  ) {
    this.versionOf = connection.values<number>('SELECT version FROM realm WHERE id = ?');
    this.idOf = connection.values<RealmId>('SELECT id FROM realm WHERE string_id = ?');
    this.allIds = connection.values<RealmId>('SELECT id FROM realm ORDER BY id');
    this.row = connection.rows<RealmRow>('SELECT * FROM realm WHERE id = ?');
    this.linkifiers = connection.rows<LinkifierRow>('SELECT * FROM linkifier WHERE realm_id = ? ORDER BY position');
    this.insert = connection.values<RealmId>(
      `INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                          rendered_description, user_defaults, is_at_server_address, images, permissions)
       VALUES (1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}') RETURNING id`,
    );
    this.insertLogStart = connection.command('INSERT INTO event_log_start (realm_id, pruned_up_to) VALUES (?, 0)');
    this.store = connection.command(
      `UPDATE realm
       SET version = version + 1, string_id = ?, uuid = ?, name = ?, is_deactivated = ?, created_at = ?, settings = ?,
           rendered_description = ?, user_defaults = ?, is_at_server_address = ?, images = ?, permissions = ?
       WHERE id = ?`,
    );
  }

  async find(id: RealmId): Promise<Realm | null> {
    return this.load(id);
  }

  async get(id: RealmId): Promise<Realm> {
    const realm = this.load(id);
    if (!realm) throw unknownRealm();
    return realm;
  }

  async findByStringId(stringId: string): Promise<Realm | null> {
    const id = this.idOf.get(stringId);
    return id === undefined ? null : this.load(id);
  }

  async list(): Promise<readonly Realm[]> {
    return this.allIds.all().map((id) => this.load(id)!);
  }

  async add(realm: NewRealmRow): Promise<RealmId> {
    this.connection.disableCaching();
    return refusingTaken(stringIdTaken, () => {
      const id = this.insert.get(...fromRealm(realm))!;
      this.insertLogStart.run(id);
      return id;
    });
  }

  async update(realm: Realm): Promise<void> {
    this.connection.disableCaching();
    refusingTaken(stringIdTaken, () => {
      const { changes } = this.store.run(...fromRealm(realm), JSON.stringify(realm.permissions), realm.id);
      if (changes === 0) throw unknownRealm();
    });
  }

  private load(id: RealmId): Realm | null {
    const version = this.versionOf.get(id);
    if (version === undefined) return null;
    const cached = this.cache.get(id, version);
    if (cached) return cached;
    const realm = this.toRealm(this.row.get(id)!);
    this.cache.put(this.connection, id, version, realm);
    return realm;
  }

  private toRealm(row: RealmRow): Realm {
    const permissions = realmPermissions.fromJson(row.permissions, row.id, this.quarantine, () =>
      this.groups.nobodyOf(row.id),
    );
    const linkifiers = this.linkifiers.all(row.id).map((each) => toLinkifier(each, this.quarantine));
    return toRealm(row, permissions, linkifiers, this.quarantine);
  }
}

export const REALM_FEATURE = {
  schema: 'realms',
  realmTables: ['allowed_domain', 'linkifier', 'playground'],
  repositories: ({ quarantine }) => {
    const cache: RealmCache = new VersionedCache(10_000);
    return (connection, { groups }) => ({
      realms: new SqliteRealmRepository(connection, cache, groups, quarantine),
    });
  },
} satisfies SqliteFeature;
