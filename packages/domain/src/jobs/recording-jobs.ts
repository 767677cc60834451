import type { RealmId, UnixSeconds } from '../shared/ids.js';
import type { EncodedJob, StoredJob } from './job.js';
import type { JobRepository, JobSelection } from './job-repository.js';

/** What a runner has to know to be there in time. */
export type ScheduledJob = Pick<EncodedJob, 'kind' | 'dueAt'>;

/** Writes to a repository, and remembers what will be due. */
export class RecordingJobs implements JobRepository {
  readonly scheduled: ScheduledJob[] = [];

  constructor(private readonly jobs: JobRepository) {}

  async schedule(job: EncodedJob) {
    const id = await this.jobs.schedule(job);
    this.scheduled.push({ kind: job.kind, dueAt: job.dueAt });
    return id;
  }

  nextDueAt(selection: JobSelection) {
    return this.jobs.nextDueAt(selection);
  }

  listDue(selection: JobSelection, now: UnixSeconds, limit: number) {
    return this.jobs.listDue(selection, now, limit);
  }

  isScheduled(realmId: RealmId, kind: string, key: string) {
    return this.jobs.isScheduled(realmId, kind, key);
  }

  cancel(realmId: RealmId, kind: string, key: string) {
    return this.jobs.cancel(realmId, kind, key);
  }

  take(job: StoredJob) {
    return this.jobs.take(job);
  }

  lease(selection: JobSelection, now: UnixSeconds, until: UnixSeconds, limit: number) {
    return this.jobs.lease(selection, now, until, limit);
  }

  postpone(job: StoredJob, dueAt: UnixSeconds, attempts: number) {
    return this.jobs.postpone(job, dueAt, attempts);
  }

  setAside(job: StoredJob, at: UnixSeconds, problem: string) {
    return this.jobs.setAside(job, at, problem);
  }

  removeSetAside(before: UnixSeconds, limit: number) {
    return this.jobs.removeSetAside(before, limit);
  }
}
