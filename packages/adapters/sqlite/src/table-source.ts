import { DatabaseRefused, type Row, type RowPage, type TableSource } from '@parley/storage';
import type { Database } from 'better-sqlite3';
import { openDatabaseFile } from './binary.js';
import { checkHeader, MOVED_FACT, placeOf, refusal } from './database.js';
import { pendingSteps } from './engine/migrate.js';
import { MIGRATIONS } from './features.js';

const MAX_ROWS = 2500;
const MAX_CHARACTERS = 4 * 1024 * 1024;

export interface OpenTableSource extends TableSource {
  /** Makes servers refuse the file, naming the database that replaces it; null lets them use it again. */
  retire(successor: string | null): void;
  close(): void;
}

/**
 * Opens a database exclusively, so that no server can use it before `close`.
 * @throws DatabaseRefused if another process uses it or its schema is not of this version
 */
export function openTableSource(path: string): OpenTableSource {
  if (checkHeader(path)) throw new DatabaseRefused(`Cannot open database ${path}: it does not exist`);
  const database = openAlone(path);
  return {
    tables: () => database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[],
    rows: (page) => readRows(database, page),
    lastIds: () => new Map(database.prepare('SELECT name, seq FROM sqlite_sequence').raw().all() as [string, number][]),
    place: placeOf(path),
    retire: (successor) => retire(database, successor),
    close: () => database.close(),
  };
}

function retire(database: Database, successor: string | null): void {
  if (successor === null) database.prepare('DELETE FROM server_fact WHERE name = ?').run(MOVED_FACT);
  else database.prepare('INSERT OR REPLACE INTO server_fact VALUES (?, ?)').run(MOVED_FACT, successor);
}

function openAlone(path: string): Database {
  const database = openDatabaseFile(path, { fileMustExist: true, timeout: 0 });
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE; COMMIT');
    const [pending] = pendingSteps(database, MIGRATIONS);
    if (pending) throw new Error('its schema does not match this version; run parley migrate');
    return database;
  } catch (error) {
    database.close();
    throw (error as { code?: unknown }).code === 'SQLITE_BUSY'
      ? new DatabaseRefused(`Cannot open database ${path}: a server or a command uses it; stop it first`)
      : refusal(path, error);
  }
}

/** Events are ordered by `id`, which combines the two key columns and has the only index. */
const EVENT_KEY = { columns: 'id', place: '(? << 36) | ?' };

function readRows(database: Database, { table, columns, key, after }: RowPage): readonly Row[] {
  const order = table === 'event' ? EVENT_KEY : { columns: list(key), place: key.map(() => '?').join(', ') };
  const conditions = [
    ...(after === null ? [] : [`(${order.columns}) > (${order.place})`]),
    // The copy is not retired.
    ...(table === 'server_fact' ? [`name <> '${MOVED_FACT}'`] : []),
  ];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const statement = database
    .prepare<unknown[], Row>(
      `SELECT ${list(columns)} FROM "${table}" ${where} ORDER BY ${order.columns} LIMIT ${MAX_ROWS}`,
    )
    .raw();
  const rows: Row[] = [];
  let characters = 0;
  for (const row of statement.iterate(...(after ?? []))) {
    rows.push(row);
    for (const value of row)
      if (typeof value === 'object' || typeof value === 'string') characters += value?.length ?? 0;
    if (characters > MAX_CHARACTERS) break;
  }
  return rows;
}

const list = (columns: readonly string[]): string => columns.map((name) => `"${name}"`).join(', ');
