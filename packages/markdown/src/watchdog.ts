import { createContext, Script } from 'node:vm';
import { lazily } from './lazy.js';

const guard = lazily(() => {
  const sandbox: { work: () => unknown } = { work: () => undefined };
  return { sandbox, context: createContext(sandbox), script: new Script('work()') };
});

/**
 * Gives one message so much time for work of libraries that nobody can bound from the outside: grammars made of
 * backtracking patterns, macros that expand. What does not finish is shown plain.
 */
export class Watchdog {
  private remainingMs = 150;

  /** @throws when the work fails, or has not finished in time. */
  run<T>(work: () => T): T {
    if (this.remainingMs < 1) throw new Error('No time left');
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
