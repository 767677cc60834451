import type { RealmId } from './ids.js';
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
import type { Transaction, UnitOfWork } from './unit-of-work.js';

/** Time after which the job runner resumes the request of a crashed process. */
const ABANDONED_AFTER_SECONDS = 60;
const RENEWED_AFTER_SECONDS = 20;

/** Result of a part and its follow-up parts. */
export interface JobPartOutcome<Result> {
  readonly result: Result;
  readonly next?: readonly StoredJob[];
}

/**
 * Handles the parts of a long request. Each part is a job with its own bounded unit of work. The request performs its
 * parts immediately; the job runner performs those left by a crash.
 */
export interface JobPartHandler<Payload, Result> extends JobHandler<Payload> {
  prepare(job: Job<Payload>): Promise<JobWork<JobPartOutcome<Result>>>;
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

/** Schedules parts of a request. With `previous`, schedules its follow-up parts, due immediately for the job runner. */
export async function scheduleJobParts<Payload>(
  tx: Transaction,
  kind: JobKind<Payload>,
  clock: Clock,
  realmId: RealmId,
  payloads: readonly Payload[],
  previous: Job<Payload> | null = null,
): Promise<readonly StoredJob[]> {
  const now = clock.now();
  const dueAt = previous ? now : now + ABANDONED_AFTER_SECONDS;
  const jobs: StoredJob[] = [];
  for (const payload of payloads) {
    const encoded = encodeJob(kind, { realmId, dueAt, payload });
    jobs.push({ ...encoded, id: await tx.jobs.schedule(encoded), attempts: 0 });
  }
  return jobs;
}

/** Performs scheduled parts in order and returns their results. @throws the error of a part; the runner retries it */
export async function runJobParts<Payload, Result>(
  uow: UnitOfWork,
  clock: Clock,
  handler: JobPartHandler<Payload, Result>,
  jobs: readonly StoredJob[],
): Promise<readonly Result[]> {
  const waiting = [...jobs];
  const results: Result[] = [];
  let renewedAt = clock.now();
  for (let stored = waiting.shift(); stored; stored = waiting.shift()) {
    const current = stored;
    if (clock.now() - renewedAt >= RENEWED_AFTER_SECONDS) {
      renewedAt = clock.now();
      await uow.write(current.realmId, (tx) =>
        postponeAll(tx, [current, ...waiting], renewedAt + ABANDONED_AFTER_SECONDS),
      );
    }
    const work = await handler.prepare(decodeJob(handler.kind, current));
    const outcome = await uow.write(
      current.realmId,
      async (tx) => {
        if (!(await tx.jobs.take(current))) return null;
        const done = await work(tx);
        await postponeAll(tx, done.next ?? [], clock.now() + ABANDONED_AFTER_SECONDS);
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

async function postponeAll(tx: Transaction, jobs: readonly StoredJob[], dueAt: number): Promise<void> {
  for (const job of jobs) await tx.jobs.postpone(job, dueAt, job.attempts);
}
