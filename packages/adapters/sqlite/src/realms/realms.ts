import type { RealmId } from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';
import {
  type Quarantine,
  REALM_TABLES,
  type SqlGroupRepository,
  SqlRealmRepository,
  VersionedCache,
} from '@parley/storage';
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { KnownValues } from '../engine/known-values.js';

export class SqliteRealmRepository extends SqlRealmRepository {
  private readonly insertLogStart;
  private readonly versions;

  constructor(
    connection: Connection,
    cache: VersionedCache<number, Realm>,
    groups: Pick<SqlGroupRepository, 'nobodyOf'>,
    quarantine: Quarantine,
  ) {
    super(asStatements(connection), cache, groups, quarantine);
    this.versions = new KnownValues<number>(connection, 10_000);
    this.insertLogStart = connection.command('INSERT INTO event_log_start (realm_id, pruned_up_to) VALUES (?, 0)');
  }

  protected override versionOf(id: RealmId): number | undefined {
    return this.versions.get(id, id, () => super.versionOf(id) as number | undefined);
  }

  protected beginLog(id: RealmId): void {
    this.insertLogStart.run(id);
  }
}

export const REALM_FEATURE = {
  ...REALM_TABLES,
  repositories: ({ quarantine }) => {
    const cache = new VersionedCache<number, Realm>(10_000);
    return (connection, { groups }) => ({
      realms: new SqliteRealmRepository(connection, cache, groups, quarantine),
    });
  },
} satisfies SqliteFeature;
