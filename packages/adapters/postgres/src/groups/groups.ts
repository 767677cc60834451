import type { RealmId } from '@parley/domain/kernel';
import { GROUP_TABLES, newGroupCaches, type Quarantine, SqlGroupRepository } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';

export class PostgresGroupRepository extends SqlGroupRepository {
  constructor(
    private readonly connection: Connection,
    caches: ReturnType<typeof newGroupCaches>,
    private readonly known: KnownVersions<number>,
    quarantine: Quarantine,
  ) {
    super(connection, caches, quarantine);
  }

  protected override versionOf(realmId: RealmId): Promise<number | undefined> {
    return this.known.of(this.connection, realmId, realmId, () => super.versionOf(realmId));
  }
}

declare module '../engine/feature.js' {
  interface SharedObjects {
    readonly groups: SqlGroupRepository;
  }
}

export const GROUP_FEATURE = {
  ...GROUP_TABLES,
  shared: ({ quarantine }) => {
    const caches = newGroupCaches();
    const known = new KnownVersions<number>(10_000);
    return (connection) => ({ groups: new PostgresGroupRepository(connection, caches, known, quarantine) });
  },
  repositories:
    () =>
    (_, { groups }) => ({ groups }),
} satisfies PostgresFeature;
