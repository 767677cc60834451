/** How much of one turn of the event loop requests may take before others wait for the next one. */
const TURN_MS = 5;
/** Requests that had to wait, a turn. What they set going runs when all of them have begun. */
const AT_A_TIME = 16;

/**
 * Thousands of clients may ask at the same moment, when a server comes back. What their requests set going is begun a few
 * at a time and in order, so that everything else goes on meanwhile.
 */
export class RequestTurns {
  private readonly waiting: (() => void)[] = [];
  /** When the first request of this turn came; null: there was none. */
  private turnBegan: number | null = null;

  constructor(private readonly now: () => number = () => performance.now()) {}

  run(begin: () => void): void {
    if (this.turnBegan === null) {
      this.turnBegan = this.now();
      setImmediate(() => this.nextTurn());
    }
    if (this.waiting.length > 0 || this.now() - this.turnBegan > TURN_MS) this.waiting.push(begin);
    else begin();
  }

  private nextTurn(): void {
    this.turnBegan = null;
    if (this.waiting.length === 0) return;
    // Those that come after them wait behind them.
    this.turnBegan = this.now();
    setImmediate(() => this.nextTurn());
    for (const begin of this.waiting.splice(0, AT_A_TIME)) begin();
  }
}
