import type { MessageEvent } from '@parley/client';
import { type Destination, destinationKey } from '../kernel/narrow.js';
import type { ChatState } from '../kernel/state.js';
import { type Arrival, arrivalOf } from '../messages/arrivals.js';
import type { TabCoordinator } from './tab-coordinator.js';

/** Announces new messages in one of several tabs, except in the conversation that the user is reading. */
export class Announcements {
  private readonly listeners = new Set<(arrival: Arrival) => void>();
  private watched: string | null = null;

  constructor(
    private readonly state: ChatState,
    private readonly team: TabCoordinator | null,
  ) {}

  /** Sets the conversation in view, which suppresses its announcements; null without focus. */
  watch(destination: Destination | null): void {
    this.watched = destination && destinationKey(destination);
    this.team?.watch(this.watched);
  }

  /** Returns an unsubscribe function. */
  subscribe(listener: (arrival: Arrival) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  announce(event: MessageEvent): void {
    if (this.listeners.size === 0 || this.team?.isLeader === false) return;
    const arrival = arrivalOf(this.state, event);
    if (!arrival) return;
    const key = destinationKey(arrival.destination);
    if (key === this.watched || this.team?.isWatchedElsewhere(key)) return;
    for (const listener of this.listeners) listener(arrival);
  }
}
