import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** How often the event loop is looked at; it is never later by less than that. */
const RESOLUTION_MS = 5;
const MEMORY_EVERY_MS = 20;

/** How the event loop and the memory of this process fare. */
export class ProcessUsage {
  private longestMs = 0;
  private peak = ownBytes();

  constructor(resolutionMs = RESOLUTION_MS) {
    let turnedAt = performance.now();
    let waitedMs = waitingMs();
    setInterval(() => {
      const now = performance.now();
      const waited = waitingMs();
      this.longestMs = Math.max(this.longestMs, now - turnedAt - resolutionMs - (waited - waitedMs));
      turnedAt = now;
      waitedMs = waited;
    }, resolutionMs).unref();
    setInterval(() => {
      this.peak = this.peakBytes;
    }, MEMORY_EVERY_MS).unref();
  }

  /** The longest time for which the event loop stood still, less the time for which other processes had its core. */
  get stallMs(): number {
    return this.longestMs;
  }

  /** The most memory the process had of its own, resident. */
  get peakBytes(): number {
    return Math.max(this.peak, ownBytes());
  }

  /** From now on. */
  reset(): void {
    this.longestMs = 0;
    this.peak = ownBytes();
  }
}

/** For how long in all this thread could have run and had no core, because others had it; 0 where the system does not tell. */
function waitingMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
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
