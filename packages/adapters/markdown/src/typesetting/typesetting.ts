import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { type Typesetter, type TypesettingJob, type TypesettingResult, typeset } from './typeset.js';

type Results = readonly TypesettingResult[];

/** Code and formulas of one text. */
interface Order {
  readonly jobs: readonly TypesettingJob[];
  readonly size: number;
  readonly since: number;
  readonly deliver: (results: Results) => void;
}

export interface TypesettingPatience {
  /** Maximum waiting time; older orders stay plain. */
  readonly waitMs: number;
  /** Timeout of the worker, in addition to its own limit, for a hanging thread or slow loading. */
  readonly workMs: number;
}

/** Fixed size of an order in addition to its characters. */
const ORDER_SIZE = 100;
/** Maximum queue size; further orders stay plain. */
const MAX_WAITING_SIZE = 1_000_000;
const PATIENCE: TypesettingPatience = { waitMs: 2000, workMs: 3000 };
/** Limit needed because macros can quickly exhaust memory. */
const MAX_HEAP_MB = 128;
/** Young generation; small, because formulas are small and an idle thread keeps its memory. */
const MAX_YOUNG_MB = 8;
/** Limit without a thread, when the work blocks the event loop. */
const TIME_HERE_MS = 25;

/** Returns the script; null if it is missing, as in a rebundled program. */
export function findTypesettingScript(): string | null {
  try {
    return createRequire(import.meta.url).resolve('./thread.js');
  } catch {
    return null;
  }
}

/**
 * Typesets on a worker thread started on first use, because loading the libraries and long texts block for too long.
 * Handles one text at a time, shortest first, so that a few long texts do not delay others. Falls back to the calling
 * thread if no worker can start.
 */
export class TypesettingThread implements Typesetter {
  private worker: Worker | null = null;
  private readonly waiting: Order[] = [];
  private waitingSize = 0;
  private current: Order | null = null;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private script: string | null = findTypesettingScript(),
    private readonly patience = PATIENCE,
  ) {}

  typeset(jobs: readonly TypesettingJob[]): Promise<Results> {
    if (this.script === null) return Promise.resolve(typeset(jobs, TIME_HERE_MS));
    const size = jobs.reduce((sum, { source }) => sum + source.length, ORDER_SIZE);
    if (this.isClosed || this.waitingSize + size > MAX_WAITING_SIZE) return Promise.resolve([]);
    return new Promise((deliver) => {
      this.waiting.push({ jobs, size, since: performance.now(), deliver });
      this.waitingSize += size;
      this.next();
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const order of this.waiting.splice(0)) order.deliver([]);
    await this.worker?.terminate();
  }

  private next(): void {
    while (!this.current && this.waiting.length > 0) {
      const order = this.takeSmallest();
      if (this.script === null) order.deliver(typeset(order.jobs, TIME_HERE_MS));
      else if (performance.now() - order.since > this.patience.waitMs) order.deliver([]);
      else this.send(order);
    }
  }

  private takeSmallest(): Order {
    let smallest = 0;
    for (let i = 1; i < this.waiting.length; i++) {
      if (this.waiting[i]!.size < this.waiting[smallest]!.size) smallest = i;
    }
    const [order] = this.waiting.splice(smallest, 1) as [Order];
    this.waitingSize -= order.size;
    return order;
  }

  private send(order: Order): void {
    this.current = order;
    try {
      this.worker ??= this.start(this.script!);
    } catch {
      // Node may forbid worker threads.
      this.doWithout();
      return;
    }
    const { worker } = this;
    worker.ref();
    worker.postMessage(order.jobs);
    this.timer = setTimeout(() => void worker.terminate(), this.patience.workMs);
  }

  private start(script: string): Worker {
    const isThere = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const worker = new Worker(script, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
      workerData: isThere,
    });
    worker.on('message', (results: Results) => this.finish(results));
    // The thread ends directly after an error.
    worker.on('error', () => {
      if (Atomics.load(isThere, 0) === 0) this.doWithout();
    });
    worker.on('exit', () => {
      this.worker = null;
      this.finish([]);
    });
    return worker;
  }

  private doWithout(): void {
    this.script = null;
    this.finish(this.current ? typeset(this.current.jobs, TIME_HERE_MS) : []);
  }

  private finish(results: Results): void {
    clearTimeout(this.timer);
    // An idle worker must not keep the process alive.
    this.worker?.unref();
    const order = this.current;
    this.current = null;
    order?.deliver(results);
    this.next();
  }
}

/** Code and formulas of one text with their results. */
export class Typesetting {
  /** Created on demand, because most texts have neither. */
  private results: Map<string, TypesettingResult> | undefined;
  private waiting: Map<string, TypesettingJob> | undefined;

  /** Requests a job unless its result exists. */
  request(job: TypesettingJob): void {
    const key = keyOf(job);
    if (this.results?.has(key)) return;
    this.waiting ??= new Map();
    this.waiting.set(key, job);
  }

  /** Returns null if the job failed or is not completed yet. */
  resultOf(job: TypesettingJob): TypesettingResult {
    return this.results?.get(keyOf(job)) ?? null;
  }

  get isDone(): boolean {
    return this.waiting === undefined;
  }

  async run(typesetter: Typesetter): Promise<void> {
    const orders = [...(this.waiting ?? [])];
    const results = await typesetter.typeset(orders.map(([, job]) => job));
    this.results ??= new Map();
    for (const [i, [key]] of orders.entries()) this.results.set(key, results[i] ?? null);
    this.waiting = undefined;
  }

  /** Reuses results of another text. */
  takeFrom({ results }: Typesetting): void {
    for (const key of this.waiting?.keys() ?? []) {
      const result = results?.get(key);
      if (result === undefined) continue;
      this.results ??= new Map();
      this.results.set(key, result);
    }
  }
}

const keyOf = (job: TypesettingJob) =>
  `${job.kind} ${job.kind === 'code' ? job.grammar : job.displayMode} ${job.source}`;
