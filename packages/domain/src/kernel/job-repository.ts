import type { JobId, RealmId, UnixSeconds } from './ids.js';
import type { EncodedJob, StoredJob } from './job.js';

/** The jobs that one runner can do: those of a newer format are left to a newer version. */
export interface JobSelection {
  readonly kind: string;
  readonly maxFormat: number;
}

export interface JobReads {
  /** When the next one is due, or was; null when none waits. */
  nextDueAt(selection: JobSelection): Promise<UnixSeconds | null>;
  /** Due at `now` or before; in the order of due times, then of writing. */
  listDue(selection: JobSelection, now: UnixSeconds, limit: number): Promise<readonly StoredJob[]>;
  /** Whether one with this key waits, or is worked on. */
  isScheduled(realmId: RealmId, kind: string, key: string): Promise<boolean>;
}

/**
 * Work that is due at a time, of all features. A job is stored by the unit that wants it done, and removed by the unit that
 * has done it. What names a job as it was read has no effect, and answers false, once anybody else has taken, replaced or
 * attempted it. Every implementation passes job-repository.contract.ts.
 */
export interface JobRepository extends JobReads {
  /** In place of the one with the same key, also where that was given up. */
  schedule(job: EncodedJob): Promise<JobId>;
  /** Whether there was one that waited. */
  cancel(realmId: RealmId, kind: string, key: string): Promise<boolean>;
  /** Removes a job in the unit that does its work: true for one unit only. */
  take(job: StoredJob): Promise<boolean>;
  /** Those that are due, as `listDue`; each is due again at `until`, and has one attempt more. As they are then. */
  lease(selection: JobSelection, now: UnixSeconds, until: UnixSeconds, limit: number): Promise<readonly StoredJob[]>;
  /** For another attempt. */
  postpone(job: StoredJob, dueAt: UnixSeconds, attempts: number): Promise<boolean>;
  /** Given up: kept for the operator, and never due. `problem` is shortened to MAX_JOB_PROBLEM_LENGTH. */
  setAside(job: StoredJob, at: UnixSeconds, problem: string): Promise<boolean>;
  /** Forgets those set aside before that time, at most `limit`. Answers how many. */
  removeSetAside(before: UnixSeconds, limit: number): Promise<number>;
}

export const MAX_JOB_PROBLEM_LENGTH = 500;

/** A job as its runner has to know it to be there in time. */
export type ScheduledJob = Pick<EncodedJob, 'kind' | 'dueAt'>;

declare module './unit-of-work.js' {
  interface RepositoryMap {
    jobs: [reads: JobReads, repository: JobRepository];
  }
  interface UnitChanges {
    readonly jobs: readonly ScheduledJob[];
  }
}

export const JOB_FEATURE = {
  notExported: {
    jobs: 'The server that planned them does them.',
  },
};
