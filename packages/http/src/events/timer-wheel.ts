/** One timer for everybody who waits, to the second: ten thousand polls are ten thousand entries, not as many timers. */
export class TimerWheel {
  private readonly slots = new Map<number, Set<() => void>>();
  private tick = 0;
  private timer: NodeJS.Timeout | null = null;

  /** An action that fails keeps none of the others from running. */
  constructor(private readonly onFailure: (error: unknown) => void) {}

  /** Answers how to call it off. */
  after(seconds: number, action: () => void): () => void {
    const due = this.tick + Math.max(1, Math.round(seconds));
    let slot = this.slots.get(due);
    if (!slot) {
      slot = new Set();
      this.slots.set(due, slot);
    }
    slot.add(action);
    this.timer ??= setInterval(() => this.turn(), 1000).unref();
    return () => {
      slot.delete(action);
    };
  }

  close(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  private turn(): void {
    this.tick++;
    const slot = this.slots.get(this.tick);
    this.slots.delete(this.tick);
    for (const action of slot ?? []) {
      try {
        action();
      } catch (error) {
        this.onFailure(error);
      }
    }
    if (this.slots.size === 0) this.close();
  }
}
