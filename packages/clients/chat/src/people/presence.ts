import { batch } from '@preact/signals-core';
import type { Clock, Gateway } from '../kernel/ports.js';
import type { ChatState, PresenceState } from '../kernel/state.js';

const INTERVAL_SECONDS = 60;

/** Presences by person id. */
export type Presences = readonly (readonly [id: number, presence: PresenceState])[];

/** Tabs of the same person, one of which reports presence for all. */
export interface PresenceTeam {
  readonly isLeader: boolean;
  tellActive(): void;
  wasActiveElsewhere(withinMs: number): boolean;
  tellPresences(presences: Presences): void;
}

/** Reports the user's presence once a minute and receives that of other people (users §8). */
export class PresenceReports {
  private cancel: (() => void) | null = null;
  private isRunning = false;

  constructor(
    private readonly state: ChatState,
    private readonly gateway: Gateway,
    private readonly clock: Clock,
    private readonly isActive: () => boolean,
    private readonly team: PresenceTeam | null,
    /** Called after each attempt, because presences also expire by time. */
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
    const ms = (this.state.fields.peek('server_presence_ping_interval_seconds') ?? INTERVAL_SECONDS) * 1000;
    if (this.team === null || this.team.isLeader) await this.send(ms);
    else if (this.isActive()) this.team.tellActive();
    if (!this.isRunning) return;
    this.onReport();
    this.cancel = this.clock.after(ms, () => void this.report());
  }

  private async send(intervalMs: number): Promise<void> {
    // Other tabs report activity once per interval.
    const isActive = this.isActive() || this.team?.wasActiveElsewhere(1.5 * intervalMs) === true;
    try {
      const answer = await this.gateway.post('/users/me/presence', {
        status: isActive ? 'active' : 'idle',
        new_user_input: isActive,
        last_update_id: this.state.fields.peek('presence_last_update_id') ?? -1,
      });
      const presences = presencesOf(answer);
      applyPresences(this.state, presences);
      this.team?.tellPresences(presences);
      this.state.fields.set('presence_last_update_id', answer.presence_last_update_id!);
    } catch {
      // The next report retries.
    }
  }
}

export const presencesOf = (answer: { readonly presences?: object | undefined }): Presences =>
  Object.entries(answer.presences ?? {}).map(([id, presence]) => [Number(id), presence]);

export function applyPresences(state: ChatState, presences: Presences): void {
  batch(() => {
    for (const [id, presence] of presences) state.presences.set(id, presence);
  });
}
