import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { threadTimes } from './thread-times.js';

export { retainedBytes } from './retained-bytes.js';
export { threadTimes } from './thread-times.js';
export { machineSlowness, workMsOf } from './work-time.js';

/** How often the event loop is looked at; it is never later by less than that. */
const RESOLUTION_MS = 5;
const MEMORY_EVERY_MS = 20;

/** How the event loop and the memory of this process fare. */
export class ProcessUsage {
  private longestMs = 0;
  private longestWorkMs = 0;
  private peak = ownBytes();

  constructor(resolutionMs = RESOLUTION_MS) {
    let turnedAt = performance.now();
    let before = threadTimes();
    setInterval(() => {
      const now = performance.now();
      const times = threadTimes();
      this.longestMs = Math.max(this.longestMs, now - turnedAt - resolutionMs - (times.waitedMs - before.waitedMs));
      this.longestWorkMs = Math.max(this.longestWorkMs, times.workedMs - before.workedMs);
      turnedAt = now;
      before = times;
    }, resolutionMs).unref();
    setInterval(() => {
      this.peak = this.peakBytes;
    }, MEMORY_EVERY_MS).unref();
  }

  /** The longest time for which the event loop stood still, less the time for which other processes had its core. */
  get stallMs(): number {
    return this.longestMs;
  }

  /** The most the thread worked between two looks at the event loop: a stall without what it waited for, such as disk syncs. */
  get workMs(): number {
    return this.longestWorkMs;
  }

  /** The most memory the process had of its own, resident. */
  get peakBytes(): number {
    return Math.max(this.peak, ownBytes());
  }

  /** From now on. */
  reset(): void {
    this.longestMs = 0;
    this.longestWorkMs = 0;
    this.peak = ownBytes();
  }
}

/** Resident, without what is mapped from files, the program and the database; with it where the system does not tell. */
function ownBytes(): number {
  try {
    return Number(/^RssAnon:\s*(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1'))![1]) * 1024;
  } catch {
    return process.memoryUsage.rss();
  }
}
