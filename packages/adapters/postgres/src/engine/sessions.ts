import { setTimeout as sleep } from 'node:timers/promises';
import { type DomainError, getOrThrow } from '@parley/domain/kernel';
import type { WritableRepositories } from '@parley/storage';
import type { CustomTypesConfig, Pool, PoolClient, PoolConfig } from 'pg';
import { Connection, type StatementTrace } from './connection.js';
import { isAway, storageAway } from './failures.js';
import type { CreateRepositories } from './feature.js';
import { enterHistory, type OpenedHistory } from './history.js';

/** Pooled connection with its repositories; used by one unit at a time. */
export interface Session extends OpenedHistory {
  readonly connection: Connection;
  readonly repositories: WritableRepositories;
  readonly generation: number;
  /** Rejects when the connection ends, even while the unit awaits something else. */
  readonly lost: Promise<never>;
  /** Returns the session to the pool, or ends its connection. */
  release(isUsable: boolean): void;
}

/** Types read as numbers: boolean (as 0 and 1), int8, numeric, and arrays of numbers. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => (text === 't' ? 1 : 0),
  20: Number,
  1700: Number,
  1005: numbers,
  1007: numbers,
  1016: numbers,
  1231: numbers,
};

function numbers(text: string): (number | null)[] {
  return text === '{}'
    ? []
    : text
        .slice(1, -1)
        .split(',')
        .map((each) => (each === 'NULL' ? null : Number(each)));
}

export interface PoolLimits {
  readonly connections: number;
  /** Maximum duration of a statement in milliseconds, including locks. */
  readonly statementMs: number;
  /** Time in milliseconds after which PostgreSQL ends a unit that awaits something else. */
  readonly idleUnitMs: number;
}

export const DEFAULT_LIMITS: PoolLimits = { connections: 10, statementMs: 60_000, idleUnitMs: 10_000 };

/** Timeout for a new connection. */
const CONNECT_MS = 5000;
/** Time after which an unused connection is closed. */
const IDLE_MS = 60_000;

/** Driver options for a bounded pool of pipelined connections. */
export const poolConfig = (url: string, limits: PoolLimits, { getTypeParser }: CustomTypesConfig): PoolConfig => ({
  connectionString: url,
  max: limits.connections,
  connectionTimeoutMillis: CONNECT_MS,
  idleTimeoutMillis: IDLE_MS,
  statement_timeout: limits.statementMs,
  idle_in_transaction_session_timeout: limits.idleUnitMs,
  application_name: 'parley',
  keepAlive: true,
  pipeline: true,
  types: {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      (format !== 'binary' && PARSERS[oid]) || getTypeParser(oid, format),
  },
});

type Opened = OpenedHistory & { readonly generation: number };

/** Receives changes of the server connection. `replaced`: another database with the same data has taken over. */
export type StateListener = (state: 'connected' | 'unavailable' | 'replaced', reason?: unknown) => void;

/** Time without failures after which the server counts as available again. */
const BACK_AFTER_MS = 1000;

/** Bounded pool of sessions. */
export class SessionPool {
  private failedAtMs: number | null = null;
  private readonly opened = new WeakMap<PoolClient, Opened>();
  /** See `enterHistory`. */
  private history: string | null = null;
  /** Connections of an earlier generation are closed when they are taken. */
  private generation = 0;
  /** Caches of the current history. */
  private createRepositories: CreateRepositories;
  private readonly sessions = new WeakMap<PoolClient, Omit<Session, 'release'>>();

  constructor(
    private readonly pool: Pool,
    private readonly createFactory: () => CreateRepositories,
    private readonly trace?: StatementTrace,
    private readonly onState: StateListener = () => {},
    /** Called whenever work could not reach the server. */
    private readonly onFailure: () => void = () => {},
  ) {
    this.createRepositories = createFactory();
    // Idle connections end with the server. The next unit opens another one.
    pool.on('error', () => {});
    // An error between two queries would end the process, even while the connection is prepared for its first unit.
    pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** @throws DomainError STORAGE_UNAVAILABLE */
  async take(): Promise<Session> {
    const client = await this.connect();
    const session = this.sessions.get(client) ?? this.open(client);
    return { ...session, release: (isUsable) => client.release(!isUsable) };
  }

  /**
   * Returns true if a transaction was committed although its connection broke during the commit. Waits while it is in
   * progress. Another server, or one that has recovered from a crash, may have assigned its id to another transaction.
   * @throws DomainError STORAGE_UNAVAILABLE if the outcome cannot be determined
   */
  async isCommitted(transactionId: string, { history, recoveredAt }: OpenedHistory): Promise<boolean> {
    for (let attempt = 0; attempt < FATE_ATTEMPTS; attempt++) {
      if (attempt > 0) await sleep(FATE_PAUSE_MS);
      try {
        const client = await this.connect();
        try {
          const opened = getOrThrow(this.opened, client);
          if (opened.history !== history || opened.recoveredAt !== recoveredAt) break;
          const { rows } = await client.query('SELECT pg_xact_status($1::xid8) AS status', [transactionId]);
          if (rows[0].status !== 'in progress') return rows[0].status === 'committed';
        } finally {
          client.release();
        }
      } catch {
        // The server may be available again for the next attempt.
      }
    }
    throw this.away(new Error('The result of a commit is unknown'));
  }

  /** Returns the error for work that could not reach the server. */
  away(cause: unknown): DomainError {
    if (this.failedAtMs === null) this.onState('unavailable', cause);
    this.failedAtMs = performance.now();
    this.onFailure();
    return storageAway(cause);
  }

  /** Closes all connections as old as the session, since their prepared statements are outdated. */
  renew({ generation }: Session): void {
    if (generation === this.generation) this.generation++;
  }

  /** Runs work outside units. @throws DomainError STORAGE_UNAVAILABLE */
  async reaching<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw isAway(error) ? this.away(error) : error;
    }
  }

  /** Runs a statement outside units on a connection of the pool. @throws DomainError STORAGE_UNAVAILABLE */
  async query<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.connect();
    let isUsable = true;
    try {
      return await work(client);
    } catch (error) {
      isUsable = !isAway(error);
      throw isUsable ? error : this.away(error);
    } finally {
      client.release(!isUsable);
    }
  }

  /** Called when a unit has succeeded. */
  reached(): void {
    if (this.failedAtMs === null || performance.now() - this.failedAtMs < BACK_AFTER_MS) return;
    this.failedAtMs = null;
    this.onState('connected');
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private async connect(): Promise<PoolClient> {
    for (;;) {
      let client: PoolClient | undefined;
      try {
        client = await this.pool.connect();
        const { history, generation } = this.opened.get(client) ?? (await this.enter(client));
        if (history === this.history && generation === this.generation) return client;
        client.release(true);
      } catch (error) {
        client?.release(true);
        throw isAway(error) ? this.away(error) : error;
      }
    }
  }

  /** Drops caches of a previous history, and its connections once they are taken. */
  private async enter(client: PoolClient): Promise<Opened> {
    const { generation } = this;
    const opened = { ...(await enterHistory(client)), generation };
    this.opened.set(client, opened);
    if (opened.history !== this.history) {
      if (this.history !== null) {
        this.createRepositories = this.createFactory();
        this.onState('replaced');
      }
      this.history = opened.history;
    }
    return opened;
  }

  private open(client: PoolClient): Omit<Session, 'release'> {
    const connection = new Connection(client, this.trace);
    const lost = new Promise<never>((_, reject) => {
      client.once('error', reject);
      client.once('end', () => reject(new Error('Connection terminated')));
    });
    // A connection may be lost while no unit waits for it.
    lost.catch(() => {});
    const session = {
      connection,
      repositories: this.createRepositories(connection),
      ...getOrThrow(this.opened, client),
      lost,
    };
    this.sessions.set(client, session);
    return session;
  }
}

const FATE_ATTEMPTS = 20;
const FATE_PAUSE_MS = 250;
