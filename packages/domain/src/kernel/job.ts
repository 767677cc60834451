import { isId, type JobId, type RealmId, type UnixSeconds } from './ids.js';

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
