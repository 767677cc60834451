/** About ten milliseconds. */
const STEPS_PER_TURN = 1_000_000;

/** Keeps texts that come right after one another from holding the event loop together. */
export class TurnBudget {
  private spent = 0;
  private turn: Promise<void> | null = null;

  /** Of work as a `WorkBudget` counts it. */
  spend(steps: number): void {
    this.spent += steps;
  }

  get isSpent(): boolean {
    return this.spent > STEPS_PER_TURN;
  }

  /** Once it is the caller's turn: of several who wait, each after those before have made use of theirs. */
  async next(): Promise<void> {
    while (this.isSpent) {
      this.turn ??= new Promise((resolve) => {
        setImmediate(() => {
          this.turn = null;
          this.spent = 0;
          resolve();
        });
      });
      await this.turn;
    }
  }
}
