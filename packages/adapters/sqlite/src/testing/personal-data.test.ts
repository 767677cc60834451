import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nonexistent, personsOf, type SchemaColumn, undeclared } from '@parley/storage';
import Sqlite from 'better-sqlite3';
import { migrate } from '../engine/migrate.js';
import { FEATURES, MIGRATIONS } from '../features.js';
import { renderPersons } from './tables-document.js';

/** Tables of PostgreSQL only. */
const ELSEWHERE = ['server_node', 'cache_stamp'];

function columns(): readonly SchemaColumn[] {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS);
  const rows = database
    .prepare<[], Omit<SchemaColumn, 'isText'> & { readonly type: string }>(
      `SELECT t.name AS "table", c.name, c.type FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c
       WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND t.name NOT LIKE 'message\\_search\\_%' ESCAPE '\\'
         AND c.hidden <> 1`,
    )
    .all();
  database.close();
  return rows.map(({ table, name, type }) => ({ table, name, isText: !['INTEGER', 'REAL'].includes(type) }));
}

describe('the inventory of personal data', () => {
  const persons = personsOf(FEATURES);

  it('declares every table, and every column that may hold data of a person', () => {
    expect(undeclared(columns(), persons)).toEqual([]);
  });

  it('reports new tables, text columns and user ids without a declaration', () => {
    const added = (table: string, name: string, isText: boolean) => ({ table, name, isText });
    const schema = [
      added('lunch', 'id', false),
      added('channel', 'menu', true),
      added('channel', 'owner_id', false),
      added('channel', 'seats', false),
      added('draft', 'menu', true),
    ];
    expect(undeclared(schema, persons)).toEqual(['lunch.id', 'channel.menu', 'channel.owner_id']);
  });

  it('names existing columns only, and describes what they hold', () => {
    const isHere = (name: string) => !ELSEWHERE.includes(name.split('.')[0]!);
    expect(nonexistent(columns(), persons).filter(isHere)).toEqual([]);
    const undescribed = Object.entries(persons).filter(
      ([, { data, other: _, ...effects }]) => data === undefined && Object.keys(effects).length > 0,
    );
    expect(undescribed).toEqual([]);
  });

  it('is the table of docs/personal-data.md', () => {
    const document = readFileSync(join(__dirname, '../../../../../docs/personal-data.md'), 'utf8');
    expect(document.split('-->\n\n')[1]).toBe(`${renderPersons()}\n`);
  });
});
