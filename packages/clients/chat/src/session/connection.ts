import { type Event, ParleyError, type QueuePosition, type Registered } from '@parley/client';
import { type Signal, signal } from '@preact/signals-core';
import type { CachedChat, ChatCache, Clock, EventSource, Gateway, Reach, Tabs } from '../kernel/ports.js';
import type { Reading } from '../kernel/reactive.js';
import type { ChatState } from '../kernel/state.js';
import type { ConnectionView } from '../kernel/view-models.js';
import { applyPresences } from '../people/presence.js';
import { CatchUp } from './catch-up.js';
import { Journal } from './journal.js';
import { Reloads } from './reloads.js';
import { present } from './rules.js';
import { TabCoordinator } from './tab-coordinator.js';

/** A page closed overnight resumes its queue. */
const IDLE_QUEUE_SECONDS = 12 * 60 * 60;
/** Number of events in a response that indicates more to come (events §6.3). */
const MAX_EVENTS = 1000;

export interface ConnectionOptions {
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly cache: ChatCache | null;
  readonly tabs: Tabs | null;
  readonly isVisitor: boolean;
}

/** Chat that a connection keeps current. */
interface Receiver {
  /** Replaces the state; calls `Connection.registered` once it is in place. */
  begin(registered: Registered): void;
  /** Applies the events of one response. */
  apply(events: readonly Event[]): void;
  /** Applies the state of the last run. Throws if it is damaged. */
  restore(cached: CachedChat): void;
  /** Called after each registration: retries what failed without a connection. */
  online(queueId: string): void;
  /** Refetches open lists that do not receive events. */
  reload(): void;
  /** Refetches a message that the user changed in another tab. */
  changed(messageId: number, reach: Reach): void;
  /** Stops all background work. */
  stop(): void;
}

/**
 * Event queue of a chat: registers or continues the cached queue, and hands events to the chat. Stores events and
 * forwards them to other tabs before the next poll acknowledges them.
 */
export class Connection {
  /** Null if each chat polls separately. */
  readonly team: TabCoordinator | null;
  readonly journal: Journal;
  private readonly gateway: Gateway;
  private readonly clock: Clock;
  private readonly current: Signal<ConnectionView> = signal({ state: 'starting', since: null, code: null });
  private readonly ready = signal(false);
  private readonly catchUp: CatchUp;
  private readonly reloads: Reloads;
  private readonly keepsQueue: boolean;
  private readonly isVisitor: boolean;
  private events: EventSource | null = null;
  private isStopped = false;
  private over: (() => void) | null = null;

  constructor(
    private readonly state: ChatState,
    private readonly receiver: Receiver,
    { gateway, clock, cache, tabs, isVisitor }: ConnectionOptions,
  ) {
    this.gateway = gateway;
    this.clock = clock;
    this.isVisitor = isVisitor;
    this.journal = new Journal(state, cache);
    this.catchUp = new CatchUp(clock);
    this.reloads = new Reloads(clock, () => receiver.reload());
    this.team = tabs ? this.join(tabs) : null;
    this.keepsQueue = cache !== null || tabs !== null;
  }

  /** True once the organization's state is loaded. */
  get isReady(): Reading<boolean> {
    return this.ready;
  }

  get view(): Reading<ConnectionView> {
    return this.current;
  }

  /** Applies events until `stop`. Resolves when stopped, or when the log-in is no longer valid. */
  async run(): Promise<void> {
    const isOver = new Promise<void>((resolve) => {
      this.over = resolve;
    });
    if (!this.isVisitor) this.reloads.start();
    if (this.team) this.team.start();
    else await this.poll(null);
    await isOver;
  }

  /** Ends only this connection: the other tabs no longer hear from it. */
  stop(): void {
    this.quit();
    this.leave(null);
  }

  /** Ends this connection and those of other tabs after a logout. */
  leave(code: string | null): void {
    if (this.current.peek().state === 'ended') return;
    this.team?.report({ state: 'ended', since: this.clock.now(), code });
    this.end(code);
  }

  end(code: string | null): void {
    this.connect({ state: 'ended', since: this.clock.now(), code });
  }

  /** Called when the state of a new queue is in place. */
  registered(): void {
    this.catchUp.finish(null);
    this.ready.value = true;
    this.report('online');
  }

  /** Resolves to true if the cached snapshot is not newer than a position, so that all later events were applied. */
  hasCaughtUp(from: QueuePosition): Promise<boolean> {
    return this.catchUp.includes(from);
  }

  /** Registers again to detect that a visitor lost access, since no event reports it. */
  registerAgain(): void {
    if (!this.isVisitor || !this.ready.peek() || this.isStopped || !this.reloads.takeRegistration()) return;
    this.reloads.stop();
    void this.poll(null);
  }

  private quit(): void {
    this.isStopped = true;
    this.receiver.stop();
    this.reloads.stop();
    this.catchUp.stop();
    this.team?.stop();
    this.events?.close();
  }

  /**
   * Applies events from a position until the poll is closed; without a position, resumes from the cache or registers.
   */
  private async poll(from: QueuePosition | null): Promise<void> {
    let position = from;
    let since: QueuePosition | null = null;
    if (position === null && !this.ready.peek()) {
      const cached = await this.journal.load();
      if (this.isStopped) return;
      position = cached && this.restore(cached) ? cached.position : null;
      since = position && { ...position, lastEventId: cached!.since };
      if (since) this.catchUp.begin();
    } else {
      // The cache may be behind the state.
      this.journal.registered();
    }
    const together: Event[] = [];
    let polls = 0;
    const events: EventSource = this.gateway.events(
      this.isVisitor
        ? {}
        : {
            ...{ idle_queue_timeout: IDLE_QUEUE_SECONDS, include_subscribers: 'partial' },
            client_capabilities: { partial_state: true },
          },
      {
        keepsQueue: this.keepsQueue,
        ...(position && { resume: position }),
        beforePoll: () => {
          const received = together.splice(0);
          this.receiver.apply(received);
          if (polls++ > 0 && received.length < MAX_EVENTS) this.catchUp.finish(since);
          return this.keep(events.position);
        },
        onConnection: (state) => this.report(state),
      },
    );
    this.events = events;
    try {
      for await (const event of events) {
        if (event.type === 'registered') {
          // A different person logged in after the session ended.
          if ((this.state.fields.peek('user_id') ?? event.state.user_id) !== event.state.user_id) {
            this.leave('UNAUTHORIZED');
            return;
          }
          const isReplaced = this.ready.peek();
          this.receiver.begin(event);
          this.journal.registered();
          if (events.position) this.team?.begin(event.state, events.position, isReplaced);
        } else {
          together.push(event);
          this.journal.add(event);
          this.team?.add(event);
        }
      }
      // Another tab may have taken the lead.
      if (this.isVisitor && !this.isStopped) this.reloads.start();
      else if (!this.team) this.end(null);
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      this.end(error.endsLogIn ? error.code : null);
    } finally {
      if (this.events === events) this.events = null;
    }
  }

  /** Forwards and stores events before the next poll acknowledges them. */
  private keep(position: QueuePosition | null): Promise<void> {
    this.team?.flush(position);
    return this.journal.flush(position);
  }

  /** Restores the state of the last run. Returns false if it is damaged. */
  private restore(cached: CachedChat): boolean {
    try {
      this.receiver.restore(cached);
    } catch {
      return false;
    }
    this.ready.value = true;
    this.report('online');
    this.receiver.online(cached.position.queueId);
    this.team?.begin(null, cached.position, false);
    return true;
  }

  private join(tabs: Tabs): TabCoordinator {
    return new TabCoordinator(tabs, this.clock, {
      lead: (from) => void this.poll(from),
      follow: () => {
        const position = this.events?.position ?? null;
        this.events?.close();
        return position;
      },
      register: (registered, queueId) => {
        this.receiver.begin(registered);
        this.receiver.online(queueId);
      },
      apply: (events) => this.receiver.apply(events),
      present: () => present(this.state),
      connect: (connection, queueId) => {
        this.connect(connection);
        if (connection.state === 'online' && queueId !== null) this.receiver.online(queueId);
      },
      presences: (presences) => applyPresences(this.state, presences),
      changed: (messageId, reach) => this.receiver.changed(messageId, reach),
    });
  }

  private report(state: 'online' | 'offline'): void {
    this.connect({ state, since: state === 'offline' ? this.clock.now() : null, code: null });
    const queueId = this.events?.queueId;
    if (state === 'online' && queueId) this.receiver.online(queueId);
  }

  private connect(connection: ConnectionView): void {
    this.current.value = connection;
    if (this.team?.isLeader) this.team.report(connection);
    if (connection.state !== 'ended') return;
    // An error has ended the log-in; otherwise the stored data belongs to the next start.
    if (connection.code !== null) void this.journal.clear();
    this.quit();
    this.over?.();
  }
}
