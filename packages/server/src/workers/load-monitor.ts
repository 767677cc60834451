import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { CancelTimer, Timers } from '@parley/domain/kernel';
import type { LoadGauge, LoadLevel, Logger } from '@parley/http';
import type { Worker } from './recurring-worker.js';

export interface LoadSample {
  /** Longest event loop delay since the previous sample. */
  readonly delayMs: number;
  /** Used fraction, from 0 to 1, of the JavaScript heap or of the machine's or container's memory. */
  readonly memory: number;
  /** Resident memory of the process. */
  readonly residentBytes: number;
}

const LEVELS: readonly LoadLevel[] = ['normal', 'busy', 'overloaded'];

/** Lower bounds of the levels. A sample has the highest level reached by either value. */
const THRESHOLDS = [
  { delayMs: 0, memory: 0 },
  { delayMs: 250, memory: 0.85 },
  { delayMs: 1000, memory: 0.93 },
] as const satisfies readonly Omit<LoadSample, 'residentBytes'>[];

const SAMPLE_MS = 500;
/** Maximum time during which the server's own start delays the event loop. */
const START_MS = 10_000;
/** Time without requests after which a server with normal load takes no samples. */
const REST_AFTER_MS = 10_000;
/** Number of consecutive samples that raise the level; a single long task is not overload. */
const RISE_AFTER = 3;
/** Number of consecutive samples that lower the level; higher, because rejected requests are retried. */
const FALL_AFTER = 6;

/** Measures how close the process is to its limits while it gets requests, and reports changes. */
export class LoadMonitor implements LoadGauge, Worker {
  static readonly inject = ['logger', 'timers'] as const;

  readonly name = 'measuring load';
  private current = 0;
  private readonly recent: number[] = [];
  private cancel: CancelTimer | null = null;
  private inFlight: () => object = () => ({});
  private startedAtMs: number | null = null;
  private readAtMs = 0;
  private isStarting = true;

  constructor(
    private readonly logger: Logger,
    private readonly timers: Timers,
    private readonly gauge: Pick<ProcessGauge, 'start' | 'take' | 'stop'> = new ProcessGauge(timers),
  ) {}

  start(): void {
    this.startedAtMs = this.timers.elapsedMs();
    this.resume();
  }

  /** Read for each request, which resumes sampling. */
  get level(): LoadLevel {
    this.resume();
    return LEVELS[this.current]!;
  }

  private resume(): void {
    this.readAtMs = this.timers.elapsedMs();
    if (this.cancel || this.startedAtMs === null) return;
    this.gauge.start();
    this.cancel = this.timers.every(SAMPLE_MS, () => this.sample(this.startedAtMs!));
  }

  private rest(): void {
    this.cancel?.();
    this.cancel = null;
    this.gauge.stop();
  }

  private sample(startedAtMs: number): void {
    const sample = this.gauge.take();
    const now = this.timers.elapsedMs();
    this.isStarting &&= sample.delayMs >= THRESHOLDS[1].delayMs && now - startedAtMs < START_MS;
    // Rejecting requests does not shorten the delays of the start.
    this.judge(this.isStarting ? { ...sample, delayMs: 0 } : sample);
    const isCalm = this.current === 0 && this.recent.every((rank) => rank === 0);
    if (isCalm && now - this.readAtMs >= REST_AFTER_MS) this.rest();
  }

  /** Sets additional details for the log. */
  watch(inFlight: () => object): void {
    this.inFlight = inFlight;
  }

  judge(sample: LoadSample): void {
    const rank = THRESHOLDS.findLastIndex(
      ({ delayMs, memory }) => sample.delayMs >= delayMs || sample.memory >= memory,
    );
    this.recent.push(rank);
    if (this.recent.length > FALL_AFTER) this.recent.shift();
    const rising = this.recent.length < RISE_AFTER ? 0 : Math.min(...this.recent.slice(-RISE_AFTER));
    const falling = this.recent.length < FALL_AFTER ? this.current : Math.max(...this.recent);
    const next = rising > this.current ? rising : Math.min(falling, this.current);
    if (next === this.current) return;
    this.current = next;
    const heapUsed = getHeapStatistics().used_heap_size;
    const rss = sample.residentBytes;
    this.logger.error(
      { load: LEVELS[next], delayMs: Math.round(sample.delayMs), heapUsed, rss, ...this.inFlight() },
      next === 0 ? 'the load is normal again' : `the server is ${LEVELS[next]}: requests are rejected`,
    );
  }

  async stop(): Promise<void> {
    this.startedAtMs = null;
    this.rest();
  }
}

/** Interval between ticks; a shorter one is more precise but wakes the process more often. */
const TICK_MS = 50;

/** Measures this process. Uses its own timer, since `monitorEventLoopDelay` loses the delay right after a reset. */
export class ProcessGauge {
  private readonly available = Math.min(process.constrainedMemory?.() || Number.POSITIVE_INFINITY, totalmem());
  private cancel: CancelTimer | null = null;
  private lastTick = 0;
  private longest = 0;
  private residentBytes = 0;

  constructor(private readonly timers: Timers) {}

  start(): void {
    this.lastTick = this.timers.elapsedMs();
    this.cancel = this.timers.every(TICK_MS, () => {
      const now = this.timers.elapsedMs();
      this.longest = Math.max(this.longest, now - this.lastTick - TICK_MS);
      this.lastTick = now;
    });
  }

  take(): LoadSample {
    const delayMs = Math.max(this.longest, this.timers.elapsedMs() - this.lastTick - TICK_MS);
    this.longest = 0;
    const heap = getHeapStatistics();
    const ofHeap = heap.used_heap_size / heap.heap_size_limit;
    this.measureResident();
    const { residentBytes } = this;
    return { delayMs, memory: Math.max(ofHeap, residentBytes / this.available), residentBytes };
  }

  /** Keeps the previous value if the process has run out of file descriptors, since measuring requires one. */
  private measureResident(): void {
    try {
      this.residentBytes = process.memoryUsage.rss();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EMFILE' && (error as NodeJS.ErrnoException).code !== 'ENFILE')
        throw error;
    }
  }

  stop(): void {
    this.cancel?.();
  }
}
