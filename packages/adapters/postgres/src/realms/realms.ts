import type { RealmId } from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';
import {
  type Quarantine,
  REALM_TABLES,
  type SqlGroupRepository,
  SqlRealmRepository,
  VersionedCache,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';

export class PostgresRealmRepository extends SqlRealmRepository {
  private readonly insertLogHead;

  constructor(
    private readonly connection: Connection,
    cache: VersionedCache<number, Realm>,
    private readonly known: KnownVersions<number>,
    groups: Pick<SqlGroupRepository, 'nobodyOf'>,
    quarantine: Quarantine,
  ) {
    super(connection, cache, groups, quarantine);
    this.insertLogHead = connection.command(
      'INSERT INTO event_log_head (realm_id, last_seq, pruned_up_to, total) VALUES (?, 0, 0, 0)',
    );
  }

  protected override versionOf(id: RealmId): Promise<number | undefined> {
    return this.known.of(this.connection, id, id, () => super.versionOf(id));
  }

  protected beginLog(id: RealmId): void {
    this.insertLogHead.defer(id);
  }
}

export const REALM_FEATURE = {
  ...REALM_TABLES,
  realmTables: ['cache_stamp', ...REALM_TABLES.realmTables],
  notExported: { cache_stamp: 'Concerns caches of servers.' },
  repositories: ({ quarantine }) => {
    const cache = new VersionedCache<number, Realm>(10_000);
    const known = new KnownVersions<number>(10_000);
    return (connection, { groups }) => ({
      realms: new PostgresRealmRepository(connection, cache, known, groups, quarantine),
    });
  },
} satisfies PostgresFeature;
