/**
 * Spreads calls over event loop turns and keeps their order. For thousands of simultaneous calls, one turn each would
 * cost more than the calls themselves, while a single turn would block all other work.
 */
export class PacedCalls {
  private waiting: (() => void)[] = [];
  /** Start of the first call in this turn; null if there was none. */
  private turnBegan: number | null = null;

  /** `immediateMs`: time per turn during which calls run immediately; with 0, every call is deferred. */
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
