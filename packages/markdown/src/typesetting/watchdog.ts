import { createContext, Script } from 'node:vm';
import { lazily } from '../lazy.js';

const guard = lazily(() => {
  const sandbox: { work: () => unknown } = { work: () => undefined };
  return { sandbox, context: createContext(sandbox), script: new Script('work()') };
});

/**
 * Gives so much time altogether for work of libraries that nobody can bound from the outside: grammars made of
 * backtracking patterns, macros that expand, the patterns of administrators. Watching costs a tenth of a millisecond and
 * makes the outcome depend on the machine, so work known to be little is not watched.
 */
export class Watchdog {
  /**
   * @param steps How much unwatched work there may be altogether, in whatever its callers count it in.
   * @param stepsAtOnce So little work is never watched: it only takes of the time, once the steps are used up.
   */
  constructor(
    private remainingMs: number,
    private steps: number,
    private readonly stepsAtOnce = 0,
  ) {}

  get isOver(): boolean {
    return this.remainingMs < 1;
  }

  /**
   * @param steps What the work takes at most; infinite when nobody knows.
   * @throws when the work fails, or has not finished in time.
   */
  run<T>(work: () => T, steps: number): T {
    if (this.isOver) throw new Error('No time left');
    if (steps > this.steps) return steps <= this.stepsAtOnce ? this.runTimed(work) : this.runWatched(work);
    this.steps -= steps;
    return work();
  }

  private runTimed<T>(work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      this.remainingMs -= performance.now() - start;
    }
  }

  private runWatched<T>(work: () => T): T {
    const { sandbox, context, script } = guard();
    const start = performance.now();
    sandbox.work = work;
    try {
      return script.runInContext(context, { timeout: Math.floor(this.remainingMs) }) as T;
    } finally {
      sandbox.work = () => undefined;
      this.remainingMs -= performance.now() - start;
    }
  }
}
