import { UnitRecord } from '@parley/domain/composition';
import {
  DomainError,
  type ReadOptions,
  type RealmId,
  type Repositories,
  SHARED_UNITS,
  type SharedUnit,
  type Transaction,
  type UnitOfWork,
  type WriteOptions,
} from '@parley/domain/kernel';
import type { Commit, Parameter } from '@parley/storage';
import { MustBeAlone } from './connection.js';
import { isAway, isConflict, isDuplicate, isOutdated, storageBusy } from './failures.js';
import { type Position, positionOf, type Replica } from './replica.js';
import type { Session, SessionPool } from './sessions.js';
import { UnitTurns } from './unit-turns.js';

type Work<T> = (tx: Transaction) => Promise<T>;

/** Maximum queue length; further writes are rejected immediately. */
const MAX_WAITING = 10_000;
/** Maximum number of runs of a unit that conflicts with other transactions. */
const MAX_RUNS = 3;

const BEGIN_READ = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
const BEGIN_WRITE = 'BEGIN ISOLATION LEVEL READ COMMITTED';
/** Lock held exclusively by units across organizations and shared by units of one organization. */
const ALL_REALMS = 0;
const LOCK_REALM = 'SELECT pg_advisory_xact_lock_shared($1), pg_advisory_xact_lock($2), pg_current_xact_id()::text';
const LOCK_ALL = 'SELECT pg_advisory_xact_lock($1), pg_current_xact_id()::text';
const SHARE_REALM = `
  SELECT pg_advisory_xact_lock_shared($1), pg_advisory_xact_lock_shared($2), pg_advisory_xact_lock($3, $4),
    pg_current_xact_id()::text`;
const SHARE_ALL = `
  SELECT pg_advisory_xact_lock_shared($1), pg_advisory_xact_lock($2, $3), pg_current_xact_id()::text`;

type Lock = readonly [sql: string, parameters: readonly Parameter[]];

function lockOf(realmId: RealmId | null, shared: SharedUnit | undefined): Lock {
  if (!shared) return realmId === null ? [LOCK_ALL, [ALL_REALMS]] : [LOCK_REALM, [ALL_REALMS, realmId]];
  const key = keyOf(realmId, shared);
  return realmId === null ? [SHARE_ALL, [ALL_REALMS, ...key]] : [SHARE_REALM, [ALL_REALMS, realmId, ...key]];
}

const KINDS = Object.keys(SHARED_UNITS);

/** Returns the lock of a user, or of a kind in an organization, in the two-number key space. */
const keyOf = (realmId: RealmId | null, { kind, userId }: SharedUnit): readonly [number, number] =>
  userId === undefined ? [1 + KINDS.indexOf(kind), realmId ?? ALL_REALMS] : [0, userId];

export interface UnitOfWorkOptions {
  /** Called after every successful commit. */
  readonly onCommit?: (commit: Commit) => void;
  /** Serves reading units that allow it. */
  readonly replica?: Replica;
}

/**
 * Unit of work on a connection pool. Writing units of one organization run sequentially on all servers, because each
 * takes its organization's lock before its first statement. Units in `SHARED_UNITS` share the lock. Units of this
 * process queue before they take a connection, so that one busy organization leaves connections to others.
 */
export class PostgresUnitOfWork implements UnitOfWork {
  private readonly turns = new UnitTurns();
  private readonly running = new Set<Promise<unknown>>();
  private isClosed = false;
  private lockWaitMs = 0;

  constructor(
    private readonly sessions: SessionPool,
    private readonly options: UnitOfWorkOptions = {},
  ) {}

  read<T>(
    realmId: RealmId,
    work: (repositories: Repositories) => Promise<T>,
    { allowsReplica = false }: ReadOptions = {},
  ): Promise<T> {
    const { replica } = this.options;
    return this.track(async () => {
      const found = allowsReplica && replica && (await replica.read(realmId, () => this.positionOf(realmId), work));
      return found ? found.value : this.readNow(realmId, work);
    });
  }

  readAcross<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    return this.track(() => this.readNow(null, work));
  }

  write<T>(realmId: RealmId, work: Work<T>, options?: WriteOptions): Promise<T> {
    return this.track(() => this.writeInTurn(realmId, work, options));
  }

  writeAcross<T>(work: Work<T>, options?: WriteOptions): Promise<T> {
    return this.track(() => this.writeInTurn(null, work, options));
  }

  /** Number of units waiting to be written. */
  get waitingWrites(): number {
    return this.turns.waiting;
  }

  /** Total time that units waited for their lock, including the round trip that acquires it. */
  get lockWaitSeconds(): number {
    return this.lockWaitMs / 1000;
  }

  /** Completes running work, rejects new units and closes every connection. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await Promise.allSettled(this.running);
    await this.options.replica?.close();
    await this.sessions.close();
  }

  private async track<T>(run: () => Promise<T>): Promise<T> {
    if (this.isClosed) throw new DomainError('STORAGE_UNAVAILABLE', 'The storage is closed');
    if (this.turns.waiting >= MAX_WAITING) throw storageBusy();
    const unit = run();
    this.running.add(unit);
    try {
      return await unit;
    } finally {
      this.running.delete(unit);
    }
  }

  private async positionOf(realmId: RealmId): Promise<Position> {
    return this.sessions.query((client) => positionOf(client, realmId));
  }

  private async readNow<T>(realmId: RealmId | null, work: (repositories: Repositories) => Promise<T>): Promise<T> {
    for (let run = 1; ; run++) {
      try {
        return await this.readOnce(realmId, work);
      } catch (error) {
        if (!isOutdated(error) || run === MAX_RUNS) throw error;
      }
    }
  }

  private async readOnce<T>(realmId: RealmId | null, work: (repositories: Repositories) => Promise<T>): Promise<T> {
    const session = await this.sessions.take();
    const { connection, lost } = session;
    const record = new UnitRecord();
    connection.enterUnit(record, realmId);
    connection.defer(BEGIN_READ, []);
    let isUsable = true;
    try {
      const result = await Promise.race([work(transactionOf(session, record)), lost]);
      this.sessions.reached();
      return result;
    } catch (error) {
      if (isOutdated(error)) this.sessions.renew(session);
      isUsable = !isAway(error);
      throw isUsable ? error : this.sessions.away(error);
    } finally {
      connection.leaveUnitBy('COMMIT');
      session.release(isUsable);
    }
  }

  private async writeInTurn<T>(realmId: RealmId | null, work: Work<T>, options: WriteOptions = {}): Promise<T> {
    const { shared, ...alone } = options;
    if (shared) {
      try {
        const sharedKey = keyOf(realmId, shared).join();
        return await this.turns.run({ realmId, sharedKey }, () => this.writeRepeatedly(realmId, work, options));
      } catch (error) {
        if (!(error instanceof MustBeAlone)) throw error;
      }
    }
    return this.turns.run({ realmId, sharedKey: null }, () => this.writeRepeatedly(realmId, work, alone));
  }

  private async writeRepeatedly<T>(realmId: RealmId | null, work: Work<T>, options: WriteOptions): Promise<T> {
    for (let run = 1; ; run++) {
      try {
        return await this.writeNow(realmId, work, options);
      } catch (error) {
        // Two concurrent units have added the same row.
        if (options.shared && isDuplicate(error)) throw new MustBeAlone();
        if (!isConflict(error) && !isOutdated(error)) throw error;
        if (run === MAX_RUNS) throw storageBusy(error);
      }
    }
  }

  private async writeNow<T>(realmId: RealmId | null, work: Work<T>, { onCommit, shared }: WriteOptions): Promise<T> {
    const session = await this.sessions.take();
    const { connection, lost } = session;
    const startedAt = performance.now();
    const record = new UnitRecord(realmId);
    let transactionId = '';
    connection.enterUnit(record, realmId, shared);
    connection.defer(BEGIN_WRITE, []);
    const [lock, keys] = lockOf(realmId, shared);
    connection.defer(lock, keys, ([tuple]) => {
      transactionId = tuple!.at(-1) as string;
      this.lockWaitMs += connection.elapsedMs;
    });
    let isUsable = true;
    try {
      const result = await Promise.race([work(transactionOf(session, record)), lost]);
      // PostgreSQL would commit nothing after a failed statement, even if the work has caught the error.
      if (connection.failedStatement) throw connection.failedStatement;
      if (connection.hasToBeAlone) throw new MustBeAlone();
      await Promise.race([connection.commit(), lost]).catch(async (error) => {
        if (!isAway(error) || transactionId === '') throw error;
        isUsable = false;
        if (!(await this.sessions.isCommitted(transactionId, session))) throw error;
      });
      this.sessions.reached();
      this.options.onCommit?.({ units: 1, durationMs: performance.now() - startedAt });
      onCommit?.(record);
      return result;
    } catch (error) {
      record.rollBack();
      if (isOutdated(error)) this.sessions.renew(session);
      const isLost = isAway(error);
      isUsable &&= !isLost;
      connection.leaveUnitBy('ROLLBACK');
      throw isLost ? this.sessions.away(error) : error;
    } finally {
      connection.leaveUnit();
      session.release(isUsable);
    }
  }
}

/** Returns repositories that fail once the unit has ended, although the session serves the next one. */
function transactionOf({ repositories }: Session, record: UnitRecord): Transaction {
  return {
    ...repositories,
    onRollback: (undo: () => void) => record.onRollback(undo),
  };
}
