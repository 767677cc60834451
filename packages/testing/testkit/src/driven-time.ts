import type { CancelTimer, Clock, Timers, UnixSeconds } from '@parley/domain/kernel';
import { START_OF_TIME } from './fixed-clock.js';

export interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** Clock and timers of which a subclass decides when time passes. The clock may also jump without elapsed time, like real ones. */
export abstract class ManualTime implements Clock, Timers {
  protected elapsed = 0;
  private clockOffsetMs = START_OF_TIME * 1000;
  protected readonly timers = new Set<Timer>();

  now(): UnixSeconds {
    return Math.floor(this.nowMs() / 1000);
  }

  nowMs(): number {
    return this.clockOffsetMs + this.elapsed;
  }

  elapsedMs(): number {
    return this.elapsed;
  }

  after(ms: number, run: () => void): CancelTimer {
    const timer = { at: this.elapsed + ms, run };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  every(ms: number, run: () => void): CancelTimer {
    let cancel: CancelTimer;
    const again = () => {
      cancel = this.after(ms, again);
      run();
    };
    cancel = this.after(ms, again);
    return () => cancel();
  }

  /** Changes the clock without affecting timers. */
  jumpClock(seconds: number): void {
    this.clockOffsetMs += seconds * 1000;
  }
}

/** Clock and timers that a test advances. */
export class DrivenTime extends ManualTime {
  /** Number of instants at which timers ran: timers due together wake a process once. */
  wakeUps = 0;
  private lastWakeUpAt = -1;

  /** Number of active timers. */
  get pending(): number {
    return this.timers.size;
  }

  /** Advances the time and runs due timers in order, with everything that they trigger. */
  async advance(seconds: number): Promise<void> {
    const end = this.elapsed + seconds * 1000;
    await settle();
    for (let next = this.next(end); next; next = this.next(end)) {
      this.timers.delete(next);
      if (next.at > this.lastWakeUpAt) this.wakeUps++;
      this.lastWakeUpAt = next.at;
      this.elapsed = Math.max(this.elapsed, next.at);
      next.run();
      await settle();
    }
    this.elapsed = end;
  }

  private next(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.timers)
      if (timer.at <= end && timer.at < (next?.at ?? Number.POSITIVE_INFINITY)) next = timer;
    return next;
  }
}

/** Waits several event loop turns, enough for consecutive transactions. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
