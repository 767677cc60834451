import type { Timers } from '@parley/domain/kernel';

/** Time without requests and units of work after which a server without event queues is quiet. */
const QUIET_AFTER_MS = 30_000;

/** Use of the server by anybody. Workers with nothing to do on an unused server rest while it is quiet. */
export class Activity {
  private usedAtMs: number;
  private readonly listeners: (() => void)[] = [];

  constructor(
    private readonly timers: Pick<Timers, 'elapsedMs'>,
    /** Returns true while somebody waits for events. */
    private readonly hasReceivers: () => boolean,
  ) {
    this.usedAtMs = timers.elapsedMs();
  }

  get isQuiet(): boolean {
    return this.timers.elapsedMs() - this.usedAtMs >= QUIET_AFTER_MS && !this.hasReceivers();
  }

  /** Records a request or a unit of work. */
  record(): void {
    const wasQuiet = this.isQuiet;
    this.usedAtMs = this.timers.elapsedMs();
    if (wasQuiet) for (const listener of this.listeners) listener();
  }

  /** Calls the listener when a quiet server is used again. */
  onResume(listener: () => void): void {
    this.listeners.push(listener);
  }
}
