import type { RealmId } from '@parley/domain/kernel';
import type { RemovalCursor } from '@parley/domain/realms';
import { realmTablesOf, SqlRealmData } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export const KEY_COLUMNS = `
  SELECT a.attname FROM pg_index i
  CROSS JOIN unnest(i.indkey) WITH ORDINALITY k (attnum, place)
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
  WHERE i.indrelid = quote_ident(?)::regclass AND i.indisprimary ORDER BY k.place`;

export class PostgresRealmData extends SqlRealmData {
  private readonly removeStamp;

  constructor(
    private readonly connection: Connection,
    tables: readonly string[],
  ) {
    super(connection, tables, KEY_COLUMNS);
    this.removeStamp = connection.command('DELETE FROM cache_stamp WHERE realm_id = -$1::bigint');
  }

  override async removeSome(realmId: RealmId, from: RemovalCursor, limit: number): Promise<RemovalCursor | 'done'> {
    this.connection.disableCaching('subscriptions');
    return super.removeSome(realmId, from, limit);
  }

  override async removeRealm(realmId: RealmId): Promise<void> {
    this.removeStamp.defer(realmId);
    await super.removeRealm(realmId);
  }
}

export const REALM_DATA_FEATURE = {
  repositories: ({ features }) => {
    const tables = realmTablesOf(features);
    return (connection) => ({ realmData: new PostgresRealmData(connection, tables) });
  },
} satisfies PostgresFeature;
