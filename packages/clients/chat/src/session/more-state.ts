import type { Event } from '@parley/client';
import { batch } from '@preact/signals-core';
import type { Clock, Gateway } from '../kernel/ports.js';
import type { ChatState } from '../kernel/state.js';
import { addMore } from './rules.js';

/** Delay for batching reads and keystrokes. */
const COLLECT_MS = 100;
/** Maximum number of channels, and of users, in a request. */
const MAX_IDS = 100;

const CHANGES = ['stream', 'subscription', 'user_topic', 'realm_user'];

/** Fetches channels and users that a partial state lacks when something reads them. */
export class MoreState {
  /** Each id is fetched once per registration, also if it is unknown to the server. */
  private readonly asked = { stream_ids: new Set<number>(), user_ids: new Set<number>() };
  private readonly waiting = { stream_ids: new Set<number>(), user_ids: new Set<number>() };
  private readonly searched = new Set<string>();
  private query = '';
  /** Channels and users changed during the request, whose rows in the response may be outdated. */
  private changed: Set<number> | null = null;
  private cancel: (() => void) | null = null;

  constructor(
    private readonly state: ChatState,
    private readonly gateway: Gateway,
    private readonly clock: Clock,
  ) {
    state.channels.onMissing = (id) => this.want('stream_ids', id);
    state.people.onMissing = (id) => this.want('user_ids', id);
  }

  /** Forgets which ids are unknown to the server, after a registration. */
  restart(): void {
    for (const sets of [this.asked, this.waiting]) for (const set of Object.values(sets)) set.clear();
    this.searched.clear();
  }

  /** Fetches channels and users with a text in their name. */
  find(text: string): void {
    const query = text.trim().toLowerCase().slice(0, MAX_IDS);
    if (!this.state.isPartial || query === '' || this.searched.has(query)) return;
    this.query = query;
    this.schedule();
  }

  received(event: Event): void {
    if (!this.changed || !CHANGES.includes(event.type)) return;
    const { stream_id, stream_ids = [], streams = [], subscriptions = [], person } = event as {
      stream_id?: number;
      stream_ids?: readonly number[];
      streams?: readonly { stream_id: number }[];
      subscriptions?: readonly { stream_id: number }[];
      person?: { user_id: number };
    };
    const rows = [...streams, ...subscriptions].map((row) => row.stream_id);
    for (const id of [stream_id, ...stream_ids, ...rows, person?.user_id]) if (id !== undefined) this.changed.add(id);
  }

  stop(): void {
    this.cancel?.();
  }

  private want(list: keyof MoreState['asked'], id: number): void {
    if (!this.state.isPartial || this.asked[list].has(id)) return;
    this.asked[list].add(id);
    this.waiting[list].add(id);
    this.schedule();
  }

  private schedule(): void {
    if (this.changed === null) this.cancel ??= this.clock.after(COLLECT_MS, () => void this.fetch());
  }

  private async fetch(): Promise<void> {
    this.cancel = null;
    const changed = new Set<number>();
    this.changed = changed;
    const take = (ids: Set<number>) => [...ids].slice(0, MAX_IDS);
    const [stream_ids, user_ids, query] = [take(this.waiting.stream_ids), take(this.waiting.user_ids), this.query];
    for (const id of stream_ids) this.waiting.stream_ids.delete(id);
    for (const id of user_ids) this.waiting.user_ids.delete(id);
    this.query = '';
    try {
      const more = await this.gateway.get('/register/more', {
        ...{ stream_ids, user_ids, ...(query && { query }) },
        include_subscribers: 'partial',
      });
      if (query) this.searched.add(query);
      batch(() => addMore(this.state, more, (id) => !changed.has(id)));
      for (const id of stream_ids) if (changed.has(id)) this.waiting.stream_ids.add(id);
      for (const id of user_ids) if (changed.has(id)) this.waiting.user_ids.add(id);
    } catch {
      // Fetched when they are read again.
      for (const id of stream_ids) this.asked.stream_ids.delete(id);
      for (const id of user_ids) this.asked.user_ids.delete(id);
    }
    this.changed = null;
    if (this.waiting.stream_ids.size + this.waiting.user_ids.size > 0 || this.query) this.schedule();
  }
}
