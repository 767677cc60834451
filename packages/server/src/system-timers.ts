import type { CancelTimer, Timers } from '@parley/domain/kernel';

/** What Node's timers hold at most; they take anything longer for one millisecond. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export class SystemTimers implements Timers {
  elapsedMs(): number {
    return performance.now();
  }

  after(ms: number, run: () => void): CancelTimer {
    const timer = setTimeout(run, Math.min(ms, MAX_DELAY_MS)).unref();
    return () => clearTimeout(timer);
  }

  every(ms: number, run: () => void): CancelTimer {
    const timer = setInterval(run, Math.min(ms, MAX_DELAY_MS)).unref();
    return () => clearInterval(timer);
  }
}

/** Of a process that has nothing else to do than to wait; until the answer is called. */
export function keepProcessAlive(): CancelTimer {
  const timer = setInterval(() => {}, MAX_DELAY_MS);
  return () => clearInterval(timer);
}
