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
 * Runs many short calls and yields to the event loop between groups of them. For thousands of simultaneous calls,
 * yielding after each one would cost more than the calls, and never yielding would block everything else. Each client's
 * calls run in order; clients with waiting calls are served round-robin.
 */
export class YieldingCalls {
  /** Waiting calls by client; the client to serve next comes first. Lists are never empty. */
  private readonly waiting = new Map<string | undefined, (() => void)[]>();
  /** Time of the first call in this turn of the event loop; null if there was none. */
  private turnBegan: number | null = null;

  /**
   * `immediateMs`: maximum time per turn in which calls run immediately; further calls wait. With 0, calls run after the
   * code that requests them, and before the event loop handles other input.
   */
  constructor(
    private readonly callsPerTurn: number,
    private readonly immediateMs = 0,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** `call` must not throw. */
  run(call: () => void, client?: string): void {
    if (this.turnBegan === null) {
      this.beginTurn();
      if (this.immediateMs === 0) process.nextTick(() => this.callNext());
    }
    const waits = this.immediateMs === 0 || this.waiting.size > 0 || this.now() - this.turnBegan! > this.immediateMs;
    if (!waits) {
      call();
      return;
    }
    const calls = this.waiting.get(client);
    if (calls) calls.push(call);
    else this.waiting.set(client, [call]);
  }

  private beginTurn(): void {
    this.turnBegan = this.immediateMs === 0 ? 0 : this.now();
    setImmediate(() => this.endTurn());
  }

  private endTurn(): void {
    this.turnBegan = null;
    if (this.waiting.size === 0) return;
    this.beginTurn();
    this.callNext();
  }

  private callNext(): void {
    const share = Math.ceil(this.callsPerTurn / this.waiting.size);
    const due: (() => void)[] = [];
    for (const [client, calls] of this.waiting) {
      if (due.length >= this.callsPerTurn) break;
      due.push(...calls.splice(0, share));
      // Moves the client to the end.
      this.waiting.delete(client);
      if (calls.length > 0) this.waiting.set(client, calls);
    }
    for (const call of due) call();
  }
}
