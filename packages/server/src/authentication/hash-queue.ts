import { availableParallelism } from 'node:os';
import type { HashRequest, PasswordHasher } from '@parley/domain/access';
import { DomainError, WorkQueue } from '@parley/domain/kernel';
import { ipGroup } from '@parley/http';

export interface HashQueueOptions {
  /** Hashes at the same time; default: as many as there are cores, but for a thread of Node's pool that stays free. */
  readonly atOnce?: number;
  /** Of all clients. */
  readonly maxWaiting?: number;
  readonly maxWaitingPerClient?: number;
}

const MAX_WAITING = 64;
const MAX_WAITING_PER_CLIENT = 16;
const NODE_THREADS = 4;

/**
 * Hashes as many passwords at once as there are cores. Addresses take turns, work of callers that hang up is dropped, and
 * what finds no room is refused at once.
 */
export class HashQueue implements PasswordHasher {
  private readonly queue: WorkQueue;

  constructor(
    private readonly hasher: PasswordHasher,
    options: HashQueueOptions = {},
  ) {
    const threads = Number(process.env.UV_THREADPOOL_SIZE) || NODE_THREADS;
    this.queue = new WorkQueue({
      concurrency: options.atOnce ?? Math.max(1, Math.min(availableParallelism(), threads - 1)),
      maxWaiting: options.maxWaiting ?? MAX_WAITING,
      maxWaitingPerClient: options.maxWaitingPerClient ?? MAX_WAITING_PER_CLIENT,
      refusal: busy,
    });
  }

  /** Hashes that have not started yet. */
  get waiting(): number {
    return this.queue.waiting;
  }

  hash(password: string, request: HashRequest = {}): Promise<string> {
    return this.run(request, () => this.hasher.hash(password));
  }

  verify(password: string, hash: string | null, request: HashRequest = {}): Promise<boolean> {
    return this.run(request, () => this.hasher.verify(password, hash));
  }

  /** Requests without a client are the operator's. */
  private run<T>({ client, cancellation }: HashRequest, work: () => Promise<T>): Promise<T> {
    return this.queue.run(client === undefined ? null : ipGroup(client), work, cancellation);
  }
}

const busy = () =>
  new DomainError('SERVER_BUSY', 'Too many passwords are being checked; try again in a moment.', { retryAfter: 1 });
