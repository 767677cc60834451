import type { Clock, UnixSeconds } from '@parley/domain/kernel';

/** Set to the moment at which something of the demo's past happens. */
export class DemoClock implements Clock {
  constructor(private seconds: UnixSeconds) {}

  set(seconds: UnixSeconds): void {
    this.seconds = seconds;
  }

  now(): UnixSeconds {
    return this.seconds;
  }

  nowMs(): number {
    return this.seconds * 1000;
  }
}
