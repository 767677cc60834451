import type { RealmId } from '@parley/domain/kernel';
import { ALERT_WORD_TABLES, SqlAlertWordRepository } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';

export class PostgresAlertWordRepository extends SqlAlertWordRepository {
  constructor(
    private readonly connection: Connection,
    /** 1 if the realm has any alert words. */
    private readonly known: KnownVersions<number>,
  ) {
    super(connection);
  }

  protected override anyIn(realmId: RealmId): Promise<number | undefined> {
    return this.known.of(this.connection, realmId, realmId, () => super.anyIn(realmId));
  }
}

export const ALERT_WORD_FEATURE = {
  ...ALERT_WORD_TABLES,
  repositories: () => {
    const known = new KnownVersions<number>(10_000);
    return (connection) => ({ alertWords: new PostgresAlertWordRepository(connection, known) });
  },
} satisfies PostgresFeature;
