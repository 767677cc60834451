import type { Clock, UnixSeconds } from '@parley/domain/kernel';

/** The machine's clock. */
export class SystemClock implements Clock {
  now(): UnixSeconds {
    return Math.floor(Date.now() / 1000);
  }

  nowMs(): number {
    return Date.now();
  }
}
