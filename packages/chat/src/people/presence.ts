import { batch } from '@preact/signals-core';
import type { Clock, Gateway } from '../kernel/ports.js';
import type { ChatState, PresenceState } from '../kernel/state.js';

const INTERVAL_SECONDS = 60;

/** Reports the user's presence once a minute, and learns that of others (users §8). */
export class PresenceReports {
  private lastUpdateId: number | null = null;
  private cancel: (() => void) | null = null;
  private isRunning = false;

  constructor(
    private readonly state: ChatState,
    private readonly gateway: Gateway,
    private readonly clock: Clock,
    private readonly isActive: () => boolean,
    /** Called after each attempt, because presences also end by time. */
    private readonly onReport: () => void,
  ) {}

  start(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    void this.report();
  }

  stop(): void {
    this.isRunning = false;
    this.cancel?.();
  }

  private async report(): Promise<void> {
    const isActive = this.isActive();
    try {
      const answer = await this.gateway.post('/users/me/presence', {
        status: isActive ? 'active' : 'idle',
        new_user_input: isActive,
        last_update_id: this.lastUpdateId ?? -1,
      });
      const presences = Object.entries(answer.presences ?? {}) as [string, PresenceState][];
      batch(() => {
        for (const [id, presence] of presences) this.state.presences.set(Number(id), presence);
      });
      this.lastUpdateId = answer.presence_last_update_id ?? this.lastUpdateId;
    } catch {
      // The next report makes up for it.
    }
    if (!this.isRunning) return;
    this.onReport();
    const seconds = this.state.fields.peek('server_presence_ping_interval_seconds') ?? INTERVAL_SECONDS;
    this.cancel = this.clock.after(seconds * 1000, () => void this.report());
  }
}
