import type { Clock } from './clock.js';
import { DomainError } from './errors.js';
import type { JobId, UnixSeconds } from './ids.js';
import { decodeJob, type Job, retryDelay, type StoredJob } from './job.js';
import type { JobHandler, JobWork, RenewLease } from './job-handler.js';
import type { JobSelection } from './job-repository.js';
import type { ReportProblem } from './problem-log.js';
import type { UnitOfWork } from './unit-of-work.js';

export interface JobRunnerParts {
  readonly uow: UnitOfWork;
  readonly clock: Clock;
  readonly report: ReportProblem;
}

/** How long a job waits when the server has no room for it, which is no failure of the job. */
const BUSY_SECONDS = 5;

type Prepared = { readonly work: JobWork } | { readonly error: unknown };

/** A job under way, and what became of its preparation. */
interface Attempt {
  readonly stored: StoredJob;
  /** Null: what is stored cannot be read. */
  readonly job: Job<unknown> | null;
  readonly prepared: Prepared;
}

/**
 * Does the jobs of one kind that are due. Several may run in one process, and in several: the unit that does a job's work is
 * the one that removes it, so each is done once.
 */
export class JobRunner {
  private readonly selection: JobSelection;
  /** Leased by this process; by the end of the lease, after which nobody waits for it any more. */
  private readonly leased = new Map<JobId, UnixSeconds>();
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly handler: JobHandler,
    private readonly parts: JobRunnerParts,
    /** Called when a leased job has ended, so that there is room for another one. */
    private readonly onRoom: () => void = () => {},
  ) {
    this.selection = { kind: handler.kind.name, maxFormat: handler.kind.format };
  }

  /**
   * Does what is due; answers when it has something to do again, null when nothing waits. Leased jobs go on meanwhile.
   * @throws what the storage throws; a job's own failure is reported and stored
   */
  async run(): Promise<UnixSeconds | null> {
    if (this.handler.kind.leaseSeconds === null) return this.runInOrder();
    return this.startLeased(this.handler.kind.leaseSeconds);
  }

  get kindName(): string {
    return this.selection.kind;
  }

  /** For how long the one that is due longest has waited, in seconds; 0: none is due. */
  async lagSeconds(): Promise<number> {
    const dueAt = await this.parts.uow.read(({ jobs }) => jobs.nextDueAt(this.selection));
    return dueAt === null ? 0 : Math.max(0, this.parts.clock.now() - dueAt);
  }

  /** Resolves when no leased job is under way any more. */
  async settle(): Promise<void> {
    await Promise.all(this.underWay);
  }

  /** A few at a time, so that other writes get in between. */
  private async runInOrder(): Promise<UnixSeconds | null> {
    const { uow, clock } = this.parts;
    for (;;) {
      const now = clock.now();
      const due = await uow.read(({ jobs }) => jobs.listDue(this.selection, now, this.handler.kind.concurrency));
      if (due.length === 0) return uow.read(({ jobs }) => jobs.nextDueAt(this.selection));
      const attempts = await Promise.all(due.map((stored) => this.prepare(stored)));
      // Units are worked off in the order in which they are asked for, which is that of the due times.
      const results = await Promise.allSettled(attempts.map((attempt) => this.finish(attempt)));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
  }

  private async startLeased(leaseSeconds: number): Promise<UnixSeconds | null> {
    const { uow, clock, report } = this.parts;
    const now = clock.now();
    for (const [id, until] of this.leased) if (until <= now) this.leased.delete(id);
    const room = this.handler.kind.concurrency - this.leased.size;
    const next = await uow.read(({ jobs }) => jobs.nextDueAt(this.selection));
    if (next === null || next > now) return next;
    if (room <= 0) return Math.min(...this.leased.values());
    const until = now + leaseSeconds;
    const leased = await uow.write((tx) => tx.jobs.lease(this.selection, now, until, room));
    for (const stored of leased) {
      this.leased.set(stored.id, until);
      const ended = this.prepare(stored)
        .then((attempt) => this.finish(attempt))
        .catch((err) => report('storing how a job ended failed', this.fieldsOf(stored, err)))
        .then(() => {
          this.underWay.delete(ended);
          this.leased.delete(stored.id);
          this.onRoom();
        });
      this.underWay.add(ended);
    }
    return uow.read(({ jobs }) => jobs.nextDueAt(this.selection));
  }

  private async prepare(stored: StoredJob): Promise<Attempt> {
    let job: Job<unknown> | null = null;
    try {
      job = decodeJob(this.handler.kind, stored);
      return { stored, job, prepared: { work: await this.handler.prepare(job, this.renewal(stored)) } };
    } catch (error) {
      return { stored, job, prepared: { error } };
    }
  }

  private renewal(stored: StoredJob): RenewLease {
    const { uow, clock } = this.parts;
    const { leaseSeconds } = this.handler.kind;
    return async () => {
      if (leaseSeconds === null) return true;
      const until = clock.now() + leaseSeconds;
      const isHeld = await uow.write((tx) => tx.jobs.postpone(stored, until, stored.attempts));
      if (isHeld) this.leased.set(stored.id, until);
      return isHeld;
    };
  }

  private async finish({ stored, job, prepared }: Attempt): Promise<void> {
    if (job === null) return this.setAside(stored, (prepared as { error: unknown }).error);
    try {
      if ('error' in prepared) throw prepared.error;
      const { work } = prepared;
      await this.parts.uow.write(async (tx) => {
        if (await tx.jobs.take(stored)) await work(tx);
      });
    } catch (error) {
      await this.fail(stored, job, error);
    }
  }

  private async fail(stored: StoredJob, job: Job<unknown>, error: unknown): Promise<void> {
    const { uow, clock, report } = this.parts;
    const { retries } = this.handler.kind;
    const isRefused = error instanceof DomainError;
    if (isUnavailable(error)) {
      await uow.write((tx) => tx.jobs.postpone(stored, clock.now() + BUSY_SECONDS, job.attempt - 1));
      return;
    }
    if (!isRefused) report('a job failed', { ...this.fieldsOf(stored, error), attempt: job.attempt });
    if (isRefused || job.attempt >= retries.maxAttempts) return this.giveUp(stored, job, error);
    const dueAt = clock.now() + retryDelay(retries, job.attempt);
    await uow.write((tx) => tx.jobs.postpone(stored, dueAt, job.attempt));
  }

  private async giveUp(stored: StoredJob, job: Job<unknown>, error: unknown): Promise<void> {
    if (!this.handler.giveUp) return this.setAside(stored, error);
    try {
      await this.parts.uow.write(async (tx) => {
        if (await tx.jobs.take(stored)) await this.handler.giveUp!(tx, job, error);
      });
    } catch (failure) {
      if (isUnavailable(failure)) throw failure;
      await this.setAside(stored, failure);
    }
  }

  private async setAside(stored: StoredJob, error: unknown): Promise<void> {
    const { uow, clock, report } = this.parts;
    const problem = error instanceof Error ? error.message : String(error);
    if (await uow.write((tx) => tx.jobs.setAside(stored, clock.now(), problem))) {
      report('a job was given up and set aside', this.fieldsOf(stored, error));
    }
  }

  private fieldsOf({ id, realmId, kind }: StoredJob, err: unknown): Readonly<Record<string, unknown>> {
    return { job: kind, jobId: id, realmId, err };
  }
}

/** No failure of the job. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof DomainError && (error.code === 'SERVER_BUSY' || error.code === 'STORAGE_UNAVAILABLE');
