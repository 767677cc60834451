import { createHash } from 'node:crypto';
import type { Row, TableSource, Value } from '@parley/storage';
import type { Client } from 'pg';
import { storable } from './engine/connection.js';
import { migrate } from './engine/migrate.js';
import { MIGRATIONS } from './features.js';

/** Table that exists while a move is unfinished: state by name, as JSON. */
const UNFINISHED = 'unfinished_move';
/** Advisory lock of the command that moves; organizations have positive numbers. */
const MOVE_LOCK = -2;

/** Tables that the move does not copy: it derives their rows, or the servers do. */
const NOT_COPIED = [
  ...[UNFINISHED, 'schema_step', 'server_node', 'cache_stamp', 'event_log_head', 'message_search', 'search_backlog'],
];

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Types of the columns. */
  readonly types: readonly string[];
  readonly key: readonly string[];
  /** Column that is numbered by PostgreSQL; null if there is none. */
  readonly identity: string | null;
}

interface Position {
  readonly after: Row | null;
  readonly isCopied: boolean;
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

/** Called after each page with the number of rows that this run has copied. */
export type MoveProgress = (table: string, rows: number) => void;

/** True if a move has begun to fill the database and has not finished. */
export async function hasUnfinishedMove(client: Client): Promise<boolean> {
  const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS is_there', [UNFINISHED]);
  return rows[0].is_there;
}

/**
 * Fills an empty database with all rows of another one, then compares both. Continues a move that was interrupted. No
 * server opens the database before the move is finished.
 * @throws Error if the database holds an organization, another command fills it, or the rows differ in the end
 */
export async function moveInto(
  client: Client,
  source: TableSource,
  onProgress: MoveProgress,
): Promise<readonly MovedTable[]> {
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS is_ours', [MOVE_LOCK]);
  if (!rows[0].is_ours) throw new Error('another command is filling it');
  await migrate(client, MIGRATIONS);
  if (!(await hasUnfinishedMove(client))) await begin(client);
  const tables = await tablesOf(client);
  for (const table of tables) await copyTable(client, source, table, (count) => onProgress(table.name, count));
  const moved = await compare(client, source, tables);
  await finish(client, source, tables);
  return moved;
}

/** Empties the tables, and takes the foreign keys off, because rows come in the order of their own keys. */
const begin = (client: Client) =>
  inTransaction(client, async () => {
    const { rows } = await client.query<{ is_used: boolean }>(
      'SELECT EXISTS (SELECT FROM realm) OR EXISTS (SELECT FROM server_fact) AS is_used',
    );
    if (rows[0]!.is_used) throw new Error('it is not empty: a server or a command has used it');
    const tables = await tablesOf(client);
    await client.query(`TRUNCATE ${tables.map(({ name }) => `"${name}"`).join(', ')} CASCADE`);
    const foreignKeys = await client.query<ForeignKey>(
      `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
       FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2`,
    );
    for (const { table, name } of foreignKeys.rows)
      await client.query(`ALTER TABLE ${table} DROP CONSTRAINT "${name}"`);
    await client.query(`CREATE TABLE ${UNFINISHED} (name text PRIMARY KEY, state jsonb NOT NULL)`);
    await save(client, 'foreign keys', foreignKeys.rows);
  });

async function tablesOf(client: Client): Promise<readonly Table[]> {
  const { rows } = await client.query<Table>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns,
       array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum) AS types,
       (SELECT array_agg(k.attname::text ORDER BY place) FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS keys (number, place)
        JOIN pg_attribute k ON k.attnum = number WHERE i.indrelid = c.oid AND i.indisprimary AND k.attrelid = c.oid) AS key,
       max(a.attname) FILTER (WHERE a.attidentity <> '') AS identity
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.relname <> ALL ($1::text[])
     GROUP BY c.oid ORDER BY c.relname`,
    [NOT_COPIED],
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
  let { after, isCopied } = await load<Position>(client, name, { after: null, isCopied: false });
  const insertion = `INSERT INTO "${name}" (${list(columns)}) SELECT * FROM unnest(${types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')})`;
  while (!isCopied) {
    const rows = source.rows({ table: name, columns, key, after });
    isCopied = rows.length === 0;
    after = keyOf(table, rows.at(-1)) ?? after;
    await inTransaction(client, async () => {
      const values = columns.map((_, index) => storable(rows.map((row) => row[index]!)));
      if (!isCopied) await client.query(insertion, values);
      await save(client, name, { after, isCopied } satisfies Position);
    });
    if (!isCopied) onRows(rows.length);
  }
}

const keyOf = ({ columns, key }: Table, row: Row | undefined): Row | null =>
  row === undefined ? null : key.map((name) => row[columns.indexOf(name)]!);

/** @throws Error that names the tables whose rows differ */
async function compare(client: Client, source: TableSource, tables: readonly Table[]): Promise<readonly MovedTable[]> {
  const moved: MovedTable[] = [];
  const different: string[] = [];
  for (const table of tables) {
    const [original, copy] = [checksumOf(source, table), await checksumIn(client, table)];
    moved.push({ name: table.name, rows: copy.rows });
    if (original.rows === copy.rows && original.sum === copy.sum) continue;
    different.push(`${table.name} (${original.rows} and ${copy.rows} rows)`);
  }
  if (different.length === 0) return moved;
  throw new Error(
    `the original and the copy differ in ${different.join(', ')}: the original was changed meanwhile; begin again with an empty database`,
  );
}

/** Number of rows, and the sum of the first 60 bits of their digests, which does not depend on the order. */
interface Checksum {
  readonly rows: number;
  readonly sum: bigint;
}

const NULL = '\x01';
const SEPARATOR = '\x02';

function checksumOf(source: TableSource, table: Table): Checksum {
  const { name, columns, key } = table;
  let count = 0;
  let sum = 0n;
  for (let after: Row | null = null; ; ) {
    const rows = source.rows({ table: name, columns, key, after });
    if (rows.length === 0) return { rows: count, sum };
    count += rows.length;
    for (const row of rows) {
      const digest = createHash('md5').update(row.map(textOf).join(SEPARATOR)).digest('hex');
      sum += BigInt(`0x${digest.slice(0, 15)}`);
    }
    after = keyOf(table, rows.at(-1));
  }
}

function textOf(value: Value): string {
  if (value === null) return NULL;
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(storable(value));
}

async function checksumIn(client: Client, { name, columns, types }: Table): Promise<Checksum> {
  const texts = columns.map((column, i) => (types[i] === 'bytea' ? `encode("${column}", 'hex')` : `"${column}"::text`));
  const row = texts.map((text) => `coalesce(${text}, chr(1))`).join(' || chr(2) || ');
  const { rows } = await client.query<{ count: string; sum: string }>(
    `SELECT count(*) AS count, coalesce(sum(('x0' || left(md5(${row}), 15))::bit(64)::bigint), 0)::text AS sum FROM "${name}"`,
  );
  return { rows: Number(rows[0]!.count), sum: BigInt(rows[0]!.sum) };
}

/** Puts the foreign keys back, and numbers rows and events from where the original ended. */
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
    // Servers index the messages, newest first, while they serve.
    await client.query('DELETE FROM search_backlog');
    await client.query('INSERT INTO search_backlog SELECT 1, coalesce(max(id), 0) FROM message');
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
    after = starts.at(-1)!.slice(0, 1);
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
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

const list = (columns: readonly string[]): string => columns.map((name) => `"${name}"`).join(', ');
