import { DomainError } from './errors.js';
import { isId, type JobId, type RealmId, type UnixSeconds } from './ids.js';
import type { Clock, ReportProblem } from './ports.js';
import type { Transaction, UnitOfWork } from './unit-of-work.js';

/** When a job that failed is tried again. */
export interface RetryPolicy {
  /** So many attempts that fail, and it is given up. */
  readonly maxAttempts: number;
  /** Between the first two attempts; twice as long after each further one … */
  readonly firstDelaySeconds: number;
  /** … and never longer than this. */
  readonly maxDelaySeconds: number;
}

/**
 * One kind of work that is due at a time, declared beside the feature it belongs to. A payload names things by their ids
 * and repeats nothing that may change until the job is due.
 */
export interface JobKind<Payload> {
  /** Stored with each job: `messages.deliver_scheduled`. Never given a second meaning. */
  readonly name: string;
  /** Of the payload, from 1 on. Raised when its shape changes; `readPayload` still reads the older ones. */
  readonly format: number;
  /** What `encodeJob` stored in this format or an older one. @throws when it cannot be read */
  readonly readPayload: (stored: unknown, format: number) => Payload;
  readonly retries: RetryPolicy;
  /**
   * For work outside of the storage: nobody else attempts the job for so long, which is longer than an attempt can take.
   * Null: all of the work is in the unit that ends the job.
   */
  readonly leaseSeconds: number | null;
  /** How many are worked on at once. */
  readonly concurrency: number;
}

const DEFAULT_RETRIES: RetryPolicy = { maxAttempts: 10, firstDelaySeconds: 5, maxDelaySeconds: 3600 };
/** So few that other writes never queue behind many. */
const DEFAULT_CONCURRENCY = 4;

export function jobKind<Payload>(
  kind: Pick<JobKind<Payload>, 'name' | 'readPayload'> & Partial<JobKind<Payload>>,
): JobKind<Payload> {
  return { format: 1, retries: DEFAULT_RETRIES, leaseSeconds: null, concurrency: DEFAULT_CONCURRENCY, ...kind };
}

/** For `readPayload`: of a payload that is an id alone. @throws TypeError */
export const idPayload =
  <Payload extends Readonly<Record<string, number>>>(name: string & keyof Payload) =>
  (stored: unknown): Payload => {
    const id = (stored as Partial<Payload>)[name];
    if (!isId(id)) throw new TypeError(`It has no ${name}`);
    return { [name]: id } as Payload;
  };

export interface NewJob<Payload> {
  readonly realmId: RealmId;
  /** Done at once when it has passed. */
  readonly dueAt: UnixSeconds;
  readonly payload: Payload;
  /** What the job is about, within its realm and kind: it takes the place of one that is there, and is cancelled by it. */
  readonly key?: string;
}

/** As storage keeps it before it has a number. */
export interface EncodedJob {
  readonly realmId: RealmId;
  readonly kind: string;
  readonly key: string | null;
  readonly dueAt: UnixSeconds;
  readonly format: number;
  /** JSON. */
  readonly payload: string;
}

export interface StoredJob extends EncodedJob {
  readonly id: JobId;
  /** How many have failed; under a lease, how many have begun. */
  readonly attempts: number;
}

/** What a handler gets. */
export interface Job<Payload> {
  readonly id: JobId;
  readonly realmId: RealmId;
  readonly dueAt: UnixSeconds;
  readonly payload: Payload;
  /** 1 the first time. */
  readonly attempt: number;
}

/** Ids and a few words: a job is no place for content. */
export const MAX_JOB_PAYLOAD_LENGTH = 8192;

/** For `tx.jobs.schedule`. @throws RangeError for a payload longer than MAX_JOB_PAYLOAD_LENGTH, in UTF-16 units of its JSON */
export function encodeJob<Payload>(kind: JobKind<Payload>, job: NewJob<Payload>): EncodedJob {
  const payload = JSON.stringify(job.payload);
  if (payload.length > MAX_JOB_PAYLOAD_LENGTH) throw new RangeError(`The payload of a ${kind.name} job is too long`);
  const { realmId, dueAt, key = null } = job;
  return { realmId, kind: kind.name, key, dueAt, format: kind.format, payload };
}

/** @throws when the payload is none of this kind */
export function decodeJob<Payload>(kind: JobKind<Payload>, stored: StoredJob): Job<Payload> {
  const { id, realmId, dueAt, format, attempts } = stored;
  const payload = kind.readPayload(JSON.parse(stored.payload), format);
  return { id, realmId, dueAt, payload, attempt: kind.leaseSeconds === null ? attempts + 1 : attempts };
}

/** How long a job waits that has failed so many times. */
export function retryDelay({ firstDelaySeconds, maxDelaySeconds }: RetryPolicy, attempts: number): number {
  return Math.min(firstDelaySeconds * 2 ** (attempts - 1), maxDelaySeconds);
}

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
