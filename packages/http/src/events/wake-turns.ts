/** Woken in one turn of the event loop; their answers take a few milliseconds together. */
const AT_A_TIME = 64;

/**
 * When thousands wait for the same event, they are answered some at a time: one turn of the event loop for each of them would cost
 * more than the answers, and one for all would keep everybody else waiting.
 */
export class WakeTurns {
  private due: (() => void)[] = [];
  /** Of those that are due, how many had their turn. */
  private taken = 0;
  private next: NodeJS.Immediate | null = null;

  /** Calls it in a turn to come; it must not throw. */
  add(answer: () => void): void {
    this.due.push(answer);
    this.next ??= setImmediate(() => this.turn());
  }

  private turn(): void {
    const end = Math.min(this.taken + AT_A_TIME, this.due.length);
    this.next = end < this.due.length ? setImmediate(() => this.turn()) : null;
    const { due, taken } = this;
    if (this.next) this.taken = end;
    else {
      this.due = [];
      this.taken = 0;
    }
    for (let n = taken; n < end; n++) due[n]!();
  }
}
