import { type DatabaseHistory, firstOf, type QueueKey, type StorageHistory } from '@parley/domain/kernel';
import {
  counterSkips,
  decodeMarks,
  encodeMarks,
  FORK_EVENT,
  idsToSkip,
  MARKS_FACT,
  REMOVE_QUEUES,
} from '@parley/storage';
import type { ClientBase } from 'pg';

/** Name of the fact that identifies the history of the database. */
const HISTORY_FACT = 'history';

/**
 * Server, database and timeline. A promoted standby begins a new timeline, and a restored copy is another database.
 * Each may lack acknowledged commits.
 */
const PRESENT = `
  SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE system_identifier::text || '.' || d.oid || '.' ||
      left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS present,
    (SELECT value FROM server_fact WHERE name = $1) AS known,
    (SELECT stats_reset::text FROM pg_stat_wal) AS "recoveredAt"
  FROM pg_control_system(), pg_database d WHERE datname = current_database()`;

/** Seconds since the last known change. Servers report themselves every few seconds. */
const SECONDS_LOST = `
  SELECT coalesce(extract(epoch FROM now()) - greatest(
    (SELECT extract(epoch FROM max(seen_at)) FROM server_node),
    (SELECT max(at) FROM event_log_head h JOIN event e ON e.realm_id = h.realm_id AND e.seq = h.last_seq)
  ), 0)::double precision AS "secondsLost"`;

/** Lock held by units across organizations, which excludes all other units. */
const ALL_REALMS = 0;

const FORK = `
  WITH head AS (
    UPDATE event_log_head SET last_seq = last_seq + $5::bigint,
      total = total + octet_length($2) + octet_length($3 || last_seq || $4)
    RETURNING realm_id, last_seq, total)
  INSERT INTO event (realm_id, seq, at, message_id, format, audience, payload, total)
  SELECT realm_id, last_seq, extract(epoch FROM now())::bigint, NULL, $1, $2, $3 || (last_seq - $5::bigint) || $4, total
  FROM head`;

const SKIP_IDS = `
  SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + $1::bigint)
  FROM pg_sequences WHERE schemaname = current_schema()`;

/** Server behind a connection. */
export interface OpenedHistory {
  readonly history: string;
  /** Time of the server's last crash recovery, in which it loses its statistics. */
  readonly recoveredAt: string;
}

/**
 * Returns the history of the connected database. In a new history, ids and event numbers of possibly lost rows are
 * skipped before any unit writes.
 * @throws Error with a SQLSTATE if the server is a standby
 */
export async function enterHistory(client: ClientBase): Promise<OpenedHistory> {
  const { present, known, recoveredAt } = await look(client);
  if (present === null) throw Object.assign(new Error('the server is a standby'), { code: '25006' });
  if (known === null) await client.query(FIRST, [HISTORY_FACT, present]);
  else if (present !== known) await fork(client, present);
  return { history: present, recoveredAt };
}

const FIRST = 'INSERT INTO server_fact (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING';

interface Look {
  /** Null on a standby. */
  readonly present: string | null;
  /** Null in a database that no server has used yet. */
  readonly known: string | null;
  readonly recoveredAt: string;
}

const look = async (client: ClientBase): Promise<Look> =>
  firstOf((await client.query<Look>(PRESENT, [HISTORY_FACT])).rows);

const fork = (client: ClientBase, present: string): Promise<void> =>
  alone(client, async () => {
    const { known } = await look(client);
    if (known === present) return;
    await skipIds(client, 0);
    await client.query('UPDATE server_fact SET value = $2 WHERE name = $1', [HISTORY_FACT, present]);
  });

/** Runs work in a transaction that excludes all units. */
async function alone<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [ALL_REALMS]);
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // The rollback fails only with its connection, which ends the transaction as well.
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** Skips ids and event numbers of lost rows, and drops the marks of the lost history. */
async function skipIds(client: ClientBase, lost: number): Promise<void> {
  const { secondsLost } = firstOf((await client.query<{ readonly secondsLost: number }>(SECONDS_LOST)).rows);
  const skipped = idsToSkip(secondsLost, lost);
  const { format, audience, start, end } = FORK_EVENT;
  await client.query(FORK, [format, audience, start, end, skipped]);
  await client.query(SKIP_IDS, [skipped]);
  for (const statement of counterSkips(skipped)) await client.query(statement);
  await client.query('DELETE FROM server_fact WHERE name = $1', [MARKS_FACT]);
}

const POSITION = `
  SELECT (SELECT value FROM server_fact WHERE name = $1) AS marks,
    coalesce(pg_sequence_last_value(pg_get_serial_sequence('message', 'id')::regclass), 0)::float8 AS messages,
    (SELECT coalesce(sum(last_seq), 0) FROM event_log_head)::float8 AS events`;

export async function readHistory(client: Pick<ClientBase, 'query'>): Promise<DatabaseHistory> {
  const { marks, ...numbers } = firstOf((await client.query(POSITION, [MARKS_FACT])).rows);
  return { ...numbers, marks: decodeMarks(marks) };
}

/** See `StorageHistory`. */
export const addMarks = (client: ClientBase, ...marks: Parameters<StorageHistory['addMarks']>): Promise<void> =>
  alone(client, () => append(client, ...marks));

const append = async (client: ClientBase, ...marks: Parameters<StorageHistory['addMarks']>): Promise<void> =>
  void (await client.query(
    'INSERT INTO server_fact (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    [MARKS_FACT, encodeMarks((await readHistory(client)).marks, ...marks)],
  ));

/** See `StorageHistory`. */
export const continueHistory = (
  client: ClientBase,
  from: DatabaseHistory,
  marks: readonly string[],
  lost: number,
): Promise<readonly QueueKey[] | null> =>
  alone(client, async () => {
    if ((await readHistory(client)).marks.at(-1) !== from.marks.at(-1)) return null;
    await skipIds(client, lost);
    const { rows: removed } = await client.query<QueueKey>(REMOVE_QUEUES);
    await append(client, [...from.marks, ...marks]);
    return removed;
  });
