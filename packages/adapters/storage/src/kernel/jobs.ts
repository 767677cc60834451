import {
  type Clock,
  type EncodedJob,
  type JobId,
  type JobLease,
  type JobRepository,
  type JobSelection,
  MAX_JOB_PROBLEM_LENGTH,
  type RealmId,
  type StoredJob,
  type UnixSeconds,
} from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import { EXPIRES } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

interface JobRow {
  readonly id: JobId;
  readonly realm_id: RealmId;
  readonly kind: string;
  readonly key: string | null;
  readonly due_at: UnixSeconds;
  readonly attempts: number;
  readonly format: number;
  readonly payload: string;
}

type ScheduledJobRow = Pick<JobRow, 'kind' | 'due_at'>;

const COLUMNS = 'id, realm_id, kind, key, due_at, attempts, format, payload';
const WAITING = 'kind = ? AND format <= ? AND set_aside_at IS NULL';
/** Condition that the job is unchanged since it was read. */
const SAME = 'id = ? AND attempts = ? AND set_aside_at IS NULL';

export class SqlJobRepository implements JobRepository {
  private readonly next;
  private readonly due;
  private readonly free;
  private readonly freeFirst;
  private readonly scheduled;
  private readonly anyWaiting;
  private readonly waitingCount;
  private readonly insert;
  private readonly deleteReplaced;
  private readonly deleteWaiting;
  private readonly deleteSame;
  private readonly reschedule;
  private readonly extend;
  private readonly bringNearer;
  private readonly holders;
  private readonly releaseFirst;
  private readonly markSetAside;
  private readonly deleteSetAside;

  constructor(
    private readonly connection: Statements,
    private readonly clock: Clock,
  ) {
    this.next = connection.values<UnixSeconds>(`SELECT due_at FROM job WHERE ${WAITING} ORDER BY due_at LIMIT 1`);
    const due = `SELECT ${COLUMNS} FROM job WHERE ${WAITING} AND due_at <= ? ORDER BY due_at, id LIMIT ? + 0`;
    this.due = connection.rows<JobRow>(due);
    this.free = connection.rows<JobRow>(`${due} ${connection.dialect.skipLocked}`);
    this.freeFirst = connection.rows<JobRow>(
      `${due.replace('ORDER BY', 'AND attempts = 0 ORDER BY')} ${connection.dialect.skipLocked}`,
    );
    this.scheduled = connection.values<number>(
      'SELECT 1 FROM job WHERE realm_id = ? AND kind = ? AND key = ? AND set_aside_at IS NULL',
    );
    this.anyWaiting = connection.values<number>(
      `SELECT 1 FROM job WHERE realm_id = ? AND id ${connection.dialect.inSet} AND set_aside_at IS NULL LIMIT 1`,
    );
    this.waitingCount = connection.values<number>(
      'SELECT count(*) FROM job WHERE kind = ? AND realm_id = ? AND set_aside_at IS NULL',
    );
    this.insert = connection.values<JobId>(
      `INSERT INTO job (realm_id, kind, key, due_at, delay, attempts, format, payload) VALUES (?, ?, ?, ?, ?, 0, ?, ?)
       RETURNING id`,
    );
    this.deleteReplaced = connection.command('DELETE FROM job WHERE realm_id = ? AND kind = ? AND key = ?');
    this.deleteWaiting = connection.command(
      'DELETE FROM job WHERE realm_id = ? AND kind = ? AND key = ? AND set_aside_at IS NULL',
    );
    this.deleteSame = connection.command(`DELETE FROM job WHERE ${SAME}`);
    this.reschedule = connection.command(
      `UPDATE job SET due_at = ?, delay = ?, attempts = ?, holder = ? WHERE ${SAME}`,
    );
    this.extend = connection.command(`UPDATE job SET due_at = ?, delay = ? WHERE ${SAME}`);
    this.bringNearer = connection.rows<ScheduledJobRow>(
      `UPDATE job SET due_at = ? + delay WHERE due_at > ? + 2 * delay AND set_aside_at IS NULL RETURNING kind, due_at`,
    );
    this.holders = connection.values<string>(
      'SELECT DISTINCT holder FROM job WHERE holder IS NOT NULL ORDER BY holder',
    );
    this.releaseFirst = connection.values<string>(
      `UPDATE job SET due_at = ?, holder = NULL WHERE holder = ? AND attempts <= 1 AND set_aside_at IS NULL
       RETURNING kind`,
    );
    this.markSetAside = connection.command(`UPDATE job SET set_aside_at = ?, problem = ?, holder = NULL WHERE ${SAME}`);
    this.deleteSetAside = connection.command(
      `DELETE FROM job WHERE id IN (SELECT id FROM job WHERE set_aside_at < ? ORDER BY set_aside_at LIMIT ? + 0)`,
    );
  }

  async nextDueAt({ kind, maxFormat }: JobSelection): Promise<UnixSeconds | null> {
    return (await this.next.get(kind, maxFormat)) ?? null;
  }

  async listDue({ kind, maxFormat }: JobSelection, now: UnixSeconds, limit: number): Promise<readonly StoredJob[]> {
    return (await this.due.all(kind, maxFormat, now, limit)).map(toJob);
  }

  async isScheduled(realmId: RealmId, kind: string, key: string): Promise<boolean> {
    return (await this.scheduled.get(realmId, kind, key)) !== undefined;
  }

  async isAnyWaiting(realmId: RealmId, ids: readonly JobId[]): Promise<boolean> {
    return (await this.anyWaiting.get(realmId, this.connection.dialect.set(ids))) !== undefined;
  }

  async countWaiting(realmId: RealmId, kind: string): Promise<number> {
    return this.waitingCount.one(kind, realmId);
  }

  async schedule({ realmId, kind, key, dueAt, format, payload, isFixed }: EncodedJob): Promise<JobId> {
    this.connection.record.requireRealm(realmId);
    if (key !== null) this.deleteReplaced.defer(realmId, kind, key);
    const id = await this.insert.one(realmId, kind, key, dueAt, isFixed ? null : this.delayOf(dueAt), format, payload);
    this.connection.record.jobs.push({ kind, dueAt });
    return id;
  }

  async cancel(realmId: RealmId, kind: string, key: string): Promise<boolean> {
    return (await this.deleteWaiting.run(realmId, kind, key)).changes > 0;
  }

  async take({ id, attempts }: StoredJob): Promise<boolean> {
    return (await this.deleteSame.run(id, attempts)).changes > 0;
  }

  async lease(
    selection: JobSelection,
    { now, until, attempts, holder, onlyFirst = false }: JobLease,
    limit: number,
  ): Promise<readonly StoredJob[]> {
    // Skips rows locked by units that complete jobs.
    const free = onlyFirst ? this.freeFirst : this.free;
    const due = (await free.all(selection.kind, selection.maxFormat, now, limit)).map(toJob);
    const delay = until - now;
    for (const job of due) this.reschedule.defer(until, delay, job.attempts + attempts, holder, job.id, job.attempts);
    return due.map((job) => ({ ...job, dueAt: until, attempts: job.attempts + attempts }));
  }

  async postpone({ id, attempts }: StoredJob, dueAt: UnixSeconds, nextAttempts: number): Promise<boolean> {
    return (await this.reschedule.run(dueAt, this.delayOf(dueAt), nextAttempts, null, id, attempts)).changes > 0;
  }

  async renew({ id, attempts }: StoredJob, until: UnixSeconds): Promise<boolean> {
    return (await this.extend.run(until, this.delayOf(until), id, attempts)).changes > 0;
  }

  async bringBack(now: UnixSeconds): Promise<void> {
    for (const { kind, due_at } of await this.bringNearer.all(now, now))
      this.connection.record.jobs.push({ kind, dueAt: due_at });
  }

  async listHolders(): Promise<readonly string[]> {
    return await this.holders.all();
  }

  async release(holder: string, now: UnixSeconds): Promise<void> {
    for (const kind of await this.releaseFirst.all(now, holder)) this.connection.record.jobs.push({ kind, dueAt: now });
  }

  async setAside({ id, attempts }: StoredJob, at: UnixSeconds, problem: string): Promise<boolean> {
    return (await this.markSetAside.run(at, problem.slice(0, MAX_JOB_PROBLEM_LENGTH), id, attempts)).changes > 0;
  }

  async removeSetAside(before: UnixSeconds, limit: number): Promise<number> {
    return (await this.deleteSetAside.run(before, limit)).changes;
  }

  private delayOf(dueAt: UnixSeconds): number {
    return Math.max(0, dueAt - this.clock.now());
  }
}

const toJob = ({ realm_id, due_at, ...row }: JobRow): StoredJob => ({ ...row, realmId: realm_id, dueAt: due_at });

const TABLES = `
-- Jobs that are due at a time.

CREATE TABLE job (
  -- Ascends in write order, also if a job replaces another one.
  id {id},
  realm_id {int} NOT NULL REFERENCES realm (id),
  kind {text} NOT NULL,
  key {text},
  due_at {int} NOT NULL,
  attempts {int} NOT NULL,
  -- Format version of the payload.
  format {int} NOT NULL,
  -- JSON.
  payload {text} NOT NULL,
  -- Set once the job is given up.
  set_aside_at {int},
  problem {text}
) {strict};
CREATE INDEX job_by_due_time ON job (kind, due_at, id) WHERE set_aside_at IS NULL;
CREATE UNIQUE INDEX job_by_key ON job (realm_id, kind, key) WHERE key IS NOT NULL;
CREATE INDEX job_set_aside ON job (set_aside_at) WHERE set_aside_at IS NOT NULL;
`;

const HOLDER = `
-- expand: the server that leased a job, so that the lease ends with the server.
ALTER TABLE job ADD COLUMN holder {text};
CREATE INDEX job_by_holder ON job (holder) WHERE holder IS NOT NULL;
`;

const DELAY = `
-- expand: seconds from the last planning to due_at, so that a later step of the clock is noticed; null for fixed times.
ALTER TABLE job ADD COLUMN delay {int};
`;

export const JOB_FEATURE = {
  schema: 'jobs',
  steps: { 1: TABLES, 22: HOLDER, 72: DELAY },
  realmTables: ['job'],
  persons: {
    job: {
      data: 'Waiting work, as ids',
      fate: EXPIRES,
      keep: {
        'The work ends within hours; a failing erasure keeps the former identity until it succeeds.': ['payload'],
      },
      other: ['kind', 'key', 'problem', 'holder'],
    },
  },
  notExported: {
    job: 'Imports schedule their own jobs.',
  },
  repositories:
    ({ clock }) =>
    (connection) => ({ jobs: new SqlJobRepository(connection, clock) }),
} satisfies StorageFeature;
