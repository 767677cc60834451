import { firstOf, lastOf } from '@parley/domain/kernel';
import type { Row, TableSource } from '@parley/storage';
import type { Client } from 'pg';
import { foreignTables, migrate, tablesInSchema } from './engine/migrate.js';
import { MIGRATIONS } from './features.js';
import { type Checksum, compareTable, keyOf, NO_ROWS, storedAs, type Table, withRows } from './move-comparison.js';

/** Table that exists while a move is unfinished: state by name, as JSON. */
const UNFINISHED = 'unfinished_move';
/** Advisory lock of the move command; organizations have positive numbers. */
const MOVE_LOCK = -2;

/** Tables omitted by the move: their rows are derived by the move or by servers. */
const NOT_COPIED = [
  ...[UNFINISHED, 'schema_step', 'server_node', 'cache_stamp', 'event_log_head', 'message_search', 'search_backlog'],
];

/** Name of the fact with the place of the database that was moved here. */
export const FORMER_PLACE = 'moved from';

interface Position {
  readonly after: Row | null;
  readonly isCopied: boolean;
  /** Checksum of the copied rows of the original. */
  readonly copied: Checksum;
}

interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

export interface MovedTable {
  readonly name: string;
  readonly rows: number;
}

const START: Position = { after: null, isCopied: false, copied: NO_ROWS };

/** Called after each page with the number of rows copied in this run. */
export type MoveProgress = (table: string, rows: number) => void;

/** True if a move has started to fill the database and has not finished. */
export async function hasUnfinishedMove(client: Client): Promise<boolean> {
  const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS is_there', [UNFINISHED]);
  return rows[0].is_there;
}

/**
 * Fills an empty database with all rows of another one, then compares both. Continues an interrupted move. Servers
 * cannot open the database until the move is finished.
 * @throws Error if the database contains an organization or tables of another program, another command fills it, or the
 * rows differ in the end
 */
export async function moveInto(
  client: Client,
  source: TableSource,
  onProgress: MoveProgress,
): Promise<readonly MovedTable[]> {
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS is_ours', [MOVE_LOCK]);
  if (!rows[0].is_ours) throw new Error('another command is filling it');
  await requireOwnTables(client, source);
  await migrate(client, MIGRATIONS);
  const tables = await tablesOf(client, source);
  if (!(await hasUnfinishedMove(client))) await begin(client, tables);
  for (const table of tables) await copyTable(client, source, table, (count) => onProgress(table.name, count));
  const moved = await compare(client, source, tables);
  await finish(client, source, tables);
  return moved;
}

/** Empties the tables and drops the foreign keys, because rows arrive in primary key order. */
const begin = (client: Client, tables: readonly Table[]) =>
  inTransaction(client, async () => {
    const { rows } = await client.query<{ is_used: boolean }>(
      'SELECT EXISTS (SELECT FROM realm) OR EXISTS (SELECT FROM server_fact) AS is_used',
    );
    if (firstOf(rows).is_used) throw new Error('it is not empty: a server or a command has used it');
    const names = tables.map(({ name }) => name);
    // Fails if a table of another schema refers to one of these.
    await client.query(`TRUNCATE ${[...names, 'event_log_head'].map((name) => `"${name}"`).join(', ')}`);
    const foreignKeys = await client.query<ForeignKey>(
      `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(k.oid) AS definition
       FROM pg_constraint k JOIN pg_class c ON c.oid = conrelid
       WHERE contype = 'f' AND relnamespace = current_schema()::regnamespace AND relname = ANY ($1::text[]) ORDER BY 1, 2`,
      [names],
    );
    for (const { table, name } of foreignKeys.rows)
      await client.query(`ALTER TABLE ${table} DROP CONSTRAINT "${name}"`);
    await client.query(`CREATE TABLE ${UNFINISHED} (name text PRIMARY KEY, state jsonb NOT NULL)`);
    await save(client, 'foreign keys', foreignKeys.rows);
  });

/** @throws Error if the schema contains tables that neither the original nor this database has by our schema */
async function requireOwnTables(client: Client, source: TableSource): Promise<void> {
  const own = new Set([...source.tables(), ...NOT_COPIED]);
  const foreign = (await tablesInSchema(client)).filter((name) => !own.has(name));
  if (foreign.length > 0) throw foreignTables(foreign);
}

/** Tables of the original, which this database has too. */
async function tablesOf(client: Client, source: TableSource): Promise<readonly Table[]> {
  const { rows } = await client.query<Table>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns,
       array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum) AS types,
       (SELECT array_agg(k.attname::text ORDER BY place) FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS keys (number, place)
        JOIN pg_attribute k ON k.attnum = number WHERE i.indrelid = c.oid AND i.indisprimary AND k.attrelid = c.oid) AS key,
       max(a.attname) FILTER (WHERE a.attidentity <> '') AS identity
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1::text[])
     GROUP BY c.oid ORDER BY c.relname`,
    [source.tables().filter((name) => !NOT_COPIED.includes(name))],
  );
  return rows;
}

async function copyTable(
  client: Client,
  source: TableSource,
  table: Table,
  onRows: (count: number) => void,
): Promise<void> {
  const { name, columns, types, key } = table;
  let { after, isCopied, copied } = await load(client, name, START);
  const insertion = `INSERT INTO "${name}" (${list(columns)}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')})`;
  while (!isCopied) {
    const rows = source.rows({ table: name, columns, key, after });
    isCopied = rows.length === 0;
    after = keyOf(table, rows.at(-1)) ?? after;
    copied = withRows(table, copied, rows);
    await inTransaction(client, async () => {
      const values = types.map((type, index) => rows.map((row) => storedAs(type, row[index]!)));
      if (!isCopied) await client.query(insertion, values).catch((error) => fail(name, error));
      await save(client, name, { after, isCopied, copied } satisfies Position);
    });
    if (!isCopied) onRows(rows.length);
  }
}

function fail(table: string, error: Error): never {
  throw new Error(`table ${table} cannot be copied: ${error.message}`, { cause: error });
}

/** @throws Error naming a row of each table that differs */
async function compare(client: Client, source: TableSource, tables: readonly Table[]): Promise<readonly MovedTable[]> {
  const moved: MovedTable[] = [];
  const differences: string[] = [];
  for (const table of tables) {
    const { name } = table;
    const { copied } = await load(client, name, START);
    const { rows, difference } = await compareTable(client, source, table, copied);
    moved.push({ name, rows });
    if (difference !== null) differences.push(difference);
  }
  if (differences.length === 0) return moved;
  throw new Error(`the copy differs from the original: ${differences.join('; ')}. Begin again with an empty database`);
}

/** Restores the foreign keys, and continues row and event numbers where the original ended. */
const finish = (client: Client, source: TableSource, tables: readonly Table[]) =>
  inTransaction(client, async () => {
    for (const { table, name, definition } of await load<readonly ForeignKey[]>(client, 'foreign keys', [])) {
      await client.query(`ALTER TABLE ${table} ADD CONSTRAINT "${name}" ${definition}`);
    }
    const lastIds = source.lastIds();
    for (const { name, identity } of tables) {
      if (identity === null) continue;
      await client.query(
        `SELECT setval(pg_get_serial_sequence($1, $2), greatest(last, 1), last > 0)
         FROM (SELECT greatest(coalesce(max("${identity}"), 0), $3::bigint) AS last FROM "${name}") AS ids`,
        [`"${name}"`, identity, lastIds.get(name) ?? 0],
      );
    }
    await putLogHeads(client, source);
    // Servers index the messages at runtime, newest first.
    await client.query('DELETE FROM search_backlog');
    await client.query('INSERT INTO search_backlog SELECT 1, coalesce(max(id), 0) FROM message');
    await client.query('INSERT INTO server_fact (name, value) VALUES ($1, $2)', [FORMER_PLACE, source.place]);
    await client.query(`DROP TABLE ${UNFINISHED}`);
  });

async function putLogHeads(client: Client, source: TableSource): Promise<void> {
  const columns = ['realm_id', 'pruned_up_to'];
  for (let after: Row | null = null; ; ) {
    const starts: readonly Row[] = source.rows({ table: 'event_log_start', columns, key: ['realm_id'], after });
    if (starts.length === 0) return;
    await client.query(
      `INSERT INTO event_log_head (realm_id, last_seq, pruned_up_to, total)
       SELECT realm_id, coalesce(seq, pruned_up_to), pruned_up_to, coalesce(total, 0)
       FROM unnest($1::bigint[], $2::bigint[]) AS starts (realm_id, pruned_up_to)
       LEFT JOIN LATERAL (
         SELECT seq, total FROM event e WHERE e.realm_id = starts.realm_id ORDER BY seq DESC LIMIT 1) AS newest ON true`,
      columns.map((_, index) => starts.map((row) => row[index]!)),
    );
    after = lastOf(starts).slice(0, 1);
  }
}

async function load<T>(client: Client, name: string, initial: T): Promise<T> {
  const { rows } = await client.query(`SELECT state FROM ${UNFINISHED} WHERE name = $1`, [name]);
  return rows[0]?.state ?? initial;
}

const save = (client: Client, name: string, state: unknown) =>
  client.query(
    `INSERT INTO ${UNFINISHED} (name, state) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET state = excluded.state`,
    [name, JSON.stringify(state)],
  );

async function inTransaction(client: Client, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN');
  try {
    await work();
    await client.query('COMMIT');
  } catch (error) {
    // The rollback fails only with its connection, which ends the transaction as well.
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

const list = (columns: readonly string[]): string => columns.map((name) => `"${name}"`).join(', ');
