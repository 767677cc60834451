import type { UnixSeconds } from './ids.js';
import type { Clock, Timers } from './ports.js';

/**
 * True if a time has come, or is further away than twice its own delay: then the clock was ahead when the time was set.
 * The second delay tolerates the different clocks of servers. All arguments have the same unit.
 */
export const isDue = (at: number, now: number, delay: number): boolean => at <= now || at > now + 2 * delay;

/** True if a delay has passed since a time, or the clock was ahead at that time (`isDue`). */
export const hasPassed = (since: number, delay: number, now: number): boolean => isDue(since + delay, now, delay);

/** Smaller differences come from slow adjustments of the clock. */
const STEP_SECONDS = 60;
const LARGE_STEP_SECONDS = 86_400;
/** Time for the operator to notice a wrong clock before data are deleted by it. */
const DELETIONS_WAIT_SECONDS = 3600;
/** Delay of deletions until the clock has been compared with the data. */
const UNKNOWN_SECONDS = 5;

/** Finds steps of the clock, by comparison with elapsed time and, at the start, with the newest data. */
export class ClockWatch {
  /** Number of steps so far. */
  steps = 0;
  private since: UnixSeconds;
  private offsetMs: number;
  /** Null until the clock has been compared with the data. */
  private deletionsFromMs: number | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly timers: Pick<Timers, 'elapsedMs'>,
    private readonly warn: (message: string, fields: { readonly seconds: number }) => void,
  ) {
    this.since = clock.now();
    this.offsetMs = this.presentOffsetMs();
  }

  /** Time of the last step or of the start. The clock did not change since then. */
  get steadySince(): UnixSeconds {
    this.look();
    return this.since;
  }

  /** Seconds for which no data may be deleted because of their age, which cannot be undone. */
  get deletionsWaitSeconds(): number {
    this.look();
    if (this.deletionsFromMs === null) return UNKNOWN_SECONDS;
    return Math.max(0, Math.ceil((this.deletionsFromMs - this.timers.elapsedMs()) / 1000));
  }

  /** Compares the clock with the newest time in the data; null if there is none. */
  compare(newest: UnixSeconds | null): void {
    this.deletionsFromMs ??= 0;
    const seconds = newest === null ? 0 : this.clock.now() - newest;
    // Nobody may have written for days, so that only a message from the future is worth a line.
    if (seconds > LARGE_STEP_SECONDS) this.delayDeletions();
    if (seconds < -LARGE_STEP_SECONDS) this.delayDeletions('the newest message is from the future', seconds);
  }

  /** Looks for a step since the last call. */
  look(): void {
    const offsetMs = this.presentOffsetMs();
    const seconds = Math.round((offsetMs - this.offsetMs) / 1000);
    if (Math.abs(seconds) < STEP_SECONDS) return;
    this.steps++;
    this.offsetMs = offsetMs;
    this.since = this.clock.now();
    if (Math.abs(seconds) > LARGE_STEP_SECONDS) this.delayDeletions('the clock was changed', seconds);
    else this.warn('the clock was changed', { seconds });
  }

  private delayDeletions(reason: string | null = null, seconds = 0): void {
    this.deletionsFromMs = this.timers.elapsedMs() + DELETIONS_WAIT_SECONDS * 1000;
    if (reason !== null) this.warn(`${reason}: nothing is deleted because of its age for an hour`, { seconds });
  }

  private presentOffsetMs(): number {
    return this.clock.nowMs() - this.timers.elapsedMs();
  }
}
