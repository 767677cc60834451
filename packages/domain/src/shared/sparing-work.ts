import type { EventLoop } from './event-loop.js';
import type { Timers } from './timers.js';

/** What timers cannot tell from nothing. */
const MIN_REST_MS = 1;
/** A disk that was slow for once is no reason to wait long. */
const MAX_REST_MS = 20;

/**
 * Of long work that nobody waits for: it takes half of the time, and leaves the other half to others. They wait for one piece of it
 * at most, so that its pieces are to be short.
 */
export class SparingWork {
  private startedAt: number;

  constructor(
    private readonly timers: Timers,
    private readonly eventLoop: EventLoop,
  ) {
    this.startedAt = timers.elapsedMs();
  }

  /** Between two pieces: takes as long as there was work since the last rest. */
  async rest(): Promise<void> {
    const worked = this.timers.elapsedMs() - this.startedAt;
    if (worked < MIN_REST_MS) return this.eventLoop.nextTurn();
    await new Promise<void>((resolve) => this.timers.after(Math.min(worked, MAX_REST_MS), resolve));
    this.startedAt = this.timers.elapsedMs();
  }
}
