import type { EventLoop, Randomness } from '@parley/domain/kernel';
import { ManualTime, type Timer } from '@parley/testkit';
import { Violation } from './violation.js';

/** Event loop turns after which work that waits for nothing else has ended. */
const QUIET_TURNS = 4;
/** Maximum number of event loop turns until the engine is idle. */
const MAX_TURNS = 20_000;
/** Maximum number of times that timers run at one time. */
const MAX_ROUNDS = 1000;
/** Maximum time that elapses at once. Timers fire late, as on a host that sleeps, but never early. */
const MAX_HOP_MS = 10 * 60_000;
/** Maximum number of hops in a row that end at the next timer. After a clock jump, a lost lease lasts for hours. */
const MAX_SHORT_HOPS = 100;

/** Work that goes on while time stands still. */
export interface Working {
  /** True while units of work run. */
  readonly isBusy: () => boolean;
  /** True while a job is leased: the lease must not end before its holder has had time to store the result. */
  hasLeasedJobs(): Promise<boolean>;
}

/** Clock, timers and event loop of a simulation. Time stands still unless `advanceTo` is called. */
export class SimulatedTime extends ManualTime implements EventLoop {
  /** @param randomness orders timers that are due at the same time */
  constructor(private readonly randomness: Randomness) {
    super();
  }

  yield(): Promise<void> {
    return nextTurn();
  }

  /** Drops all timers, as the end of a process does. */
  dropTimers(): void {
    this.timers.clear();
  }

  /** Lets time pass and runs due timers, with everything that they trigger. */
  async advanceTo(end: number, working: Working): Promise<void> {
    const { isBusy } = working;
    await settle(isBusy);
    let shortHops = 0;
    while (this.elapsed < end) {
      shortHops = (await working.hasLeasedJobs()) ? shortHops + 1 : 0;
      const isShort = shortHops > 0 && shortHops <= MAX_SHORT_HOPS;
      this.elapsed = Math.min(end, this.elapsed + MAX_HOP_MS, isShort ? this.nextTimerAt() : end);
      // A due timer may set another one that is due.
      let rounds = 0;
      for (let due = this.takeDue(); due.length > 0; due = this.takeDue()) {
        if (++rounds > MAX_ROUNDS) throw new Violation('work ends', 'timers are set again and again for the same time');
        for (const { run } of due) run();
        await settle(isBusy);
      }
    }
  }

  private nextTimerAt(): number {
    return Math.min(...[...this.timers].map(({ at }) => at));
  }

  /** Due timers in order, each rank of equals in random order. */
  private takeDue(): readonly Timer[] {
    const due = [...this.timers].filter(({ at }) => at <= this.elapsed);
    for (const timer of due) this.timers.delete(timer);
    return due
      .map((timer) => ({ timer, rank: this.randomness.fraction() }))
      .sort((a, b) => a.timer.at - b.timer.at || a.rank - b.rank)
      .map(({ timer }) => timer);
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits until the engine is idle. */
export async function settle(isBusy: () => boolean): Promise<void> {
  let turns = 0;
  for (let quiet = 0; quiet < QUIET_TURNS; quiet = isBusy() ? 0 : quiet + 1) {
    if (++turns > MAX_TURNS) throw new Violation('work ends', `units of work follow each other without end`);
    await nextTurn();
  }
}

/**
 * Stops the clock that parts without a timer port use to divide long work into slices, so that the length of a slice never
 * depends on the machine. Returns a function that restores the clock.
 */
export function stopSliceClock(): () => void {
  const { now } = performance;
  performance.now = () => 0;
  return () => {
    performance.now = now;
  };
}
