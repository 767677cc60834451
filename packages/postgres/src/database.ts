import { randomUUID } from 'node:crypto';
import { type Clock, loadOptional, type StorageGauges, type UnitOfWork } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { PLAIN_TEXTS } from '@parley/domain/messages';
import { type Commit, DatabaseRefused, type TableSource } from '@parley/storage';
import type { Client, Pool } from 'pg';
import type { StatementTrace } from './engine/connection.js';
import { isAway } from './engine/failures.js';
import { finishUpgrade, migrate, pendingSteps } from './engine/migrate.js';
import { OwnNode } from './engine/nodes.js';
import { DEFAULT_LIMITS, type PoolLimits, poolConfig, SessionPool, type StateListener } from './engine/sessions.js';
import { PostgresUnitOfWork } from './engine/unit-of-work.js';
import { MIGRATIONS, repositoryFactory } from './features.js';
import { hasUnfinishedMove, type MovedTable, type MoveProgress, moveInto } from './move.js';
import { SECRET_FINGERPRINT } from './users/credentials.js';

/** Data in a database about its server. */
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
  /** Words under which messages are indexed; defaults to words as written. */
  readonly words?: SearchWords;
  /** Receives messages for the operator about invalid stored values. */
  readonly report?: (problem: string) => void;
  readonly onCommit?: (commit: Commit) => void;
  /** Called when the server becomes unavailable and when it is back. */
  readonly onState?: StateListener;
}

/** Identity of a database among those that share a bus. A copy has the same `id` and another `place`. */
export interface Installation {
  readonly id: string;
  readonly place: string;
}

export interface PostgresStorage {
  readonly uow: UnitOfWork;
  readonly installation: Installation;
  /** Returns the time of the database in milliseconds since the epoch. */
  currentTimeMs(): Promise<number>;
  /** Records that this server uses the database, and checks that it still may; call every ten seconds. */
  reportPresence(release: string): Promise<void>;
  gauges(): StorageGauges;
  /** Completes running units, rejects new ones, and closes all connections. */
  close(): Promise<void>;
}

/** Oldest supported release of PostgreSQL. */
const OLDEST_VERSION = 15;

/**
 * Opens the storage. @throws DatabaseRefused if the database cannot be used or its schema is not of this version
 */
export async function openPostgresStorage(options: PostgresStorageOptions): Promise<PostgresStorage> {
  const { url, clock, trace, words = PLAIN_TEXTS, report = () => {}, onCommit, onState } = options;
  const library = await loadLibrary();
  const { pendingSteps: missing, secretFingerprint } = await inspectPostgres(url);
  if (missing.length > 0) throw refusal(url, new Error('its schema is not that of this version; run parley migrate'));
  options.admit?.({ secretFingerprint });
  const installation = await withClient(url, identify);
  const pool: Pool = new library.Pool(poolConfig(url, { ...DEFAULT_LIMITS, ...options.limits }, library.types));
  let roundTrips = 0;
  const count: StatementTrace = (sql, isFirst) => {
    if (isFirst) roundTrips++;
    trace?.(sql, isFirst);
  };
  const sessions = new SessionPool(pool, () => repositoryFactory(clock, report, words), count, onState);
  const uow = new PostgresUnitOfWork(sessions, onCommit && { onCommit });
  const nodes: OwnNode[] = [];
  let hasOwnSchema = true;
  return {
    uow,
    installation,
    reportPresence: (release) =>
      sessions.reaching(async () => {
        if (nodes.length === 0) nodes.push(new OwnNode(pool, randomUUID(), release));
        await nodes[0]!.report();
        hasOwnSchema = await pendingSteps(pool, MIGRATIONS).then(
          () => true,
          (error) => {
            if (isAway(error)) throw error;
            return false;
          },
        );
      }),
    currentTimeMs: () =>
      sessions.reaching(
        async () =>
          (await pool.query('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms')).rows[0].ms,
      ),
    gauges: () => ({
      waitingWrites: uow.waitingWrites,
      hasOwnSchema,
      sessions: {
        connections: pool.totalCount,
        idle: pool.idleCount,
        waiting: pool.waitingCount,
        roundTrips,
        lockWaitSeconds: uow.lockWaitSeconds,
      },
    }),
    async close() {
      await nodes[0]?.remove().catch(() => {});
      await uow.close();
    },
  };
}

async function identify(client: Client): Promise<Installation> {
  await client.query(
    `INSERT INTO server_fact (name, value) VALUES ('installation', gen_random_uuid()::text) ON CONFLICT DO NOTHING`,
  );
  const { rows } = await client.query(
    `SELECT value AS id, system_identifier::text || '.' || oid AS place
     FROM server_fact, pg_control_system(), pg_database WHERE name = 'installation' AND datname = current_database()`,
  );
  return rows[0];
}

/** State of a database for operators. */
export interface PostgresState extends ServerRecord {
  /** Number of executed steps. */
  readonly schema: number;
  /** Number of steps in this release. */
  readonly latestSchema: number;
  readonly pendingSteps: readonly string[];
  /** Pending steps that wait for `finishUpgradeOfPostgres`. */
  readonly finalSteps: readonly string[];
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
    if (schema === 0) return { ...state, secretFingerprint: null };
    const { rows } = await client.query('SELECT value FROM server_fact WHERE name = $1', [SECRET_FINGERPRINT]);
    return { ...state, secretFingerprint: rows[0]?.value ?? null };
  });

/**
 * Ends an upgrade unless servers of another release are running, which it returns with the steps that it has executed.
 * @throws DatabaseRefused
 */
export const finishUpgradeOfPostgres = (url: string, release: string): ReturnType<typeof finishUpgrade> =>
  withClient(url, (client) => finishUpgrade(client, MIGRATIONS, release));

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

/** Runs work on a connection to a database that can hold Parley's data. @throws DatabaseRefused */
async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const { Client } = await loadLibrary();
  const client = new Client({ connectionString: url, application_name: 'parley', connectionTimeoutMillis: 5000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await requireUsable(client);
    return await work(client);
  } catch (error) {
    throw error instanceof DatabaseRefused ? error : refusal(url, error);
  } finally {
    await client.end();
  }
}

async function requireUsable(client: Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS is_standby,
       current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('server_encoding') AS encoding`,
  );
  const { version, is_standby, fsync, synchronous_commit, encoding } = rows[0];
  if (version < OLDEST_VERSION * 10_000) throw new Error(`it is older than PostgreSQL ${OLDEST_VERSION}`);
  if (is_standby) throw new Error('it is a standby, which accepts no changes');
  if (encoding !== 'UTF8') throw new Error(`its encoding is ${encoding} instead of UTF8`);
  if (fsync === 'off') throw new Error('`fsync` is off, so acknowledged changes would be lost in a crash');
  if (synchronous_commit === 'off')
    throw new Error('`synchronous_commit` is off, so acknowledged changes would be lost in a crash');
}

/** Names the database without its password. */
function refusal(url: string, error: unknown): DatabaseRefused {
  const reason = error instanceof Error ? error.message || String((error as { code?: unknown }).code) : String(error);
  return new DatabaseRefused(`Cannot use database ${withoutPassword(url)}: ${reason}`, { cause: error });
}

function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url);
    parsed.password = '';
    return parsed.href;
  } catch {
    return 'postgres://…';
  }
}
