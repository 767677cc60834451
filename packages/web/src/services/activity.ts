const IDLE_AFTER_MS = 5 * 60_000;
const INPUTS = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'focus'] as const;

/** Knows whether the user did something on the page lately. */
export class Activity {
  private lastInput = Date.now();
  private readonly onInput = () => {
    this.lastInput = Date.now();
  };

  constructor() {
    for (const type of INPUTS) addEventListener(type, this.onInput, { passive: true, capture: true });
  }

  isActive(): boolean {
    return document.hasFocus() && Date.now() - this.lastInput < IDLE_AFTER_MS;
  }

  stop(): void {
    for (const type of INPUTS) removeEventListener(type, this.onInput, { capture: true });
  }
}
