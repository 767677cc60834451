import {
  type BlobRecord,
  type Clock,
  type ClusterGauges,
  type FutureRows,
  firstOf,
  loadOptional,
  type NodeState,
  type StorageGauges,
  type StorageHistory,
  type StoredText,
  type UnitOfWork,
  type UnixSeconds,
} from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { PLAIN_TEXTS } from '@parley/domain/messages';
import {
  blobsSql,
  COPY_FACT,
  type Commit,
  DatabaseRefused,
  futureRowsSql,
  hostsOf,
  SECRET_FINGERPRINT,
  type TableSource,
} from '@parley/storage';
import type { Client, ClientBase, ClientConfig, Pool } from 'pg';
import { clientClass } from './engine/client.js';
import type { StatementTrace } from './engine/connection.js';
import { examineServer, type ServerFacts } from './engine/examination.js';
import { addMarks, continueHistory, readHistory } from './engine/history.js';
import { finishUpgrade, migrate, pendingSteps, requireNoTables } from './engine/migrate.js';
import { type NodeFiles, OwnNode, requireSameFiles } from './engine/nodes.js';
import { findPrimary, Primary } from './engine/primary.js';
import { PATIENCE, type Patience, Replica, type ReplicaListener } from './engine/replica.js';
import { SchemaWatch } from './engine/schema-watch.js';
import { DEFAULT_LIMITS, type PoolLimits, poolConfig, SessionPool, type StateListener } from './engine/sessions.js';
import { type ClusterStatus, hostStatuses, listNodeStatus, readClusterGauges } from './engine/status.js';
import { PostgresUnitOfWork } from './engine/unit-of-work.js';
import { MIGRATIONS, repositoryFactory } from './features.js';
import { FORMER_PLACE, hasUnfinishedMove, type MovedTable, type MoveProgress, moveInto } from './move.js';

/** Server data in a database. */
export interface ServerRecord {
  /** Fingerprint of the secret from which API keys are derived; null if not stored yet. */
  readonly secretFingerprint: string | null;
}

export interface PostgresStorageOptions {
  /** URL of the database, such as `postgres://user@host/name`. */
  readonly url: string;
  readonly clock: Clock;
  /** Called before the storage is opened; throws to reject it. */
  readonly admit?: (server: ServerRecord) => void;
  readonly limits?: Partial<PoolLimits>;
  readonly trace?: StatementTrace;
  /** Location of the files of this process; default: a store that several servers can use. */
  readonly files?: NodeFiles;
  /** True for commands, which do not report their presence. */
  readonly isOneOff?: boolean;
  /** Splits messages into indexed words; defaults to words as written. */
  readonly words?: SearchWords;
  /** Receives messages for the operator about invalid stored values. */
  readonly report?: (problem: string) => void;
  readonly onCommit?: (commit: Commit) => void;
  /** Called when the server becomes unavailable and when it is available again. */
  readonly onState?: StateListener;
  /** Called once if another version migrates the schema beyond this version. */
  readonly onUnknownSchema?: (reason: string) => void;
  /** Replica for reading units that allow it; default: none. */
  readonly replica?: {
    readonly url: string;
    readonly onState?: ReplicaListener;
    readonly trace?: StatementTrace;
    /** Tests drive the time of checks. */
    readonly patience?: Patience;
  };
}

/** Identity of a database on a shared bus. A copy has the same `id` and another `place`. */
export interface Installation {
  readonly id: string;
  readonly place: string;
  /** Place of the database from which `parley move` filled this one; null if none did. */
  readonly formerPlace: string | null;
  /** True for a copy for trying things, which `parley move` has filled this one from. */
  readonly isCopy: boolean;
  /** Timeline of the server. A standby or copy that is promoted begins another one at the same place. */
  readonly timeline: string;
}

export interface PostgresStorage {
  readonly uow: UnitOfWork;
  readonly installation: Installation;
  readonly history: StorageHistory;
  /** Returns the identity after a failover. @throws DomainError STORAGE_UNAVAILABLE */
  identify(): Promise<Installation>;
  /** Returns the time of the database server in milliseconds since the epoch. */
  currentTimeMs(): Promise<number>;
  /**
   * Records that this server uses the database, and checks that it still may; call every ten seconds. `id` is unique
   * among servers and starts. Returns the ids of servers that are gone. @throws DatabaseRefused if a server with files in a
   * folder excludes this one
   */
  reportPresence(release: string, id: string, state?: NodeState): Promise<readonly string[]>;
  clusterGauges(id: string): Promise<ClusterGauges>;
  gauges(): StorageGauges;
  /** Called every second. @throws Error once another version has changed the schema */
  verify(): void;
  /** Completes running units, rejects new ones, and closes all connections. */
  close(): Promise<void>;
}

/** Maximum number of sessions opened by a server, including those of commands. */
export const SESSIONS_PER_SERVER = DEFAULT_LIMITS.connections + 2;

/** Oldest supported release of PostgreSQL. */
const OLDEST_VERSION = 15;

/** Opens the storage. @throws DatabaseRefused if the database cannot be used or its schema is not of this version */
export async function openPostgresStorage(options: PostgresStorageOptions): Promise<PostgresStorage> {
  const { url, clock, trace, words = PLAIN_TEXTS, report = () => {}, onCommit, onState } = options;
  const library = await loadLibrary();
  const { pendingSteps: missing, secretFingerprint } = await inspectPostgres(url);
  if (missing.length > 0) throw refusal(url, new Error('its schema does not match this version; run parley migrate'));
  options.admit?.({ secretFingerprint });
  await requirePooler(url, DEFAULT_LIMITS);
  const installation = await withClient(url, (client) => identify(client, options));
  const primary = await Primary.find(clientClass(library), hostsOf(url));
  const pool: Pool = new library.Pool({
    ...poolConfig(url, { ...DEFAULT_LIMITS, ...options.limits }, library.types),
    Client: primary.Client,
  });
  let roundTrips = 0;
  const count: StatementTrace = (sql, isFirst) => {
    if (isFirst) roundTrips++;
    trace?.(sql, isFirst);
  };
  const sessions = new SessionPool(
    pool,
    () => repositoryFactory(clock, report, words),
    count,
    onState,
    () => primary.search(),
  );
  const replica = options.replica
    ? new Replica({
        Driver: clientClass(library),
        createPool: (config) => new library.Pool(config),
        config: poolConfig(options.replica.url, DEFAULT_LIMITS, library.types),
        place: installation.place,
        createRepositories: repositoryFactory(clock, report, words),
        onState: options.replica.onState ?? (() => {}),
        trace: options.replica.trace,
        patience: options.replica.patience ?? PATIENCE,
      })
    : null;
  const uow = new PostgresUnitOfWork(sessions, { ...(onCommit && { onCommit }), ...(replica && { replica }) });
  const nodes: OwnNode[] = [];
  const schema = new SchemaWatch(pool, MIGRATIONS, options.onUnknownSchema ?? (() => {}), () => primary.search());
  return {
    uow,
    installation,
    history: {
      readHistory: () => sessions.query(readHistory),
      addMarks: (...marks) => sessions.query((client) => addMarks(client, ...marks)),
      continueHistory: (...lost) => sessions.query((client) => continueHistory(client, ...lost)),
    },
    identify: async () => (await sessions.query(findInstallation))!,
    clusterGauges: (id) => sessions.reaching(() => readClusterGauges(pool, id)),
    reportPresence: (release, id, state) =>
      sessions.query((client) => {
        if (nodes.length === 0) nodes.push(new OwnNode(id, release, options.files));
        return firstOf(nodes).report(client, state);
      }),
    currentTimeMs: () =>
      sessions.reaching(
        async () =>
          (await pool.query('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms')).rows[0].ms,
      ),
    verify: () => schema.verify(),
    gauges: () => ({
      hasOwnSchema: schema.hasOwnSchema,
      waitingWrites: uow.waitingWrites,
      sessions: {
        connections: pool.totalCount,
        idle: pool.idleCount,
        waiting: pool.waitingCount,
        roundTrips,
        lockWaitSeconds: uow.lockWaitSeconds,
      },
      ...(replica && { replica: replica.gauges }),
    }),
    async close() {
      // Other nodes drop the row of an unreachable database's node when it becomes stale.
      await nodes[0]?.remove(pool).catch(() => {});
      await uow.close();
    },
  };
}

async function identify(
  client: Client,
  { files, isOneOff }: Pick<PostgresStorageOptions, 'files' | 'isOneOff'>,
): Promise<Installation> {
  if (isOneOff) await requireSameFiles(client, files);
  await client.query(
    `INSERT INTO server_fact (name, value) VALUES ('installation', gen_random_uuid()::text) ON CONFLICT DO NOTHING`,
  );
  return (await findInstallation(client))!;
}

async function findInstallation(client: ClientBase): Promise<Installation | null> {
  const { rows } = await client.query(
    `SELECT value AS id, system_identifier::text || '.' || oid AS place,
       left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline,
       (SELECT value FROM server_fact WHERE name = $1) AS "formerPlace",
       EXISTS (SELECT FROM server_fact WHERE name = $2) AS "isCopy"
     FROM server_fact, pg_control_system(), pg_database WHERE name = 'installation' AND datname = current_database()`,
    [FORMER_PLACE, COPY_FACT],
  );
  const [found] = rows;
  // Sessions read booleans as numbers.
  return found ? { ...found, isCopy: Boolean(found.isCopy) } : null;
}

/** State of a database for operators. */
export interface PostgresState extends ServerRecord {
  /** Number of executed steps. */
  readonly schema: number;
  /** Number of steps in this release. */
  readonly latestSchema: number;
  readonly pendingSteps: readonly string[];
  /** Pending steps to be run by `finishUpgradeOfPostgres`. */
  readonly finalSteps: readonly string[];
  /** Null if no server has opened the database. */
  readonly installation: Installation | null;
}

/** Inspects a database without changing it. @throws DatabaseRefused */
export const inspectPostgres = (url: string): Promise<PostgresState> =>
  withClient(url, async (client) => {
    if (await hasUnfinishedMove(client))
      throw new Error('parley move has not finished filling it; run that command again');
    const { expand, contract } = await pendingSteps(client, MIGRATIONS);
    const latestSchema = MIGRATIONS.length;
    const schema = latestSchema - expand.length - contract.length;
    const [missing, finalSteps] = [expand, contract].map((steps) => steps.map(({ name }) => name)) as [
      string[],
      string[],
    ];
    const state = { schema, latestSchema, pendingSteps: missing, finalSteps };
    if (schema === 0) {
      await requireNoTables(client);
      return { ...state, secretFingerprint: null, installation: null };
    }
    const { rows } = await client.query('SELECT value FROM server_fact WHERE name = $1', [SECRET_FINGERPRINT]);
    return { ...state, secretFingerprint: rows[0]?.value ?? null, installation: await findInstallation(client) };
  });

/** Returns the blobs listed in a database with the latest schema, in pages by name. @throws DatabaseRefused */
export const listBlobsOfPostgres = (url: string, after: string, limit: number): Promise<readonly BlobRecord[]> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<BlobRecord>(blobsSql('$1', '$2'), [after, limit]);
    return rows.map(({ blob, size }) => ({ blob, size: Number(size) }));
  });

/** Returns rows from the future in a database with the latest schema. @throws DatabaseRefused */
export const findFutureOfPostgres = (url: string, now: UnixSeconds): Promise<readonly FutureRows[]> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<FutureRows>(futureRowsSql(now));
    return rows.map(({ name, count, latest }) => ({ name, count: Number(count), latest: Number(latest) }));
  });

/**
 * Finishes an upgrade unless servers with another release are running. Returns these servers and the executed steps.
 * @throws DatabaseRefused
 */
export const finishUpgradeOfPostgres = (url: string, release: string): ReturnType<typeof finishUpgrade> =>
  withClient(url, (client) => finishUpgrade(client, MIGRATIONS, release));

/** Examines the database server and its pooler without changing anything. @throws DatabaseRefused */
export async function examinePostgres(url: string): Promise<ServerFacts> {
  await requirePooler(url, DEFAULT_LIMITS);
  return withClient(url, (client) => examineServer(client, Date.now));
}

/** Calls `take` with every row of every table, in the text form of the database server. */
export const readTextsOfPostgres = (url: string, take: (text: StoredText) => void): Promise<void> =>
  withClient(url, async (client) => {
    const { rows: tables } = await client.query<{ readonly name: string }>(
      `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables) await readTable(client, name, take);
  });

async function readTable(client: Client, table: string, take: (text: StoredText) => void): Promise<void> {
  await client.query('BEGIN READ ONLY');
  try {
    await client.query(`DECLARE texts NO SCROLL CURSOR FOR SELECT t::text AS text FROM "${table}" t`);
    let row = 0;
    for (let count = ROWS_AT_A_TIME; count === ROWS_AT_A_TIME; ) {
      const { rows } = await client.query<{ readonly text: string }>(`FETCH ${ROWS_AT_A_TIME} FROM texts`);
      for (const { text } of rows) take({ table, row: ++row, bytes: Buffer.from(text) });
      count = rows.length;
    }
  } finally {
    await client.query('ROLLBACK');
  }
}

const ROWS_AT_A_TIME = 1000;

/** Returns the servers, and the roles of the hosts and the read replica. Hosts that do not respond are reported as such. */
export async function statusOfCluster(url: string, replica: string | null): Promise<ClusterStatus> {
  const hosts = [...hostsOf(url), ...(replica === null ? [] : [replica])];
  const [nodes, statuses] = await Promise.all([
    withClient(url, listNodeStatus).catch(() => null),
    hostStatuses(clientClass(await loadLibrary()), [...new Set(hosts)]),
  ]);
  return { nodes, hosts: statuses };
}

/** Creates or upgrades the schema and returns the names of the executed steps. @throws DatabaseRefused */
export const migratePostgres = (url: string): Promise<readonly string[]> =>
  withClient(url, (client) => migrate(client, MIGRATIONS));

/** Fills an empty database from another one, see `moveInto`. @throws DatabaseRefused */
export const movePostgres = (
  url: string,
  source: TableSource,
  onProgress: MoveProgress,
): Promise<readonly MovedTable[]> => withClient(url, (client) => moveInto(client, source, onProgress));

const loadLibrary = () => loadOptional('pg', 'database: postgres', () => import('pg'));

/** Runs work on a connection to a database suitable for Parley. @throws DatabaseRefused */
const withClient = <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> =>
  withClients(url, [{}], async ([client]) => {
    await requireUsable(client!);
    return work(client!);
  });

/** Runs work on connections with these options. @throws DatabaseRefused */
async function withClients<T>(
  url: string,
  options: readonly ClientConfig[],
  work: (clients: readonly Client[]) => Promise<T>,
): Promise<T> {
  const Driver = clientClass(await loadLibrary());
  const clients: Client[] = [];
  try {
    const connectionString = await findPrimary(Driver, hostsOf(url));
    const base = { connectionString, application_name: 'parley', connectionTimeoutMillis: 5000 };
    clients.push(...options.map((each) => new Driver({ ...base, ...each })));
    for (const client of clients) {
      client.on('error', () => {});
      await client.connect();
    }
    return await work(clients);
  } catch (error) {
    throw error instanceof DatabaseRefused ? error : refusal(url, error);
  } finally {
    // A connection that cannot end properly is already broken.
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
}

/**
 * Rejects a connection pooler that ends the session after each statement, or shares prepared statements between
 * sessions.
 * @throws DatabaseRefused
 */
const requirePooler = (url: string, { statementMs, idleUnitMs }: PoolLimits): Promise<void> => {
  const options = { statement_timeout: statementMs, idle_in_transaction_session_timeout: idleUnitMs };
  return withClients(url, [options, options], async (clients) => {
    for (const client of clients) {
      try {
        await client.query('BEGIN');
        await client.query({ name: PROBE, text: 'SELECT 1' });
        await client.query('COMMIT');
      } catch (error) {
        const { code, message } = error as Error & { readonly code?: string };
        if (/statement pooling/.test(message))
          throw new Error('its pooler runs in statement mode; Parley needs transaction or session mode');
        if (code === DUPLICATE_STATEMENT)
          throw new Error(
            'its pooler does not support prepared statements; Parley needs PgBouncer 1.21 or session mode',
          );
        throw error;
      }
    }
  });
};

const PROBE = 'parley_probe';
const DUPLICATE_STATEMENT = '42P05';

async function requireUsable(client: Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS is_standby,
       current_setting('transaction_read_only') AS read_only, current_setting('fsync') AS fsync,
       current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('server_encoding') AS encoding`,
  );
  const { version, is_standby, read_only, fsync, synchronous_commit, encoding } = rows[0];
  if (version < OLDEST_VERSION * 10_000) throw new Error(`it is older than PostgreSQL ${OLDEST_VERSION}`);
  if (is_standby) throw new Error('it is a standby, which accepts no changes');
  if (read_only === 'on') throw new Error('it is read-only: `default_transaction_read_only` is on');
  if (encoding !== 'UTF8') throw new Error(`its encoding is ${encoding} instead of UTF8`);
  if (fsync === 'off') throw new Error('`fsync` is off, so acknowledged changes would be lost in a crash');
  if (synchronous_commit === 'off')
    throw new Error('`synchronous_commit` is off, so acknowledged changes would be lost in a crash');
}

/** Returns the error with the database's name but without its password. */
function refusal(url: string, error: unknown): DatabaseRefused {
  const reason = error instanceof Error ? error.message || String((error as { code?: unknown }).code) : String(error);
  return new DatabaseRefused(`Cannot use database ${withoutPassword(url)}: ${reason}`, { cause: error });
}

/** Address of a database for messages. */
export const withoutPassword = (url: string): string => url.replace(/^(\w+:\/\/[^:@/]*):[^@/]*@/, '$1@');
