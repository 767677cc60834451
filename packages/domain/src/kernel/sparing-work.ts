import type { EventLoop } from './event-loop.js';
import type { Timers } from './timers.js';

/** What timers cannot tell from nothing. */
const MIN_REST_MS = 1;
/** A disk that was slow for once is no reason to wait long. */
const MAX_REST_MS = 20;

/**
 * Of long work that nobody waits for: it rests between its pieces, for a multiple of the time that they took. Others wait for one of
 * them at most, so that they are to be short.
 */
export class SparingWork {
  private startedAt: number;

  constructor(
    private readonly timers: Timers,
    private readonly eventLoop: EventLoop,
    /** How long it rests, in multiples of the work. */
    private readonly restFactor: number,
  ) {
    this.startedAt = timers.elapsedMs();
  }

  /** Between two pieces. */
  async rest(): Promise<void> {
    const worked = this.timers.elapsedMs() - this.startedAt;
    if (worked < MIN_REST_MS) return this.eventLoop.nextTurn();
    await new Promise<void>((resolve) => this.timers.after(Math.min(worked * this.restFactor, MAX_REST_MS), resolve));
    this.startedAt = this.timers.elapsedMs();
  }
}
