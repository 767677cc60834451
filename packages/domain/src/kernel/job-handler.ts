import type { Job, JobKind } from './job.js';
import type { Transaction } from './unit-of-work.js';

/** What is left of a job when everything slow is done. */
export type JobWork = (tx: Transaction) => Promise<void>;

/**
 * Begins the time anew for which nobody else attempts the job. False: it was cancelled, or somebody else has it by now, so that
 * going on would be for nothing.
 */
export type RenewLease = () => Promise<boolean>;

/**
 * Does the jobs of one kind. What `prepare` does may happen again after a crash, a failure, or in another process; what
 * the work does that it answers happens exactly once, in the unit that removes the job, and not at all when the job
 * was cancelled or replaced meanwhile.
 */
export interface JobHandler<Payload = unknown> {
  readonly kind: JobKind<Payload>;
  /**
   * Before the unit: parses, renders, talks to other servers. A throw is an attempt that failed. `renewLease`: for work of which
   * nobody knows how long it takes.
   */
  prepare(job: Job<Payload>, renewLease: RenewLease): Promise<JobWork>;
  /**
   * In the unit that removes a job which is given up: after a DomainError, which is a refusal that would come again, or
   * after the last attempt. Without it, the job is set aside.
   */
  giveUp?(tx: Transaction, job: Job<Payload>, error: unknown): Promise<void>;
}
