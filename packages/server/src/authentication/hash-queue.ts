import { availableParallelism } from 'node:os';
import type { HashRequest, PasswordHasher } from '@parley/domain/credentials';
import { type Cancellation, DomainError } from '@parley/domain/shared';
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

interface Job {
  readonly start: () => void;
  readonly refuse: () => void;
}

/** Of a client; null: of the operator. */
type LaneKey = string | null;

/**
 * Hashes as many passwords at once as there are cores. The others wait, and clients take turns, so that nobody is held up
 * by how much another one asks for. Whoever hangs up does not wait any more; whoever finds no room is refused at once.
 */
export class HashQueue implements PasswordHasher {
  private readonly atOnce: number;
  private readonly maxWaiting: number;
  private readonly maxWaitingPerClient: number;
  /** What waits, oldest first; the lane whose turn is next comes first. None is empty. */
  private readonly lanes = new Map<LaneKey, readonly Job[]>();
  private running = 0;

  constructor(
    private readonly hasher: PasswordHasher,
    options: HashQueueOptions = {},
  ) {
    const threads = Number(process.env.UV_THREADPOOL_SIZE) || NODE_THREADS;
    this.atOnce = options.atOnce ?? Math.max(1, Math.min(availableParallelism(), threads - 1));
    this.maxWaiting = options.maxWaiting ?? MAX_WAITING;
    this.maxWaitingPerClient = options.maxWaitingPerClient ?? MAX_WAITING_PER_CLIENT;
  }

  /** How many have not begun yet. */
  get waiting(): number {
    return [...this.lanes.values()].reduce((sum, lane) => sum + lane.length, 0);
  }

  hash(password: string, request: HashRequest = {}): Promise<string> {
    return this.run(request, () => this.hasher.hash(password));
  }

  verify(password: string, hash: string | null, request: HashRequest = {}): Promise<boolean> {
    return this.run(request, () => this.hasher.verify(password, hash));
  }

  private async run<T>({ client, cancellation }: HashRequest, work: () => Promise<T>): Promise<T> {
    if (cancellation?.aborted) throw busy();
    if (this.running < this.atOnce) this.running++;
    else await this.wait(client === undefined ? null : ipGroup(client), cancellation);
    try {
      return await work();
    } finally {
      this.startNext();
    }
  }

  /** Resolves when it is this one's turn, which counts as running from then on. */
  private wait(key: LaneKey, cancellation: Cancellation | undefined): Promise<void> {
    if (key !== null) this.makeRoom(key);
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => () => {
        cancellation?.removeEventListener('abort', cancel);
        action();
      };
      const job: Job = { start: settle(resolve), refuse: settle(() => reject(busy())) };
      const cancel = (): void => this.drop(key, job);
      cancellation?.addEventListener('abort', cancel);
      this.lanes.set(key, [...(this.lanes.get(key) ?? []), job]);
    });
  }

  /** For one more of this client, at the expense of whoever has most waiting. @throws DomainError SERVER_BUSY */
  private makeRoom(client: string): void {
    const own = this.lanes.get(client)?.length ?? 0;
    if (own >= this.maxWaitingPerClient) throw busy();
    const clients = [...this.lanes].filter(([key]) => key !== null);
    if (clients.reduce((sum, [, lane]) => sum + lane.length, 0) < this.maxWaiting) return;
    const [key, longest] = clients.reduce((a, b) => (b[1].length > a[1].length ? b : a));
    if (longest.length <= own + 1) throw busy();
    this.drop(key, longest.at(-1)!);
  }

  private drop(key: LaneKey, job: Job): void {
    const rest = this.lanes.get(key)?.filter((one) => one !== job) ?? [];
    if (rest.length > 0) this.lanes.set(key, rest);
    else this.lanes.delete(key);
    job.refuse();
  }

  private startNext(): void {
    const [next] = this.lanes;
    if (!next) {
      this.running--;
      return;
    }
    const [key, [job, ...rest]] = next;
    // To the end of the line.
    this.lanes.delete(key);
    if (rest.length > 0) this.lanes.set(key, rest);
    job!.start();
  }
}

const busy = () =>
  new DomainError('SERVER_BUSY', 'Too many passwords are being checked; try again in a moment.', { retryAfter: 1 });
