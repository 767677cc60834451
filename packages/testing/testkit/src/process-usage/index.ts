import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { threadTimes } from './thread-times.js';

export { bytesAfterMinorCollection, retainedBytes } from './retained-bytes.js';
export { threadTimes } from './thread-times.js';
export { machineSlowness, workMsOf } from './work-time.js';

/** Interval of event loop checks, a lower bound of the measured delay. */
const RESOLUTION_MS = 5;
const MEMORY_EVERY_MS = 20;

/** Measures event loop delay and memory of this process. */
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

  /** Longest event loop stall, excluding time when other processes occupied the core. */
  get stallMs(): number {
    return this.longestMs;
  }

  /** Longest thread work between two samples: a stall excluding waiting time, for example for disk syncs. */
  get workMs(): number {
    return this.longestWorkMs;
  }

  /** Peak resident memory of the process. */
  get peakBytes(): number {
    return Math.max(this.peak, ownBytes());
  }

  /** Restarts the measurement. */
  reset(): void {
    this.longestMs = 0;
    this.longestWorkMs = 0;
    this.peak = ownBytes();
  }
}

/**
 * Returns resident memory without mapped files, such as the program and the database. Includes mapped files if the
 * system does not provide details.
 */
function ownBytes(): number {
  try {
    return Number(/^RssAnon:\s*(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1'))![1]) * 1024;
  } catch {
    return process.memoryUsage.rss();
  }
}
