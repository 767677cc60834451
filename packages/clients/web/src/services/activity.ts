import { electronBridge } from './electron-bridge.js';

const IDLE_AFTER_MS = 5 * 60_000;
const INPUTS = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'focus'] as const;

/** Detects recent user activity: on the page, or anywhere on the computer in the desktop app. */
export class Activity {
  private lastInput = Date.now();
  private readonly onInput = () => {
    this.lastInput = Date.now();
  };

  constructor() {
    for (const type of INPUTS) addEventListener(type, this.onInput, { passive: true, capture: true });
  }

  isActive(): boolean {
    const lastActive = electronBridge?.get_last_active_on_system?.();
    if (lastActive !== undefined) {
      return Date.now() - lastActive < IDLE_AFTER_MS && electronBridge?.get_idle_on_system?.() !== true;
    }
    return document.hasFocus() && Date.now() - this.lastInput < IDLE_AFTER_MS;
  }

  stop(): void {
    for (const type of INPUTS) removeEventListener(type, this.onInput, { capture: true });
  }
}
