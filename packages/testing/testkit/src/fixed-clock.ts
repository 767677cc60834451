import type { Clock, UnixSeconds } from '@parley/domain/kernel';

/** 2026-01-05 09:00:00 UTC, a Monday. */
export const START_OF_TIME: UnixSeconds = 1_767_603_600;

/** Clock that changes only on request. */
export class FixedClock implements Clock {
  private ms: number;

  constructor(start: UnixSeconds = START_OF_TIME) {
    this.ms = start * 1000;
  }

  now(): UnixSeconds {
    return Math.floor(this.ms / 1000);
  }

  nowMs(): number {
    return this.ms;
  }

  advance(seconds: number): void {
    this.ms += seconds * 1000;
  }

  advanceMs(ms: number): void {
    this.ms += ms;
  }
}
