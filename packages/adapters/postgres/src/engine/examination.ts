import type { ClientBase } from 'pg';

/** Facts about a database server and its use on which an operator may have to act. */
export interface ServerFacts {
  /** Such as `15.18`. */
  readonly version: string;
  readonly databaseBytes: number;
  readonly fullPageWrites: boolean;
  readonly checksums: boolean;
  readonly autovacuum: boolean;
  /** Standbys for which commits wait; empty if there are none. */
  readonly synchronousStandbys: string;
  /** Number of connected standbys, as far as the user may see them. */
  readonly standbys: number;
  /** Maximum number of sessions available to the user, and the current number for all users. */
  readonly maxSessions: number;
  readonly sessions: number;
  /** Age of the database's oldest transaction visible to the user, and the program's name. */
  readonly oldestTransaction: { readonly seconds: number; readonly program: string } | null;
  /** Number of prepared transactions older than a minute. */
  readonly abandoned: number;
  /** Offset of this machine's clock from the server's, in milliseconds. */
  readonly clockOffsetMs: number;
}

const FACTS = `
  SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
    pg_database_size(current_database()) AS bytes,
    current_setting('full_page_writes') AS full_page_writes,
    current_setting('data_checksums') AS checksums,
    current_setting('autovacuum') AS autovacuum,
    current_setting('synchronous_standby_names') AS synchronous_standbys,
    (SELECT count(*) FROM pg_stat_replication) AS standbys,
    least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
      nullif((SELECT datconnlimit FROM pg_database WHERE datname = current_database()), -1),
      nullif((SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user), -1)) AS max_sessions,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS sessions,
    (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database() AND prepared < now() - interval '1 minute')
      AS abandoned`;

const OLDEST_TRANSACTION = `
  SELECT extract(epoch FROM clock_timestamp() - xact_start)::float AS seconds,
    coalesce(nullif(application_name, ''), 'a program without a name') AS program
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
    AND backend_type = 'client backend'
  ORDER BY xact_start LIMIT 1`;

const CLOCK = 'SELECT extract(epoch FROM clock_timestamp())::float * 1000 AS now';

export async function examineServer(client: ClientBase, nowMs: () => number): Promise<ServerFacts> {
  const { rows } = await client.query(FACTS);
  const { rows: oldest } = await client.query(OLDEST_TRANSACTION);
  const before = nowMs();
  const { rows: clock } = await client.query(CLOCK);
  const facts = rows[0];
  return {
    version: facts.version,
    databaseBytes: Number(facts.bytes),
    fullPageWrites: facts.full_page_writes === 'on',
    checksums: facts.checksums === 'on',
    autovacuum: facts.autovacuum === 'on',
    synchronousStandbys: facts.synchronous_standbys,
    standbys: Number(facts.standbys),
    maxSessions: facts.max_sessions,
    sessions: Number(facts.sessions),
    oldestTransaction: oldest[0] ?? null,
    abandoned: Number(facts.abandoned),
    // Assumes that the server read its clock halfway between.
    clockOffsetMs: Math.round((before + nowMs()) / 2 - clock[0].now),
  };
}
