import type { EventLoop, Timers } from './ports.js';

/** A list in pieces of at most so many, in order: for units that let the event loop turn in between. */
export function* slicesOf<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}

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

/** An object with all of these names, each with its value. */
export const recordOf = <Name extends string, T>(
  names: readonly Name[],
  valueFor: (name: Name) => T,
): Readonly<Record<Name, T>> =>
  Object.fromEntries(names.map((name) => [name, valueFor(name)])) as Readonly<Record<Name, T>>;
