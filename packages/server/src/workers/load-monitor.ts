import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { LoadGauge, LoadLevel, Logger } from '@parley/http';

export interface LoadSample {
  /** The longest that anything waited for its turn of the event loop since the sample before. */
  readonly delayMs: number;
  /** How much of what there is, from 0 to 1: of JavaScript's heap, or of the memory of the machine or container. */
  readonly memory: number;
}

const LEVELS: readonly LoadLevel[] = ['normal', 'busy', 'overloaded'];

/** From where on a level begins. A sample is of the highest level that either figure reaches. */
const THRESHOLDS = [
  { delayMs: 0, memory: 0 },
  { delayMs: 250, memory: 0.85 },
  { delayMs: 1000, memory: 0.93 },
] as const satisfies readonly LoadSample[];

const SAMPLE_MS = 500;
/** One long turn is no load: so many samples in a row make a level … */
const RISE_AFTER = 3;
/** … and so many below it end it, for what was shed comes back. */
const FALL_AFTER = 6;

/** Measures how near the process is to its limits, and says so when that changes. */
export class LoadMonitor implements LoadGauge {
  private current = 0;
  private readonly recent: number[] = [];
  private readonly timer: NodeJS.Timeout;
  private inFlight: () => object = () => ({});

  constructor(
    private readonly logger: Logger,
    private readonly gauge: Pick<ProcessGauge, 'take' | 'stop'> = new ProcessGauge(),
  ) {
    this.timer = setInterval(() => this.judge(this.gauge.take()), SAMPLE_MS).unref();
  }

  get level(): LoadLevel {
    return LEVELS[this.current]!;
  }

  /** What belongs in the log beside the process's own figures. */
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
    const { heapUsed, rss } = process.memoryUsage();
    this.logger.error(
      { load: this.level, delayMs: Math.round(sample.delayMs), heapUsed, rss, ...this.inFlight() },
      next === 0 ? 'the load is normal again' : `the server is ${this.level}: requests are refused`,
    );
  }

  stop(): void {
    clearInterval(this.timer);
    this.gauge.stop();
  }
}

/** The finer, the more often the process wakes up for it. */
const TICK_MS = 50;

/**
 * Of this process. By a timer of our own: `monitorEventLoopDelay` loses what follows a reset, which under load is the one
 * long turn that there is between two samples.
 */
export class ProcessGauge {
  private readonly available = Math.min(process.constrainedMemory?.() || Number.POSITIVE_INFINITY, totalmem());
  private readonly timer: NodeJS.Timeout;
  private lastTick = performance.now();
  private longest = 0;

  constructor() {
    this.timer = setInterval(() => {
      const now = performance.now();
      this.longest = Math.max(this.longest, now - this.lastTick - TICK_MS);
      this.lastTick = now;
    }, TICK_MS).unref();
  }

  take(): LoadSample {
    const delayMs = Math.max(this.longest, performance.now() - this.lastTick - TICK_MS);
    this.longest = 0;
    const heap = getHeapStatistics();
    const ofHeap = heap.used_heap_size / heap.heap_size_limit;
    return { delayMs, memory: Math.max(ofHeap, process.memoryUsage.rss() / this.available) };
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
