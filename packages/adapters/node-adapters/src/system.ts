import { randomInt, randomUUID } from 'node:crypto';
import type { CancelTimer, Clock, EventLoop, Randomness, Timers, UnixSeconds } from '@parley/domain/kernel';

/** System clock. */
export class SystemClock implements Clock {
  now(): UnixSeconds {
    return Math.floor(Date.now() / 1000);
  }

  nowMs(): number {
    return Date.now();
  }
}

export class SystemEventLoop implements EventLoop {
  yield(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

/** Maximum range of `randomInt`. */
const RANGE = 2 ** 48 - 1;

/** Cryptographically secure, since unpredictability is the only protection of values such as queue ids. */
export class SystemRandomness implements Randomness {
  uuid(): string {
    return randomUUID();
  }

  fraction(): number {
    return randomInt(RANGE) / RANGE;
  }
}

/** Maximum delay of Node's timers; longer delays would fire after one millisecond. */
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

/** Keeps an otherwise idle process alive until the returned function is called. */
export function keepProcessAlive(): CancelTimer {
  const timer = setInterval(() => {}, MAX_DELAY_MS);
  return () => clearInterval(timer);
}
