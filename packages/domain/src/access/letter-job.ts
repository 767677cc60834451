import { type Job, type JobKind, jobKind } from '../kernel/job.js';
import type { JobHandler, JobWork } from '../kernel/job-handler.js';
import type { Letter, Mailer } from './letter.js';

/** Mail servers may be down for a night; after about a day a letter is set aside. */
const RETRIES = { maxAttempts: 14, firstDelaySeconds: 30, maxDelaySeconds: 4 * 3600 };
/** Longer than a mailer may take: it gives up on its own before. */
const LEASE_SECONDS = 300;

/**
 * A kind of job that sends a letter each. The payload names what the letter is about by ids, and never holds a secret: the
 * letter is composed when it is sent.
 */
export const letterJobKind = <Payload>(kind: Pick<JobKind<Payload>, 'name' | 'readPayload'>): JobKind<Payload> =>
  jobKind({ ...kind, retries: RETRIES, leaseSeconds: LEASE_SECONDS });

/**
 * Sends the letters of one kind: at least once, since a crash may come between the sending and the unit that ends the job.
 * `compose` answers null for one that is no longer wanted.
 */
export abstract class LetterJobs<Payload> implements JobHandler<Payload> {
  abstract readonly kind: JobKind<Payload>;

  constructor(private readonly mailer: Mailer) {}

  protected abstract compose(job: Job<Payload>): Promise<Letter | null>;

  async prepare(job: Job<Payload>): Promise<JobWork> {
    const letter = await this.compose(job);
    if (letter !== null) await this.mailer.send(letter);
    return async () => {};
  }
}
