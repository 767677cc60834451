import { realmTablesOf, SqlRealmData } from '@parley/storage';
import { asStatements } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

export const KEY_COLUMNS = 'SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk';

export const REALM_DATA_FEATURE = {
  repositories: ({ features }) => {
    const tables = realmTablesOf(features);
    return (connection) => ({ realmData: new SqlRealmData(asStatements(connection), tables, KEY_COLUMNS) });
  },
} satisfies SqliteFeature;
