import type { Event, InitialState, QueuePosition, Registered } from '@parley/client';
import type { Clock, Reach, TabEvents, TabMessage, Tabs } from '../kernel/ports.js';
import type { ConnectionView } from '../kernel/view-models.js';
import type { Presences, PresenceTeam } from '../people/presence.js';

/** Response timeout of the leader, including background tabs. */
const ANSWER_MS = 3000;
const ASK_EVERY_MS = 15_000;
/** Wait for the last events of a leader that closed. */
const SETTLE_MS = 50;

/** Chat functions that the coordinator controls. */
interface Member {
  /** Starts polling from a position, or else from the cache or a registration. */
  lead(from: QueuePosition | null): void;
  /** Stops polling. Returns the position of the last applied event. */
  follow(): QueuePosition | null;
  register(registered: Registered, queueId: string): void;
  apply(events: readonly Event[]): void;
  /** State as a register response. */
  present(): InitialState;
  connect(connection: ConnectionView, queueId: string | null): void;
  presences(presences: Presences): void;
  /** Refetches a message that the user changed in another tab. */
  changed(messageId: number, reach: Reach): void;
}

/** One of several tabs: the leader polls and broadcasts events; another tab takes over when it closes. */
export class TabCoordinator implements TabEvents, PresenceTeam {
  private readonly id = String(Math.random());
  private leads = false;
  /** Position up to which events are applied; null until the state is loaded. */
  private position: QueuePosition | null = null;
  /** Id of the last event broadcast to the other tabs. */
  private told = -1;
  private unsent: Event[] = [];
  private connection: ConnectionView = { state: 'starting', since: null, code: null };
  private isAnswered = false;
  /** True if a tab requested the state before it was loaded. */
  private isAsked = false;
  private isClosed = false;
  private cancel: (() => void) | null = null;
  private watched: string | null = null;
  private watchedElsewhere: { readonly from: string; readonly key: string } | null = null;
  private activeElsewhereAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly tabs: Tabs,
    private readonly clock: Clock,
    private readonly member: Member,
  ) {}

  get isLeader(): boolean {
    return this.leads;
  }

  start(): void {
    this.tabs.open(this);
    this.ask();
  }

  stop(): void {
    this.isClosed = true;
    this.leads = false;
    this.cancel?.();
    this.tabs.close();
  }

  onLead(): void {
    if (this.isClosed) return;
    this.cancel?.();
    const lead = () => {
      this.leads = true;
      this.told = this.position?.lastEventId ?? -1;
      this.unsent = [];
      this.member.lead(this.position);
    };
    if (this.position === null) lead();
    else this.cancel = this.clock.after(SETTLE_MS, lead);
  }

  onLost(): void {
    if (this.isClosed) return;
    this.cancel?.();
    if (this.leads) {
      this.leads = false;
      this.position = this.member.follow() ?? this.position;
    }
    this.ask();
  }

  onMessage(message: TabMessage): void {
    if (this.isClosed) return;
    if (message.kind === 'watching') {
      const { from, key } = message;
      if (key !== null) this.watchedElsewhere = { from, key };
      else if (this.watchedElsewhere?.from === from) this.watchedElsewhere = null;
    } else if (message.kind === 'active') {
      this.activeElsewhereAt = this.clock.now();
    } else if (message.kind === 'changed') {
      this.member.changed(message.messageId, message.reach);
    } else if (this.leads) {
      if (message.kind === 'hello') this.answer(message.from, message.wantsState);
      // A logout in one tab ends all of them.
      else if (message.kind === 'connection' && message.connection.state === 'ended') this.connect(message.connection);
    } else {
      this.hear(message);
    }
  }

  /**
   * Starts from a state and sends it to tabs without one. `isReplaced`: the state does not continue the previous one,
   * so all tabs get it.
   */
  begin(state: InitialState | null, position: QueuePosition, isReplaced: boolean): void {
    this.position = position;
    this.told = position.lastEventId;
    this.unsent = [];
    if (isReplaced || this.isAsked) this.tellState(null, state);
    this.isAsked = false;
  }

  add(event: Event): void {
    this.unsent.push(event);
  }

  /** Broadcasts events up to a position, before the server may discard them. */
  flush(position: QueuePosition | null): void {
    if (!this.leads || position === null) return;
    this.position = position;
    if (this.unsent.length === 0) return;
    this.tabs.send({ kind: 'events', after: this.told, position, events: this.unsent });
    this.told = position.lastEventId;
    this.unsent = [];
  }

  /** Broadcasts the leader's connection state. */
  report(connection: ConnectionView): void {
    this.connection = connection;
    if (!this.isClosed) this.tabs.send({ kind: 'connection', connection });
  }

  /** Conversation open in this tab; null without focus. */
  watch(key: string | null): void {
    if (this.isClosed || key === this.watched) return;
    this.watched = key;
    this.tabs.send({ kind: 'watching', from: this.id, key });
  }

  isWatchedElsewhere(key: string): boolean {
    return this.watchedElsewhere?.key === key;
  }

  tellActive(): void {
    this.tabs.send({ kind: 'active' });
  }

  wasActiveElsewhere(withinMs: number): boolean {
    return this.clock.now() - this.activeElsewhereAt < withinMs;
  }

  tellPresences(presences: Presences): void {
    if (presences.length > 0) this.tabs.send({ kind: 'presences', presences });
  }

  tellChanged(messageId: number, reach: Reach): void {
    this.tabs.send({ kind: 'changed', messageId, reach });
  }

  /** Pings the leader and takes over leadership if there is no response. */
  private ask(): void {
    const askedAt = this.clock.now();
    this.isAnswered = false;
    this.sayHello();
    this.cancel = this.clock.after(ANSWER_MS, () => {
      // A late timer means that this tab was suspended.
      const wasAway = this.clock.now() - askedAt > 2 * ANSWER_MS;
      this.cancel = this.clock.after(wasAway ? 0 : ASK_EVERY_MS, () => this.ask());
      if (!this.isAnswered && !wasAway) this.tabs.steal();
    });
  }

  private sayHello(): void {
    this.tabs.send({ kind: 'hello', from: this.id, wantsState: this.position === null });
  }

  private answer(from: string, wantsState: boolean): void {
    this.tabs.send({ kind: 'alive' });
    if (!wantsState) return;
    if (this.position === null) this.isAsked = true;
    else this.tellState(from, null);
  }

  private tellState(to: string | null, state: InitialState | null): void {
    const { position, connection } = this;
    if (position === null) return;
    this.tabs.send({ kind: 'state', to, state: state ?? this.member.present(), position, connection });
  }

  /** Handles a message from the leader. */
  private hear(message: TabMessage): void {
    if (message.kind === 'hello') return;
    this.isAnswered = true;
    if (message.kind === 'state' && (message.to === null || message.to === this.id)) {
      const { state, position, connection } = message;
      const reason = this.position === null ? 'start' : 'expired';
      this.position = position;
      this.member.register({ type: 'registered', state, reason }, position.queueId);
      this.connect(connection);
    } else if (message.kind === 'events' && this.position !== null) {
      this.follow(this.position, message);
    } else if (message.kind === 'connection') {
      this.connect(message.connection);
    } else if (message.kind === 'presences') {
      this.member.presences(message.presences);
    }
  }

  private follow(
    { queueId, lastEventId }: QueuePosition,
    { after, position, events }: Extract<TabMessage, { readonly kind: 'events' }>,
  ): void {
    if (position.queueId !== queueId || after > lastEventId) {
      // Intermediate events are missing.
      this.position = null;
      this.sayHello();
      return;
    }
    this.member.apply(events.filter(({ id }) => id > lastEventId));
    if (position.lastEventId > lastEventId) this.position = position;
  }

  private connect(connection: ConnectionView): void {
    this.connection = connection;
    this.member.connect(connection, this.position?.queueId ?? null);
  }
}
