import Sqlite from 'better-sqlite3';
import { MIGRATIONS } from '../features.js';
import { migrate } from '../migrations/migrate.js';
import { TABLES_OF_REALMS } from './sqlite-realm-data.js';

it('removes the rows of every table that has a realm', () => {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS);
  const tables = database
    .prepare<[], string>(
      `SELECT DISTINCT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND c.name = 'realm_id' ORDER BY t.name`,
    )
    .pluck()
    .all();
  expect(tables).toEqual([...TABLES_OF_REALMS].sort());
});
