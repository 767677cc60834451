/**
 * Spreads calls over turns of the event loop, in their order. When thousands come at the same moment, one turn for each would cost
 * more than the calls, and one turn for all would hold up everything else.
 */
export class PacedCalls {
  private waiting: (() => void)[] = [];
  /** Time of the first call in this turn; null: there was none. */
  private turnBegan: number | null = null;

  /** `immediateMs`: how long calls of one turn run at once, before others have to wait; 0: every call waits. */
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
