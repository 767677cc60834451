import { type ClockWatch, isDue } from './clock-watch.js';
import { DomainError } from './errors.js';
import { isId, type JobId, type RealmId, type UnixSeconds } from './ids.js';
import type { Clock, ReportProblem } from './ports.js';
import type { Transaction, UnitOfWork } from './unit-of-work.js';

/** Retry schedule of failed jobs. */
export interface RetryPolicy {
  /** Number of failed attempts after which the runner gives up. */
  readonly maxAttempts: number;
  /** Delay after the first failed attempt; doubles after each subsequent one. */
  readonly firstDelaySeconds: number;
  /** Upper limit of the delay. */
  readonly maxDelaySeconds: number;
}

/**
 * Kind of scheduled work, declared next to its feature. A payload refers to entities by id and copies nothing that
 * may change before the job is due.
 */
export interface JobKind<Payload> {
  /** Stored with each job, for example `messages.deliver_scheduled`. Never reused with another meaning. */
  readonly name: string;
  /**
   * Version of the payload, starting at 1. Incremented when its shape changes; `readPayload` still reads older
   * versions.
   */
  readonly format: number;
  /** Reads a payload that `encodeJob` stored in this format or an older one. @throws if it cannot be read */
  readonly readPayload: (stored: unknown, format: number) => Payload;
  readonly retries: RetryPolicy;
  /**
   * Lease duration of a job on one server, longer than any attempt. Prevents concurrent attempts. If the server is
   * known to have stopped, the lease of a first attempt ends early (`JobRepository.release`).
   */
  readonly leaseSeconds: number;
  /**
   * True if jobs complete in due-time order; false for slow work outside the storage, where later jobs may overtake
   * earlier ones.
   */
  readonly inOrder: boolean;
  /** Maximum number of concurrent jobs. */
  readonly concurrency: number;
  /** True if the due time is a moment that people chose or data carry; a step of the clock does not bring it nearer. */
  readonly isFixed: boolean;
  /** True if the work deletes data because of their age, so that it waits after a large step of the clock. */
  readonly deletes: boolean;
  /** True if attempts call other servers, so that their failures are warnings. */
  readonly callsOthers: boolean;
  /** True if a quiet server leaves the jobs waiting; default: `callsOthers`. */
  readonly waitsWhileQuiet: boolean;
  /** True if the job's unit of work is one of many steps of a long task, see `WriteOptions`. */
  readonly yields: boolean;
  /** Maximum length of a payload in UTF-16 units. */
  readonly maxPayloadLength: number;
}

const DEFAULT_RETRIES: RetryPolicy = { maxAttempts: 10, firstDelaySeconds: 5, maxDelaySeconds: 3600 };
const DEFAULT_LEASE_SECONDS = 30;
/** Low enough that other writes never queue behind many jobs. */
const DEFAULT_CONCURRENCY = 4;

export function jobKind<Payload>(
  kind: Pick<JobKind<Payload>, 'name' | 'readPayload'> & Partial<JobKind<Payload>>,
): JobKind<Payload> {
  return {
    format: 1,
    retries: DEFAULT_RETRIES,
    leaseSeconds: DEFAULT_LEASE_SECONDS,
    inOrder: kind.leaseSeconds === undefined,
    concurrency: DEFAULT_CONCURRENCY,
    isFixed: false,
    deletes: false,
    callsOthers: false,
    waitsWhileQuiet: kind.callsOthers ?? false,
    yields: false,
    maxPayloadLength: MAX_JOB_PAYLOAD_LENGTH,
    ...kind,
  };
}

/** Returns a `readPayload` for payloads with a single id. @throws TypeError */
export const idPayload =
  <Payload extends Readonly<Record<string, number>>>(name: string & keyof Payload) =>
  (stored: unknown): Payload => {
    const id = (stored as Partial<Payload>)[name];
    if (!isId(id)) throw new TypeError(`It has no ${name}`);
    return { [name]: id } as Payload;
  };

export interface NewJob<Payload> {
  readonly realmId: RealmId;
  /** Runs immediately if the time has passed. */
  readonly dueAt: UnixSeconds;
  readonly payload: Payload;
  /** Identifies the job within its realm and kind, for replacing or cancelling it. */
  readonly key?: string;
}

/** Job as stored, without its id. */
export interface EncodedJob {
  readonly realmId: RealmId;
  readonly kind: string;
  readonly key: string | null;
  readonly dueAt: UnixSeconds;
  readonly format: number;
  /** JSON. */
  readonly payload: string;
  /** See `JobKind`. */
  readonly isFixed?: true;
}

export interface StoredJob extends EncodedJob {
  readonly id: JobId;
  /** Number of failed attempts; for kinds without `inOrder`, number of started attempts. */
  readonly attempts: number;
}

/** Job as passed to a handler. */
export interface Job<Payload> {
  readonly id: JobId;
  readonly realmId: RealmId;
  readonly dueAt: UnixSeconds;
  readonly payload: Payload;
  /** Number of the attempt, starting at 1. */
  readonly attempt: number;
}

/** Limits a payload to ids and short strings; content does not belong in a job. */
export const MAX_JOB_PAYLOAD_LENGTH = 8192;

/** Encodes a job for `tx.jobs.schedule`. @throws RangeError if the JSON payload is longer than the kind allows */
export function encodeJob<Payload>(kind: JobKind<Payload>, job: NewJob<Payload>): EncodedJob {
  const payload = JSON.stringify(job.payload);
  if (payload.length > kind.maxPayloadLength) throw new RangeError(`The payload of a ${kind.name} job is too long`);
  const { realmId, dueAt, key = null } = job;
  const encoded = { realmId, kind: kind.name, key, dueAt, format: kind.format, payload };
  return kind.isFixed ? { ...encoded, isFixed: true } : encoded;
}

/** @throws if the payload does not match this kind */
export function decodeJob<Payload>(kind: JobKind<Payload>, stored: StoredJob): Job<Payload> {
  const { id, realmId, dueAt, format, attempts } = stored;
  const payload = kind.readPayload(JSON.parse(stored.payload), format);
  return { id, realmId, dueAt, payload, attempt: kind.inOrder ? attempts + 1 : attempts };
}

/** Returns the retry delay after a number of failed attempts. */
export function retryDelay({ firstDelaySeconds, maxDelaySeconds }: RetryPolicy, attempts: number): number {
  return Math.min(firstDelaySeconds * 2 ** (attempts - 1), maxDelaySeconds);
}

/** Jobs that a runner can handle. Jobs in a newer format are left to servers of a newer version. */
export interface JobSelection {
  readonly kind: string;
  readonly maxFormat: number;
}

export interface JobReads {
  /** Returns the earliest due time, which may be in the past; null if no job is waiting. */
  nextDueAt(selection: JobSelection): Promise<UnixSeconds | null>;
  /** Returns jobs due at or before `now`, sorted by due time and then by insertion order. */
  listDue(selection: JobSelection, now: UnixSeconds, limit: number): Promise<readonly StoredJob[]>;
  /** Returns true if a job with this key is waiting or running. */
  isScheduled(realmId: RealmId, kind: string, key: string): Promise<boolean>;
  /** Returns true if one of the jobs is waiting or running. */
  isAnyWaiting(realmId: RealmId, ids: readonly JobId[]): Promise<boolean>;
  /** Returns the number of jobs of the kind that are waiting or running in the realm. */
  countWaiting(realmId: RealmId, kind: string): Promise<number>;
  /** Returns the holders of leases, also of expired ones, in ascending order. */
  listHolders(): Promise<readonly string[]>;
}

export interface JobLease {
  readonly now: UnixSeconds;
  readonly until: UnixSeconds;
  readonly attempts: 0 | 1;
  /** Null if the lease ends by time only. */
  readonly holder: string | null;
  /** True to lease first attempts only. */
  readonly onlyFirst?: boolean;
}

/**
 * Scheduled jobs of all features. One unit of work stores the job, and the one that completes it removes it. Methods
 * that take a `StoredJob` return false without effect if another runner took, replaced or attempted it. Every
 * implementation passes job-repository.contract.ts.
 */
export interface JobRepository extends JobReads {
  /** Replaces a job with the same key, even one that was given up. */
  schedule(job: EncodedJob): Promise<JobId>;
  /** Returns true if a waiting job was removed. */
  cancel(realmId: RealmId, kind: string, key: string): Promise<boolean>;
  /** Removes a job in the unit of work that completes it. Returns true in only one unit of work. */
  take(job: StoredJob): Promise<boolean>;
  /**
   * Leases the jobs that `listDue` would return, and returns them in their updated state. Each becomes due again at
   * `until`, and its attempt count grows by `attempts`. `holder` identifies the server for `release`.
   */
  lease(selection: JobSelection, lease: JobLease, limit: number): Promise<readonly StoredJob[]>;
  /** Extends a lease. */
  renew(job: StoredJob, until: UnixSeconds): Promise<boolean>;
  /**
   * Makes the holder's leased jobs due now. A repeated attempt stays leased, so that a job that kills its server does
   * not immediately kill the next one.
   */
  release(holder: string, now: UnixSeconds): Promise<void>;
  /** Reschedules a job for another attempt, without a lease. */
  postpone(job: StoredJob, dueAt: UnixSeconds, attempts: number): Promise<boolean>;
  /**
   * Brings jobs nearer that are further away than twice their delay (`isDue`): they wait for their delay again. Those at a
   * fixed time stay.
   */
  bringBack(now: UnixSeconds): Promise<void>;
  /** Keeps a given-up job for the operator; it is never due again. `problem` is truncated to MAX_JOB_PROBLEM_LENGTH. */
  setAside(job: StoredJob, at: UnixSeconds, problem: string): Promise<boolean>;
  /** Deletes at most `limit` jobs set aside before that time. Returns the number of deleted jobs. */
  removeSetAside(before: UnixSeconds, limit: number): Promise<number>;
}

export const MAX_JOB_PROBLEM_LENGTH = 500;

/** Job data that tells a runner when to run. */
export type ScheduledJob = Pick<EncodedJob, 'kind' | 'dueAt'>;

declare module './feature-types.js' {
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

/** Transactional part of a job, run after all slow work. */
export type JobWork<Result = unknown> = (tx: Transaction) => Promise<Result>;

/**
 * Extends the lease during which no other runner attempts the job. Returns false if the job was cancelled or another
 * runner has taken it; the attempt should then stop.
 */
export type RenewLease = () => Promise<boolean>;

/**
 * Handles jobs of one kind. `prepare` may run again after a crash, after a failure or in another process. The returned
 * work runs exactly once, in the unit of work that removes the job, or never if the job is cancelled or replaced
 * before.
 */
export interface JobHandler<Payload = unknown> {
  readonly kind: JobKind<Payload>;
  /**
   * Runs before the unit of work: parses, renders or calls other servers. A thrown error counts as a failed attempt.
   * `renewLease` is for work of unpredictable duration.
   */
  prepare(job: Job<Payload>, renewLease: RenewLease): Promise<JobWork>;
  /**
   * Runs in the unit of work that removes a job after a DomainError, which would recur, or after the last attempt.
   * Without this method, failed jobs are set aside.
   */
  giveUp?(tx: Transaction, job: Job<Payload>, error: unknown): Promise<void>;
}

export interface JobRunnerParts {
  readonly uow: UnitOfWork;
  readonly clock: Clock;
  readonly report: ReportProblem;
  /** Identifies this start of the server as the holder of leases; without it, they end by time only. */
  readonly holder?: string;
  readonly clockWatch?: Pick<ClockWatch, 'deletionsWaitSeconds'>;
}

/** Delay before retrying when the server is busy, which does not count as a failure. */
const BUSY_SECONDS = 5;

type Prepared = { readonly work: JobWork } | { readonly error: unknown };

/** Attempt in progress, with the result of its preparation. */
interface Attempt {
  readonly stored: StoredJob;
  /** Null if the stored job cannot be decoded. */
  readonly job: Job<unknown> | null;
  readonly prepared: Prepared;
}

/**
 * Runs due jobs of one kind. Several runners may exist in one or more processes. The unit of work that performs a job
 * also removes it, so each job runs once.
 */
export class JobRunner {
  readonly selection: JobSelection;
  /** Jobs leased by this process, due again at the end of the lease. The runner then stops waiting for the job. */
  private readonly leased = new Map<JobId, StoredJob>();
  private readonly underWay = new Set<Promise<void>>();
  /** Finished attempts to be stored; several at a time, since each commit waits for the disk. */
  private readonly ended: Attempt[] = [];

  constructor(
    private readonly handler: JobHandler,
    private readonly parts: JobRunnerParts,
    /** Called when a leased job ends; the next run stores its result and can start another job. */
    private readonly onRoom: () => void = () => {},
  ) {
    this.selection = { kind: handler.kind.name, maxFormat: handler.kind.format };
  }

  /**
   * Runs due jobs. Returns the time of the next run, or null if no job is waiting. Leased jobs continue in the
   * background.
   * @throws storage errors; a job's own failure is reported and stored
   */
  async run(): Promise<UnixSeconds | null> {
    const waitSeconds = this.handler.kind.deletes ? (this.parts.clockWatch?.deletionsWaitSeconds ?? 0) : 0;
    if (waitSeconds > 0) return this.parts.clock.now() + waitSeconds;
    return this.handler.kind.inOrder ? this.runInOrder() : this.startAll();
  }

  /** Returns the earliest due time, which may be in the past; null if no job is waiting. */
  nextDueAt(): Promise<UnixSeconds | null> {
    return this.parts.uow.readAcross(({ jobs }) => jobs.nextDueAt(this.selection));
  }

  /** Resolves when no leased job is running. */
  async settle(): Promise<void> {
    await Promise.all(this.underWay);
    await this.storeEnded();
  }

  /** Runs jobs in small batches so that other writes can interleave. */
  private async runInOrder(): Promise<UnixSeconds | null> {
    const { clock } = this.parts;
    const { concurrency } = this.handler.kind;
    for (;;) {
      const now = clock.now();
      const next = await this.nextDueAt();
      if (next === null || next > now) return next;
      const due = await this.lease(now, concurrency);
      const attempts = await Promise.all(due.map((stored) => this.prepare(stored)));
      // Units of work run in the order of their requests, which is due-time order.
      const results = await Promise.allSettled(attempts.map((attempt) => this.finish(attempt)));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
  }

  /** Leases due jobs. At most `repeated` of them have failed before, so that these do not delay the others. */
  private lease(now: UnixSeconds, limit: number, repeated = limit): Promise<readonly StoredJob[]> {
    const { leaseSeconds, inOrder } = this.handler.kind;
    const { holder = null } = this.parts;
    // Slow work may crash the process, so it counts as an attempt when it starts; a unit of work cannot.
    const lease = { now, until: now + leaseSeconds, attempts: inOrder ? 0 : 1, holder } as const;
    return this.parts.uow.writeAcross(
      async ({ jobs }) => {
        const leased: StoredJob[] = [];
        for (;;) {
          const room = limit - leased.length;
          const roomForRepeated = repeated - leased.filter(isRepeated).length;
          const onlyFirst = roomForRepeated <= 0;
          const wanted = onlyFirst ? room : Math.min(room, roomForRepeated);
          const some = await jobs.lease(this.selection, { ...lease, onlyFirst }, wanted);
          leased.push(...some);
          if (some.length < wanted || leased.length === limit) return leased;
        }
      },
      { shared: { kind: 'jobs' } },
    );
  }

  private async startAll(): Promise<UnixSeconds | null> {
    const { clock } = this.parts;
    await this.storeEnded();
    const now = clock.now();
    const { concurrency, leaseSeconds } = this.handler.kind;
    for (const [id, { dueAt }] of this.leased) if (isDue(dueAt, now, leaseSeconds)) this.leased.delete(id);
    const room = concurrency - this.leased.size;
    const next = await this.nextDueAt();
    if (next === null || next > now) return next;
    const leased = [...this.leased.values()];
    const share = Math.max(1, Math.floor(concurrency / 2));
    const started = room > 0 ? await this.lease(now, room, share - leased.filter(isRepeated).length) : [];
    // Only jobs without room are due; the end of another job makes room.
    if (started.length === 0 && leased.length > 0) return Math.min(...leased.map(({ dueAt }) => dueAt));
    for (const stored of started) {
      this.leased.set(stored.id, stored);
      const ended = this.prepare(stored).then((attempt) => {
        this.ended.push(attempt);
        this.underWay.delete(ended);
        this.onRoom();
      });
      this.underWay.add(ended);
    }
    return this.nextDueAt();
  }

  /** Stores finished attempts in the same turn, so that they share a commit. */
  private async storeEnded(): Promise<void> {
    const ended = this.ended.splice(0).map(async (attempt) => {
      const { stored } = attempt;
      try {
        await this.finish(attempt);
      } catch (err) {
        this.parts.report('storing the result of a job failed', this.fieldsOf(stored, err));
      }
      this.leased.delete(stored.id);
    });
    await Promise.all(ended);
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
      const until = clock.now() + leaseSeconds;
      const isHeld = await uow.write(stored.realmId, (tx) => tx.jobs.renew(stored, until));
      if (isHeld) this.leased.set(stored.id, { ...stored, dueAt: until });
      return isHeld;
    };
  }

  private async finish(attempt: Attempt): Promise<void> {
    const { stored, job, prepared } = attempt;
    if (job === null) return this.setAside(attempt, (prepared as { error: unknown }).error);
    try {
      if ('error' in prepared) throw prepared.error;
      const { work } = prepared;
      const { yields } = this.handler.kind;
      await this.parts.uow.write(
        stored.realmId,
        async (tx) => {
          if (await tx.jobs.take(stored)) await work(tx);
        },
        { yields },
      );
    } catch (error) {
      await this.fail(attempt, job, error);
    }
  }

  /** Logs a failed attempt, or its consequence. */
  private report(message: string, { stored, job, prepared }: Attempt, err: unknown, more: object = {}): void {
    const isOfOthers = this.handler.kind.callsOthers && job !== null && 'error' in prepared;
    this.parts.report(message, { ...this.fieldsOf(stored, err), ...more }, ...(isOfOthers ? (['warn'] as const) : []));
  }

  private async fail(attempt: Attempt, job: Job<unknown>, error: unknown): Promise<void> {
    const { stored } = attempt;
    const { uow, clock } = this.parts;
    const { retries } = this.handler.kind;
    const isRefused = error instanceof DomainError;
    if (isUnavailable(error)) {
      await uow.write(job.realmId, (tx) => tx.jobs.postpone(stored, clock.now() + BUSY_SECONDS, job.attempt - 1));
      return;
    }
    if (!isRefused) this.report('a job failed', attempt, error, { attempt: job.attempt });
    if (isRefused || job.attempt >= retries.maxAttempts) return this.giveUp(attempt, job, error);
    const dueAt = clock.now() + retryDelay(retries, job.attempt);
    await uow.write(job.realmId, (tx) => tx.jobs.postpone(stored, dueAt, job.attempt));
  }

  private async giveUp(attempt: Attempt, job: Job<unknown>, error: unknown): Promise<void> {
    const { stored } = attempt;
    if (!this.handler.giveUp) return this.setAside(attempt, error);
    try {
      await this.parts.uow.write(job.realmId, async (tx) => {
        if (await tx.jobs.take(stored)) await this.handler.giveUp!(tx, job, error);
      });
    } catch (failure) {
      if (isUnavailable(failure)) throw failure;
      await this.setAside(attempt, failure);
    }
  }

  private async setAside(attempt: Attempt, error: unknown): Promise<void> {
    const { stored } = attempt;
    const { uow, clock } = this.parts;
    const problem = error instanceof Error ? error.message : String(error);
    if (await uow.write(stored.realmId, (tx) => tx.jobs.setAside(stored, clock.now(), problem))) {
      this.report('a job failed permanently', attempt, error);
    }
  }

  private fieldsOf({ id, realmId, kind }: StoredJob, err: unknown): Readonly<Record<string, unknown>> {
    return { job: kind, jobId: id, realmId, err };
  }
}

/** True for a leased job of slow work that was attempted before. */
const isRepeated = ({ attempts }: StoredJob): boolean => attempts > 1;

/** True for errors that do not count as a failure of the job. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof DomainError && (error.code === 'SERVER_BUSY' || error.code === 'STORAGE_UNAVAILABLE');
