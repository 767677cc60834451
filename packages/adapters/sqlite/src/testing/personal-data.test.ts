import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  featuresOf,
  nonexistent,
  OF_ACCOUNT,
  type PersonalData,
  personsOf,
  type SchemaColumn,
  SQLITE_SCHEMA,
  undeclared,
} from '@parley/storage';
import Sqlite from 'better-sqlite3';
import { migrate } from '../engine/migrate.js';
import { SQL_TEXTS } from '../engine/sql-texts.js';
import { FEATURES, MIGRATIONS } from '../features.js';
import * as own from '../own-features.js';
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

  it('names existing columns only', () => {
    const isHere = (name: string) => !ELSEWHERE.includes(name.split('.')[0]!);
    expect(nonexistent(columns(), persons).filter(isHere)).toEqual([]);
  });

  it('compiles only if each table says what it holds, and what happens to it before and at an erasure', () => {
    const fate = OF_ACCOUNT;
    const lunch = (persons: Readonly<Record<'lunch', PersonalData>>) => ({ realmTables: ['lunch'], persons }) as const;
    const withLunch = { ...own, ALERT_WORD_FEATURE: lunch({ lunch: { data: 'Lunches', fate } }) };
    const features = featuresOf(withLunch, SQL_TEXTS, SQLITE_SCHEMA);
    expect(personsOf(features.FEATURES)).toHaveProperty('lunch');
    const refused = () => [
      // @ts-expect-error: a table is absent.
      featuresOf({ ...own, ALERT_WORD_FEATURE: { realmTables: ['lunch'], persons: {} } }, SQL_TEXTS, SQLITE_SCHEMA),
      // @ts-expect-error: the effects of occasions are absent.
      lunch({ lunch: { data: 'Lunches' } }),
      // @ts-expect-error: the reason to stay at the other occasions is absent.
      lunch({ lunch: { data: 'Lunches', fate: { ends: ['become'] } } }),
      // @ts-expect-error: deleted rows hold data of people.
      lunch({ lunch: { erase: 'user_id = {id}' } }),
    ];
    expect(refused).toBeInstanceOf(Function);
  });

  it('is the table of docs/personal-data.md', () => {
    const document = readFileSync(join(__dirname, '../../../../../docs/personal-data.md'), 'utf8');
    expect(document.split('-->\n\n')[1]).toBe(`${renderPersons()}\n`);
  });
});
