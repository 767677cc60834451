import type { Caller, RealmId } from './ids.js';
import type { Cancellation } from './ports.js';
import { getOrThrow, lastOf } from './work.js';

/** Client that requested the work; null for the server's own work, which is never rejected. */
type Client = string | number | null;

export interface WorkQueueOptions {
  /** Maximum number of concurrent jobs of all clients. */
  readonly concurrency?: number;
  /** Maximum number of concurrent jobs of one client. */
  readonly concurrencyPerClient?: number;
  readonly maxWaiting?: number;
  readonly maxWaitingPerClient?: number;
  /** Creates the error for work that finds no room, is dropped or is cancelled before it starts. */
  readonly refusal?: () => Error;
}

export interface WorkOptions {
  readonly cancellation?: Cancellation | undefined;
}

interface Job {
  readonly start: () => void;
  readonly refuse: () => void;
}

/**
 * Runs work with limited concurrency. Clients with waiting work are served round-robin, so that a busy client does not
 * delay others. When the queue is full, the client with the most waiting work loses its newest work.
 */
export class WorkQueue {
  /** Waiting work, oldest first; the lane to serve next comes first. Lanes are never empty. */
  private readonly lanes = new Map<Client, Job[]>();
  private readonly running = new Map<Client, number>();
  private count = 0;
  private free: number;
  private readonly concurrencyPerClient: number;
  private readonly maxWaiting: number;
  private readonly maxWaitingPerClient: number;
  private readonly refusal: () => Error;

  constructor({
    concurrency = Number.POSITIVE_INFINITY,
    concurrencyPerClient = Number.POSITIVE_INFINITY,
    maxWaiting = Number.POSITIVE_INFINITY,
    maxWaitingPerClient = Number.POSITIVE_INFINITY,
    refusal = () => new Error('The queue is full'),
  }: WorkQueueOptions) {
    this.free = concurrency;
    this.concurrencyPerClient = concurrencyPerClient;
    this.maxWaiting = maxWaiting;
    this.maxWaitingPerClient = maxWaitingPerClient;
    this.refusal = refusal;
  }

  /** Number of jobs that have not started yet. */
  get waiting(): number {
    return this.count;
  }

  /** True if no job is waiting or running. */
  get isIdle(): boolean {
    return this.count === 0 && this.running.size === 0;
  }

  waitingOf(client: Client): number {
    return this.lanes.get(client)?.length ?? 0;
  }

  /** Runs the work when there is room and settles like it. Cancelling has no effect once the work has started. */
  async run<T>(client: Client, work: () => Promise<T>, options: WorkOptions = {}): Promise<T> {
    if (options.cancellation?.aborted) throw this.refusal();
    if (this.canStart(client)) this.markStarted(client);
    else await this.wait(client, options);
    try {
      return await work();
    } finally {
      this.markEnded(client);
      this.startNext();
    }
  }

  /** Rejects all waiting work. */
  clear(): void {
    const waiting = [...this.lanes.values()].flat();
    this.lanes.clear();
    this.count = 0;
    for (const job of waiting) job.refuse();
  }

  private canStart(client: Client): boolean {
    return this.free > 0 && (this.running.get(client) ?? 0) < this.concurrencyPerClient;
  }

  private markStarted(client: Client): void {
    this.free--;
    this.running.set(client, (this.running.get(client) ?? 0) + 1);
  }

  private markEnded(client: Client): void {
    this.free++;
    const left = getOrThrow(this.running, client) - 1;
    if (left > 0) this.running.set(client, left);
    else this.running.delete(client);
  }

  /** Resolves when the work counts as running. */
  private wait(client: Client, { cancellation }: WorkOptions): Promise<void> {
    if (client !== null) this.makeRoom(client);
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => () => {
        cancellation?.removeEventListener('abort', cancel);
        action();
      };
      const job: Job = { start: settle(resolve), refuse: settle(() => reject(this.refusal())) };
      const cancel = (): void => this.drop(client, job);
      cancellation?.addEventListener('abort', cancel);
      const lane = this.lanes.get(client);
      if (lane) lane.push(job);
      else this.lanes.set(client, [job]);
      this.count++;
    });
  }

  private makeRoom(client: string | number): void {
    const own = this.waitingOf(client);
    if (own >= this.maxWaitingPerClient) throw this.refusal();
    if (this.count - this.waitingOf(null) < this.maxWaiting) return;
    const lanes = [...this.lanes].filter(([key]) => key !== null);
    const [key, longest] = lanes.reduce((a, b) => (b[1].length > a[1].length ? b : a));
    if (longest.length <= own + 1) throw this.refusal();
    this.drop(key, lastOf(longest));
  }

  private drop(client: Client, job: Job): void {
    const rest = getOrThrow(this.lanes, client).filter((one) => one !== job);
    this.count--;
    if (rest.length > 0) this.lanes.set(client, rest);
    else this.lanes.delete(client);
    job.refuse();
  }

  private startNext(): void {
    for (const [client, lane] of this.lanes) {
      if (!this.canStart(client)) continue;
      const job = lane.shift()!;
      this.count--;
      // Moves the lane to the end, so that other clients are served before its remaining work.
      this.lanes.delete(client);
      if (lane.length > 0) this.lanes.set(client, lane);
      this.markStarted(client);
      job.start();
      return;
    }
  }
}

/** Owner of slow work: organization and person. */
export type WorkOwner = Pick<Caller, 'realmId' | 'userId'>;

/**
 * Runs work with limited concurrency, round-robin by realm and then by person, so that neither a busy realm nor a busy
 * person delays others.
 */
export class RealmWorkQueue {
  private readonly realms: WorkQueue;
  /** Queues of realms with work. Each passes at most `concurrency` jobs on to `realms`. */
  private readonly people = new Map<RealmId, WorkQueue>();

  constructor(private readonly options: Pick<WorkQueueOptions, 'concurrency' | 'refusal'>) {
    this.realms = new WorkQueue(options);
  }

  async run<T>({ realmId, userId }: WorkOwner, work: () => Promise<T>): Promise<T> {
    const people = this.people.get(realmId) ?? new WorkQueue(this.options);
    this.people.set(realmId, people);
    try {
      return await people.run(userId, () => this.realms.run(realmId, work));
    } finally {
      if (people.isIdle) this.people.delete(realmId);
    }
  }

  /** Rejects all waiting work. */
  clear(): void {
    for (const people of this.people.values()) people.clear();
    this.realms.clear();
  }
}
