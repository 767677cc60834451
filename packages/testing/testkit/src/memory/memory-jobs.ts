import {
  type EncodedJob,
  isDue,
  type JobId,
  type JobLease,
  type JobRepository,
  type JobSelection,
  type RealmId,
  type StoredJob,
  type UnixSeconds,
} from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

interface JobRow extends StoredJob {
  /** Null while the job is waiting. */
  readonly setAsideAt: UnixSeconds | null;
  readonly holder: string | null;
  /** Null for a fixed due time. */
  readonly delay: number | null;
}

declare module './tables.js' {
  interface Tables {
    readonly jobs: Map<JobId, JobRow>;
  }
}

const NEW = { attempts: 0, setAsideAt: null, holder: null };

export class MemoryJobs implements JobRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async nextDueAt(selection: JobSelection): Promise<UnixSeconds | null> {
    return this.waiting(selection)[0]?.dueAt ?? null;
  }

  async listDue(selection: JobSelection, now: UnixSeconds, limit: number): Promise<readonly StoredJob[]> {
    return this.waiting(selection)
      .filter(({ dueAt }) => dueAt <= now)
      .slice(0, limit)
      .map(({ setAsideAt: _, holder: __, delay: ___, isFixed: ____, ...job }) => job);
  }

  async isScheduled(realmId: RealmId, kind: string, key: string): Promise<boolean> {
    return this.withKey(realmId, kind, key).some(({ setAsideAt }) => setAsideAt === null);
  }

  async isAnyWaiting(realmId: RealmId, ids: readonly JobId[]): Promise<boolean> {
    const jobs = this.unit.read('jobs');
    return ids.some((id) => jobs.get(id)?.realmId === realmId && jobs.get(id)?.setAsideAt === null);
  }

  async countWaiting(realmId: RealmId, kind: string): Promise<number> {
    const jobs = [...this.unit.read('jobs').values()];
    return jobs.filter((job) => job.realmId === realmId && job.kind === kind && job.setAsideAt === null).length;
  }

  async schedule({ isFixed, ...job }: EncodedJob): Promise<JobId> {
    this.unit.record.requireRealm(job.realmId);
    if (job.key !== null) this.remove(this.withKey(job.realmId, job.kind, job.key));
    const id = this.unit.nextNumber<JobId>('job');
    this.unit.change('jobs').set(id, { ...job, id, delay: isFixed ? null : this.delayOf(job.dueAt), ...NEW });
    this.unit.record.jobs.push({ kind: job.kind, dueAt: job.dueAt });
    return id;
  }

  async cancel(realmId: RealmId, kind: string, key: string): Promise<boolean> {
    return this.remove(this.withKey(realmId, kind, key).filter(({ setAsideAt }) => setAsideAt === null)) > 0;
  }

  async take(job: StoredJob): Promise<boolean> {
    return this.remove(this.same(job)) > 0;
  }

  async lease(
    selection: JobSelection,
    { now, until, attempts, holder, onlyFirst = false }: JobLease,
    limit: number,
  ): Promise<readonly StoredJob[]> {
    const candidates = await this.listDue(selection, now, Number.POSITIVE_INFINITY);
    const due = candidates.filter((job) => !onlyFirst || job.attempts === 0).slice(0, limit);
    const leased = due.map((job) => ({ ...job, dueAt: until, attempts: job.attempts + attempts }));
    for (const job of leased)
      this.unit.change('jobs').set(job.id, { ...job, delay: until - now, setAsideAt: null, holder });
    return leased;
  }

  async renew(job: StoredJob, until: UnixSeconds): Promise<boolean> {
    return this.update(job, { dueAt: until, delay: this.delayOf(until) });
  }

  async bringBack(now: UnixSeconds): Promise<void> {
    for (const job of [...this.unit.read('jobs').values()]) {
      if (job.delay === null || job.dueAt <= now || job.setAsideAt !== null || !isDue(job.dueAt, now, job.delay))
        continue;
      const dueAt = now + job.delay;
      this.unit.change('jobs').set(job.id, { ...job, dueAt });
      this.unit.record.jobs.push({ kind: job.kind, dueAt });
    }
  }

  async listHolders(): Promise<readonly string[]> {
    const holders = [...this.unit.read('jobs').values()].flatMap(({ holder }) => holder ?? []);
    return [...new Set(holders)].sort();
  }

  async release(holder: string, now: UnixSeconds): Promise<void> {
    for (const job of [...this.unit.read('jobs').values()]) {
      if (job.holder !== holder || job.attempts > 1 || job.setAsideAt !== null) continue;
      this.unit.change('jobs').set(job.id, { ...job, dueAt: now, holder: null });
      this.unit.record.jobs.push({ kind: job.kind, dueAt: now });
    }
  }

  async postpone(job: StoredJob, dueAt: UnixSeconds, attempts: number): Promise<boolean> {
    return this.update(job, { dueAt, delay: this.delayOf(dueAt), attempts, holder: null });
  }

  async setAside(job: StoredJob, at: UnixSeconds, _problem: string): Promise<boolean> {
    return this.update(job, { setAsideAt: at, holder: null });
  }

  async removeSetAside(before: UnixSeconds, limit: number): Promise<number> {
    const old = [...this.unit.read('jobs').values()].filter(
      ({ setAsideAt }) => setAsideAt !== null && setAsideAt < before,
    );
    return this.remove(old.slice(0, limit));
  }

  private delayOf(dueAt: UnixSeconds): number {
    return Math.max(0, dueAt - this.unit.clock.now());
  }

  private waiting({ kind, maxFormat }: JobSelection): JobRow[] {
    return [...this.unit.read('jobs').values()]
      .filter((job) => job.kind === kind && job.format <= maxFormat && job.setAsideAt === null)
      .sort((a, b) => a.dueAt - b.dueAt || a.id - b.id);
  }

  private withKey(realmId: RealmId, kind: string, key: string): JobRow[] {
    return [...this.unit.read('jobs').values()].filter(
      (job) => job.realmId === realmId && job.kind === kind && job.key === key,
    );
  }

  private same(job: StoredJob): JobRow[] {
    const row = this.unit.read('jobs').get(job.id);
    return row && row.attempts === job.attempts && row.setAsideAt === null ? [row] : [];
  }

  private update(job: StoredJob, change: Partial<JobRow>): boolean {
    const rows = this.same(job);
    for (const row of rows) this.unit.change('jobs').set(row.id, { ...row, ...change });
    return rows.length > 0;
  }

  private remove(rows: readonly JobRow[]): number {
    for (const { id } of rows) this.unit.change('jobs').delete(id);
    return rows.length;
  }
}
