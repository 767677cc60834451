import type { RealmId } from '@parley/domain/kernel';
import { ALERT_WORD_TABLES, SqlAlertWordRepository } from '@parley/storage';
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { KnownValues } from '../engine/known-values.js';

class SqliteAlertWordRepository extends SqlAlertWordRepository {
  private readonly known;

  constructor(connection: Connection) {
    super(asStatements(connection));
    this.known = new KnownValues<number>(connection, 10_000);
  }

  protected override anyIn(realmId: RealmId): number | undefined {
    return this.known.get(realmId, realmId, () => super.anyIn(realmId) as number | undefined);
  }
}

export const ALERT_WORD_FEATURE = {
  ...ALERT_WORD_TABLES,
  repositories: () => (connection) => ({ alertWords: new SqliteAlertWordRepository(connection) }),
} satisfies SqliteFeature;
