import { hasPassed } from './clock-watch.js';
import type { JobId, RealmId } from './ids.js';
import {
  decodeJob,
  encodeJob,
  type Job,
  type JobHandler,
  type JobKind,
  type JobWork,
  jobKind,
  type StoredJob,
} from './jobs.js';
import type { Clock } from './ports.js';
import type { Repositories, Transaction, UnitOfWork, WriteOptions } from './unit-of-work.js';

/** Time after which the job runner resumes the request of a crashed process. */
const ABANDONED_AFTER_SECONDS = 60;
const RENEWED_AFTER_SECONDS = 20;
/** Time until a part checks again whether earlier parts have ended. */
const WAITING_SECONDS = 5;

/** Result of a part and its follow-up parts. */
export interface JobPartOutcome<Result> {
  readonly result: Result;
  readonly next?: readonly StoredJob[];
}

/** Checks a request and returns its parts. */
export type RequestPlan<Payload> = (unit: Repositories | Transaction) => Promise<readonly Payload[]>;

export interface PerformOptions<Payload, Result> extends WriteOptions {
  /** Replaces `prepare` for a small request, which must not wait for work outside of storage within its unit. */
  readonly prepareNow?: (job: Job<Payload>) => Promise<JobWork<JobPartOutcome<Result>>>;
}

export function jobPartKind<Payload>(name: string): JobKind<Payload> {
  return jobKind<Payload>({
    name,
    readPayload: (stored) => stored as Payload,
    concurrency: 1,
    yields: true,
    maxPayloadLength: 4 * 1024 * 1024,
  });
}

/**
 * Performs requests that are too large for one unit of work (contract decision 10). Each part is a job with its own
 * bounded unit. The request performs its parts immediately; the job runner performs those left by a crash.
 */
export abstract class RequestParts<Payload, Result = void> implements JobHandler<Payload> {
  abstract readonly kind: JobKind<Payload>;

  constructor(
    protected readonly uow: UnitOfWork,
    protected readonly clock: Clock,
  ) {}

  abstract prepare(job: Job<Payload>): Promise<JobWork<JobPartOutcome<Result>>>;

  /**
   * Plans a request and performs its parts. A small request does both in one unit of work. A large one is planned on a
   * snapshot, so that other writes do not wait for its checks, and its parts are prepared for changes in between.
   */
  protected async perform(
    realmId: RealmId,
    isSmall: boolean,
    plan: RequestPlan<Payload>,
    { prepareNow, ...options }: PerformOptions<Payload, Result> = {},
  ): Promise<readonly Result[]> {
    if (isSmall) return this.uow.write(realmId, (tx) => this.performIn(tx, realmId, plan, prepareNow), options);
    const parts = await this.uow.read(realmId, plan);
    const begin = async (tx: Transaction) => {
      await this.begin(tx, parts);
      return this.schedule(tx, realmId, parts);
    };
    return this.run(await this.uow.write(realmId, begin, { yields: true }));
  }

  /** Plans and performs a small request as part of a larger unit of work, without jobs. */
  protected async performIn(
    tx: Transaction,
    realmId: RealmId,
    plan: RequestPlan<Payload>,
    prepareNow: PerformOptions<Payload, Result>['prepareNow'] = (job) => this.prepare(job),
  ): Promise<readonly Result[]> {
    const parts = await plan(tx);
    await this.begin(tx, parts);
    const results: Result[] = [];
    for (const payload of parts) {
      const work = await prepareNow({ id: 0 as JobId, realmId, dueAt: this.clock.now(), payload, attempt: 1 });
      results.push((await work(tx)).result);
    }
    return results;
  }

  /** Called before the parts, in the unit that performs or schedules them. */
  protected async begin(_tx: Transaction, _parts: readonly Payload[]): Promise<void> {}

  /** Schedules parts of a request. With `previous`, schedules its follow-up parts, due immediately for the job runner. */
  async schedule(
    tx: Transaction,
    realmId: RealmId,
    payloads: readonly Payload[],
    previous: Job<Payload> | null = null,
  ): Promise<readonly StoredJob[]> {
    const now = this.clock.now();
    const dueAt = previous ? now : now + ABANDONED_AFTER_SECONDS;
    const jobs: StoredJob[] = [];
    for (const payload of payloads) {
      const encoded = encodeJob(this.kind, { realmId, dueAt, payload });
      jobs.push({ ...encoded, id: await tx.jobs.schedule(encoded), attempts: 0 });
    }
    return jobs;
  }

  /**
   * Schedules a part again, for the job runner only, if earlier parts of the request are still waiting: a failed part is
   * repeated later than its successors. Returns false if none is.
   */
  protected async waitFor(tx: Transaction, earlier: readonly JobId[], job: Job<Payload>): Promise<boolean> {
    const { realmId, payload } = job;
    if (earlier.length === 0 || !(await tx.jobs.isAnyWaiting(realmId, earlier))) return false;
    await tx.jobs.schedule(encodeJob(this.kind, { realmId, dueAt: this.clock.now() + WAITING_SECONDS, payload }));
    return true;
  }

  /** Performs scheduled parts in order and returns their results. @throws the error of a part; the runner retries it */
  async run(jobs: readonly StoredJob[]): Promise<readonly Result[]> {
    const waiting = [...jobs];
    const results: Result[] = [];
    let renewedAt = this.clock.now();
    for (let stored = waiting.shift(); stored; stored = waiting.shift()) {
      const current = stored;
      if (hasPassed(renewedAt, RENEWED_AFTER_SECONDS, this.clock.now())) {
        renewedAt = this.clock.now();
        await this.uow.write(current.realmId, (tx) =>
          postponeAll(tx, [current, ...waiting], renewedAt + ABANDONED_AFTER_SECONDS),
        );
      }
      const work = await this.prepare(decodeJob(this.kind, current));
      const outcome = await this.uow.write(
        current.realmId,
        async (tx) => {
          if (!(await tx.jobs.take(current))) return null;
          const done = await work(tx);
          await postponeAll(tx, done.next ?? [], this.clock.now() + ABANDONED_AFTER_SECONDS);
          return done;
        },
        { yields: true },
      );
      if (!outcome) continue;
      results.push(outcome.result);
      waiting.unshift(...(outcome.next ?? []));
    }
    return results;
  }
}

async function postponeAll(tx: Transaction, jobs: readonly StoredJob[], dueAt: number): Promise<void> {
  for (const job of jobs) await tx.jobs.postpone(job, dueAt, job.attempts);
}
