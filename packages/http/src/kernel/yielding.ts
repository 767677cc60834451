const nothing = (): void => {};
const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Maximum time in which steps of one work item run without yielding. */
const SLICE_MS = 8;

/**
 * Runs long work in time slices and yields to the event loop between two slices. All work of a scheduler shares one
 * sequence of slices.
 */
export class YieldingScheduler {
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly now: () => number = () => performance.now()) {}

  run<T>(step: () => Promise<T>): Promise<T> {
    const result = this.last.then(yieldToEventLoop).then(step);
    // Resolves to nothing, so that an idle scheduler does not retain the last result.
    this.last = result.then(nothing, nothing);
    return result;
  }

  /** Starts immediately and yields to the event loop during long work. Resolves to the result of the work. */
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

/**
 * Runs many short calls in order and yields to the event loop between groups of them. For thousands of simultaneous
 * calls, yielding after each one would cost more than the calls, and never yielding would block everything else.
 */
export class YieldingCalls {
  private waiting: (() => void)[] = [];
  /** Time of the first call in this turn of the event loop; null if there was none. */
  private turnBegan: number | null = null;

  /** `immediateMs`: maximum time per turn in which calls run at once; further calls wait. 0 makes every call wait. */
  constructor(
    private readonly callsPerTurn: number,
    private readonly immediateMs = 0,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** `call` must not throw. */
  run(call: () => void): void {
    if (this.turnBegan === null) this.beginTurn();
    const waits = this.immediateMs === 0 || this.waiting.length > 0 || this.now() - this.turnBegan! > this.immediateMs;
    if (waits) this.waiting.push(call);
    else call();
  }

  private beginTurn(): void {
    this.turnBegan = this.immediateMs === 0 ? 0 : this.now();
    setImmediate(() => this.endTurn());
  }

  private endTurn(): void {
    this.turnBegan = null;
    if (this.waiting.length === 0) return;
    this.beginTurn();
    for (const call of this.waiting.splice(0, this.callsPerTurn)) call();
  }
}
