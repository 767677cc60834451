const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** For how long steps of one work follow each other at once. */
const SLICE_MS = 8;

/** Steps of long works, one at a time and each in a turn of the event loop that begins with what others have waiting. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly now: () => number = () => performance.now()) {}

  run<T>(step: () => Promise<T>): Promise<T> {
    const result = this.last.then(nextTurn).then(step);
    this.last = result.catch(() => {});
    return result;
  }

  /** Begins at once; where the work takes long, the event loop turns between its steps. Resolves to what it returns. */
  async runSteps<T>(work: Generator<void, T>): Promise<T> {
    let state = this.advance(work);
    while (!state.done) state = await this.run(async () => this.advance(work));
    return state.value;
  }

  private advance<T>(work: Generator<void, T>): IteratorResult<void, T> {
    const startedAt = this.now();
    for (;;) {
      const state = work.next();
      if (state.done || this.now() - startedAt >= SLICE_MS) return state;
    }
  }
}
