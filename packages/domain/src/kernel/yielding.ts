import type { Timers } from './ports.js';

/** Port for yielding to the event loop during long work. */
export interface EventLoop {
  /** Resolves in a later turn of the event loop, after other due work has run. */
  yield(): Promise<void>;
}

/** Shortest delay that timers can measure. */
const MIN_REST_MS = 1;
/** Upper limit, so that a single slow disk access does not cause a long rest. */
const MAX_REST_MS = 20;

/**
 * Background work that rests between pieces for a multiple of their duration. Other work waits for at most one piece,
 * so keep pieces short.
 */
export class YieldingWork {
  private startedAt: number;

  constructor(
    private readonly timers: Timers,
    private readonly eventLoop: EventLoop,
    /** Rest duration as a multiple of the work duration. */
    private readonly restFactor: number,
  ) {
    this.startedAt = timers.elapsedMs();
  }

  /** Call between two pieces of work. */
  async rest(): Promise<void> {
    const worked = this.timers.elapsedMs() - this.startedAt;
    if (worked < MIN_REST_MS) return this.eventLoop.yield();
    await new Promise<void>((resolve) => this.timers.after(Math.min(worked * this.restFactor, MAX_REST_MS), resolve));
    this.startedAt = this.timers.elapsedMs();
  }
}
