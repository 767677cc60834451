import type { Clock } from '../kernel/ports.js';

/** Interval for refetching messages that do not arrive as events. */
const RELOAD_MS = 60_000;

/** Periodic reload, with at most one registration of a visitor between two reloads. */
export class Reloads {
  private cancelReloading: (() => void) | null = null;
  private mayRegister = true;

  constructor(
    private readonly clock: Clock,
    private readonly reload: () => void,
  ) {}

  start(): void {
    this.cancelReloading = this.clock.after(RELOAD_MS, () => {
      this.mayRegister = true;
      this.reload();
      this.start();
    });
  }

  /** Returns true if a visitor may register again before the next reload. */
  takeRegistration(): boolean {
    const { mayRegister } = this;
    this.mayRegister = false;
    return mayRegister;
  }

  stop(): void {
    this.cancelReloading?.();
  }
}
