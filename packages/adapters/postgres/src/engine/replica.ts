import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { UnitRecord } from '@parley/domain/composition';
import { DomainError, type RealmId, type ReplicaGauges, type Repositories, type Timers } from '@parley/domain/kernel';
import type { WritableRepositories } from '@parley/storage';
import type { Client, Pool, PoolClient, PoolConfig } from 'pg';
import { Connection, type StatementTrace } from './connection.js';
import { isAway, isOutdated } from './failures.js';
import type { CreateRepositories } from './feature.js';
import type { ClientClass } from './primary.js';

/** Interval between checks of a replica that is reading, and the time in which it must respond to one. */
const BEAT_MS = 100;
/** Pause before a lost replica is tried again. */
const RETRY_MS = 1000;

/** Timing of the checks and timeouts of a replica. */
export interface Patience {
  /** Times the checks. */
  readonly timers: Pick<Timers, 'after' | 'elapsedMs'>;
  /** Timeout for obtaining a connection for a unit. */
  readonly connectMs: number;
}

export const PATIENCE: Patience = {
  timers: {
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    elapsedMs: () => performance.now(),
  },
  connectMs: 200,
};

/** Time to connect for checks. */
const CHECK_CONNECT_MS = 5000;
/** Replayed changes of tables may hold locks for long. */
const LOCK_MS = 200;

/**
 * Position of an organization: the end of its log, and versions that every change of users, groups, channels, settings
 * and subscriptions raises. Positions only grow.
 */
export type Position = readonly [seq: number, entities: number, subscriptions: number];

const POSITION = {
  name: 'parley_position',
  rowMode: 'array' as const,
  text: `
    SELECT coalesce((SELECT last_seq FROM event_log_head WHERE realm_id = $1), 0)::float8,
      coalesce(sum(stamp) FILTER (WHERE realm_id >= 0), 0)::float8,
      coalesce(sum(stamp) FILTER (WHERE realm_id <= 0), 0)::float8
    FROM cache_stamp WHERE realm_id IN (0, $1, -$1)`,
};

/** Reads an organization's position in a single statement. */
export async function positionOf(client: Pick<PoolClient, 'query'>, realmId: RealmId): Promise<Position> {
  const { rows } = await client.query<unknown[]>({ ...POSITION, values: [realmId] });
  return rows[0] as unknown as Position;
}

/** Server and database, which a replica shares with its primary. */
const PLACE = `
  SELECT system_identifier::text || '.' || oid AS place FROM pg_control_system(), pg_database
  WHERE datname = current_database()`;

const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Called with the reason when the replica is lost, and with null when it is used again. */
export type ReplicaListener = (problem: string | null) => void;

export interface ReplicaOptions {
  readonly Driver: ClientClass;
  readonly createPool: (config: PoolConfig) => Pool;
  readonly config: PoolConfig;
  /** See `PLACE`. */
  readonly place: string;
  readonly createRepositories: CreateRepositories;
  readonly onState: ReplicaListener;
  readonly trace?: StatementTrace | undefined;
  readonly patience: Patience;
}

/**
 * Read replica for units that allow it. It serves a unit only from a snapshot at or after the primary's position, and
 * otherwise leaves the unit to the primary. While units run, the replica is checked, so that an unresponsive one delays
 * them by at most `2 * BEAT_MS`. A lost replica is skipped until a check succeeds.
 */
export class Replica {
  private readonly pool: Pool;
  private readonly sockets = new Set<Socket>();
  private readonly sessions = new WeakMap<PoolClient, readonly [Connection, WritableRepositories]>();
  /** Rejects the running units. */
  private readonly running = new Set<(error: Error) => void>();
  private readonly reads = { served: 0, behind: 0, failed: 0 };
  private heart: Client | null = null;
  private isUp = false;
  private isBeating = false;
  private isReported = false;
  private isClosed = false;
  private retry: NodeJS.Timeout | undefined;

  constructor(private readonly options: ReplicaOptions) {
    this.pool = options.createPool({ ...options.config, ...this.connecting(), Client: options.Driver });
    this.pool.on('error', () => {});
    this.pool.on('connect', (client) => client.on('error', () => {}));
    void this.revive();
  }

  get gauges(): ReplicaGauges {
    return { isUsed: this.isUp, ...this.reads };
  }

  /** Returns null if the primary must run the unit. @throws DomainError of the unit */
  async read<T>(
    realmId: RealmId,
    primaryPosition: () => Promise<Position>,
    work: (repositories: Repositories) => Promise<T>,
  ): Promise<{ readonly value: T } | null> {
    if (!this.isUp) return null;
    const needed = await primaryPosition();
    let end: ((error: Error) => void) | undefined;
    const lost = new Promise<never>((_, reject) => {
      end = reject;
    });
    this.running.add(end!);
    void this.beat();
    try {
      const result = await Promise.race([this.readNow(realmId, needed, work), lost]);
      this.reads[result ? 'served' : 'behind']++;
      return result;
    } catch (error) {
      if (error instanceof DomainError) throw error;
      this.reads.failed++;
      // Connections may all be in use, or slow to open; the checks find out whether the replica responds.
      if (isAway(error) && !/timeout/.test((error as Error).message)) this.lose(error);
      return null;
    } finally {
      this.running.delete(end!);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.retry);
    this.disconnect();
    await this.pool.end();
  }

  private async readNow<T>(
    realmId: RealmId,
    needed: Position,
    work: (repositories: Repositories) => Promise<T>,
  ): Promise<{ readonly value: T } | null> {
    const client = await this.pool.connect();
    const [connection, repositories] = this.sessions.get(client) ?? this.open(client);
    let isUsable = true;
    connection.enterUnit(new UnitRecord(), realmId);
    try {
      const [, present] = await Promise.all([client.query(BEGIN), positionOf(client, realmId)]);
      connection.continueTransaction();
      if (present.some((value, n) => value < needed[n]!)) return null;
      return { value: await work({ ...repositories }) };
    } catch (error) {
      isUsable = !isAway(error) && !isOutdated(error);
      throw error;
    } finally {
      connection.leaveUnitBy('COMMIT');
      client.release(!isUsable);
    }
  }

  private open(client: PoolClient): readonly [Connection, WritableRepositories] {
    const connection = new Connection(client, this.options.trace);
    const session = [connection, this.options.createRepositories(connection)] as const;
    this.sessions.set(client, session);
    return session;
  }

  /** Checks the replica while units run. */
  private async beat(): Promise<void> {
    if (this.isBeating) return;
    this.isBeating = true;
    try {
      for (await this.interval(); this.running.size > 0 && this.isUp; await this.interval()) {
        await Promise.race([this.heart!.query('SELECT 1'), this.tooLate()]);
      }
    } catch (error) {
      this.lose(error);
    } finally {
      this.isBeating = false;
    }
  }

  private interval(): Promise<void> {
    return new Promise((resolve) => this.options.patience.timers.after(BEAT_MS, resolve));
  }

  /** Rejects once a response is overdue, unless this process itself was too busy to receive it. */
  private async tooLate(): Promise<void> {
    const { timers } = this.options.patience;
    const startedAt = timers.elapsedMs();
    await this.interval();
    await nextTurn();
    if (timers.elapsedMs() - startedAt < 2 * BEAT_MS) throw new Error(`no response within ${BEAT_MS} ms`);
  }

  private lose(error: unknown): void {
    if (!this.isUp || this.isClosed) return;
    this.isUp = false;
    this.disconnect();
    this.report(error);
    this.reviveLater();
  }

  private report(error: unknown): void {
    if (this.isReported) return;
    this.isReported = true;
    this.options.onState((error as Error).message || String((error as { code?: unknown }).code));
  }

  /** Rejects running units and closes all connections, which may hang. */
  private disconnect(): void {
    for (const end of this.running) end(new Error('The replica no longer responds'));
    for (const socket of this.sockets) socket.destroy();
    this.heart = null;
  }

  private reviveLater(): void {
    this.retry = setTimeout(() => void this.revive(), RETRY_MS);
    this.retry.unref();
  }

  private async revive(): Promise<void> {
    const { Driver, config, place, onState } = this.options;
    const heart = new Driver({
      ...config,
      ...this.connecting(),
      connectionTimeoutMillis: CHECK_CONNECT_MS,
      query_timeout: CHECK_CONNECT_MS,
    });
    heart.on('error', () => {});
    try {
      await heart.connect();
      const { rows } = await heart.query(PLACE);
      if (rows[0].place !== place) throw new Error('it is not a replica of this database');
    } catch (error) {
      // A connection that cannot end properly is already broken.
      heart.end().catch(() => {});
      if (this.isClosed) return;
      this.report(error);
      this.reviveLater();
      return;
    }
    if (this.isClosed) return void heart.end().catch(() => {});
    this.heart = heart;
    this.isUp = true;
    if (this.isReported) onState(null);
    this.isReported = false;
  }

  private connecting(): PoolConfig {
    return {
      connectionTimeoutMillis: this.options.patience.connectMs,
      lock_timeout: LOCK_MS,
      stream: () => {
        const socket = new Socket();
        this.sockets.add(socket);
        socket.once('close', () => this.sockets.delete(socket));
        return socket;
      },
    };
  }
}
