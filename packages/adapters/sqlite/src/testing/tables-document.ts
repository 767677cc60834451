import { personsOf, renderPersonalData } from '@parley/storage';
import Sqlite from 'better-sqlite3';
import { migrate } from '../engine/migrate.js';
import { FEATURES, MIGRATIONS } from '../features.js';

interface Column {
  readonly name: string;
  readonly isKey: 0 | 1;
  readonly isOptional: 0 | 1;
  /** Table referenced by a foreign key. */
  readonly target: string | null;
}

/** Columns that name a user by their role. */
const USERS = /^(bot|owner|creator|sender|author|inviter)_id$/;

/** Generates the list of docs/tables.md from the schema that the steps create. */
export function renderTables(): string {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS);
  const names = database
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         AND name NOT LIKE 'message\\_search\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .pluck()
    .all();
  const columnsOf = database.prepare<[string], Column>(
    `SELECT c.name, c.pk > 0 AS isKey, c."notnull" = 0 AND c.pk = 0 AS isOptional,
       (SELECT k."table" FROM pragma_foreign_key_list(t.name) k WHERE k."from" = c.name) AS target
     FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.name = ? AND c.name <> 'realm_id' ORDER BY c.cid`,
  );
  const rows = names.map((name) => {
    const columns = columnsOf.all(name).map((column) => renderColumn(column, names));
    return `| \`${name}\` | ${columns.join(', ')} |`;
  });
  database.close();
  return ['| Table | Columns |', '|---|---|', ...rows].join('\n');
}

function renderColumn({ name, isKey, isOptional, target }: Column, tables: readonly string[]): string {
  const marked = isKey === 1 ? `**${name}**` : `${name}${isOptional === 1 ? '?' : ''}`;
  const named = target ?? (USERS.test(name) ? 'user' : tables.find((table) => `_${name}`.endsWith(`_${table}_id`)));
  return named === undefined ? marked : `${marked} → ${named}`;
}

/** Generates the table of docs/personal-data.md. */
export const renderPersons = (): string => renderPersonalData(personsOf(FEATURES));
