import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { MIGRATIONS } from '../features.js';
import { migrate } from './migrate.js';

it('names every table in docs/tables.md', () => {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS);
  const tables = database
    .prepare<[], { readonly name: string; readonly owner: string }>(
      `SELECT t.name, iif(EXISTS (SELECT 1 FROM pragma_table_info(t.name) c WHERE c.name = 'user_id'), 'user', 'realm') AS owner
       FROM sqlite_schema t WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND t.name NOT LIKE 'message\\_search\\_%' ESCAPE '\\'`,
    )
    .all();
  const document = readFileSync(join(__dirname, '../../../../docs/tables.md'), 'utf8');
  const words = new Set(document.match(/\w+/g));
  const missing = tables.filter(({ name }) => !words.has(name));
  // Lines for the diagram; a better verb may replace "has".
  expect(missing.map(({ name, owner }) => `  ${owner} ||--o{ ${name} : has`)).toEqual([]);
});
