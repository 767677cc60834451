import type { Event } from '@parley/client';
import { batch } from '@preact/signals-core';
import type { Clock, Gateway } from '../kernel/ports.js';
import type { ChatState } from '../kernel/state.js';
import { addMore } from './rules.js';

/** Delay for batching reads and keystrokes. */
const COLLECT_MS = 100;
/** Maximum number of channels, of users, and of characters in a request. */
const MAX = 100;

const CHANGES = ['stream', 'subscription', 'user_topic', 'realm_user'];

/** Ids of channels or users. */
class Ids {
  waiting: number[] = [];
  /** Each id is fetched once per registration, also if it is unknown to the server. */
  private readonly requested = new Set<number>();

  /** Returns true for a new id. Addresses and texts contain other numbers, which the server would refuse. */
  add(id: number): boolean {
    if (!Number.isSafeInteger(id) || this.requested.has(id)) return false;
    this.requested.add(id);
    this.waiting.push(id);
    return true;
  }

  clear(): void {
    this.requested.clear();
    this.waiting = [];
  }
}

/** Fetches channels and users that a partial state lacks when something reads them. */
export class MoreState {
  private readonly channels = new Ids();
  private readonly users = new Ids();
  private query = '';
  /** Channels and users changed during the request: their rows in the response may be outdated. */
  private changed: Set<number> | null = null;
  private cancel: (() => void) | null = null;

  constructor(
    private readonly state: ChatState,
    private readonly gateway: Gateway,
    private readonly clock: Clock,
  ) {
    const fetching = (ids: Ids) => (id: number) => {
      if (state.isPartial && ids.add(id)) this.schedule();
    };
    state.channels.onMissing = fetching(this.channels);
    state.people.onMissing = fetching(this.users);
  }

  /** Forgets which ids are unknown to the server, after a registration. */
  restart(): void {
    this.channels.clear();
    this.users.clear();
  }

  /** Fetches channels and users with a text in their name. */
  find(text: string): void {
    this.query = text.slice(0, MAX);
    if (this.state.isPartial && this.query) this.schedule();
  }

  received(event: Event): void {
    if (!this.changed || !CHANGES.includes(event.type)) return;
    // Any number may be an id. Fetching a row again does no harm.
    for (const id of JSON.stringify(event).match(/\d+/g) ?? []) this.changed.add(Number(id));
  }

  stop(): void {
    this.cancel?.();
  }

  private schedule(): void {
    if (!this.changed) this.cancel ??= this.clock.after(COLLECT_MS, () => void this.fetch());
  }

  private async fetch(): Promise<void> {
    this.cancel = null;
    const changed = new Set<number>();
    this.changed = changed;
    const { query } = this;
    const [stream_ids, user_ids] = [this.channels.waiting.splice(0, MAX), this.users.waiting.splice(0, MAX)];
    this.query = '';
    const more = await this.gateway.get('/register/more', { stream_ids, user_ids, query }).catch(() => null);
    this.changed = null;
    const isLeft = (id: number) => !more || changed.has(id);
    batch(() => more && addMore(this.state, more, (id) => !isLeft(id)));
    this.channels.waiting.push(...stream_ids.filter(isLeft));
    this.users.waiting.push(...user_ids.filter(isLeft));
    // The next missing object retries after a failure.
    if (more && (this.channels.waiting[0] || this.users.waiting[0] || this.query)) this.schedule();
  }
}
