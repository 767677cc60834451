import { type Event, type MessageEvent, ParleyError, type QueuePosition, type ReceivedEvent } from '@parley/client';
import { batch, effect, type Signal, signal, untracked } from '@preact/signals-core';
import { Topics } from '../channels/topics.js';
import {
  type Address,
  type Destination,
  formatAddress,
  type Narrow,
  narrowOf,
  parseAddress,
  withoutSelf,
} from '../kernel/narrow.js';
import {
  type CachedChat,
  type ChatCache,
  type Clock,
  type EventSource,
  type Gateway,
  type OutboxStorage,
  SYSTEM_CLOCK,
  type Tabs,
} from '../kernel/ports.js';
import { type Reading, Table } from '../kernel/reactive.js';
import { ChatState, type Fields } from '../kernel/state.js';
import type { ConnectionView, ConversationView, MessageRow, OutgoingMessage } from '../kernel/view-models.js';
import type { Arrival } from '../messages/arrivals.js';
import { Commands, type Reach } from '../messages/commands.js';
import { comesAsEvents, hasJoined } from '../messages/match.js';
import { keyOf } from '../messages/message-list.js';
import { MessageLists } from '../messages/message-lists.js';
import { MessageRows } from '../messages/message-rows.js';
import { Outbox } from '../messages/outbox.js';
import { ReadMarks } from '../messages/read-marks.js';
import { Rights } from '../messages/rights.js';
import { destinationOfMessage } from '../messages/unread.js';
import { Conversations } from '../navigation/conversations.js';
import { Sidebar } from '../navigation/sidebar.js';
import { People } from '../people/person-rows.js';
import { applyPresences, PresenceReports } from '../people/presence.js';
import { Typing } from '../people/typing.js';
import { Announcements } from './announcements.js';
import { CatchUp } from './catch-up.js';
import { Journal } from './journal.js';
import { KeptLists } from './kept-lists.js';
import { Reloads } from './reloads.js';
import { applyEvent, begin, present } from './rules.js';
import { TabCoordinator } from './tab-coordinator.js';

export interface ChatOptions {
  /** A `ParleyClient`. */
  readonly gateway: Gateway;
  readonly clock?: Clock;
  /** Persists state and queue for the next start; by default each start registers. */
  readonly cache?: ChatCache;
  /** Persists unsent messages for the next start. */
  readonly outboxStorage?: OutboxStorage;
  /** Other tabs of the same person, which share one poll; by default each chat polls separately. */
  readonly tabs?: Tabs;
  /** User id, if known before the state: lets cached messages show at once. */
  readonly userId?: number;
  /** True for a gateway without an account, which reads web-public channels and receives no events. */
  readonly isVisitor?: boolean;
  /**
   * Reports presence while the chat runs: returns true if the user was recently active. By default nothing is reported.
   */
  readonly isActive?: () => boolean;
}

/** A page closed overnight resumes its queue. */
const IDLE_QUEUE_SECONDS = 12 * 60 * 60;
/** Number of events in a response that indicates more to come (events §6.3). */
const MAX_EVENTS = 1000;
/** Number of new messages after which unused messages are removed. */
const SWEEP_EVERY = 2000;

/** A user's chat: state kept current by events, with views and commands for a user interface. */
export class Chat {
  /** All known data in API terms. User interfaces should use views instead. */
  readonly state = new ChatState();
  readonly sidebar: Sidebar;
  readonly conversations: Conversations;
  readonly people: People;
  readonly typing: Typing;
  readonly commands: Commands;
  readonly outbox: Outbox;
  /** Actions allowed by the server rules. */
  readonly rights: Rights;
  private readonly presence: PresenceReports | null;
  private readonly team: TabCoordinator | null;
  private readonly topics: Topics;
  private readonly lists: MessageLists;
  private readonly rows: MessageRows;
  private readonly marks: ReadMarks;
  /** Own message ids by key; observed, because a message may be fetched before the event with its key. */
  private readonly sentIds = new Table<string, number>();
  private readonly connected: Signal<ConnectionView> = signal({ state: 'starting', since: null, code: null });
  private readonly ready = signal(false);
  private readonly catchUp: CatchUp;
  /** Null without a cache. */
  private readonly keptLists: KeptLists | null;
  private readonly announcements: Announcements;
  /** Refetches open lists that do not receive events: unsubscribed channels, and all lists of a visitor. */
  private readonly reloads: Reloads;
  private readonly gateway: Gateway;
  private readonly clock: Clock;
  private events: EventSource | null = null;
  private sweptAt = 0;
  private readonly journal: Journal;
  /** True without an account: read-only. */
  readonly isVisitor: boolean;
  private isStopped = false;
  private over: (() => void) | null = null;

  constructor(options: ChatOptions) {
    const { gateway, clock = SYSTEM_CLOCK, cache, isActive, outboxStorage, tabs, userId, isVisitor = false } = options;
    if (userId !== undefined) this.state.fields.set('user_id', userId);
    this.isVisitor = isVisitor;
    this.journal = new Journal(this.state, cache ?? null);
    this.keptLists = cache ? new KeptLists(this.journal, clock) : null;
    this.catchUp = new CatchUp(clock);
    this.reloads = new Reloads(clock, () => {
      if (isVisitor) this.lists.restart();
      else this.lists.reload((channelId) => !hasJoined(this.state, channelId));
    });
    this.gateway = gateway;
    this.clock = clock;
    this.team = tabs ? this.join(tabs) : null;
    this.announcements = new Announcements(this.state, this.team);
    this.sidebar = new Sidebar(this.state);
    this.conversations = new Conversations(this.sidebar, this.state);
    this.people = new People(this.state, clock);
    this.typing = new Typing(this.state, gateway, clock);
    this.presence = isActive
      ? new PresenceReports(this.state, gateway, clock, isActive, this.team, () => this.people.tick())
      : null;
    this.commands = new Commands(this.state, gateway, (id, reach) => this.fetchChanged(id, reach));
    this.topics = new Topics(this.state, gateway, clock);
    this.outbox = new Outbox(gateway, clock, outboxStorage ?? null, {
      selfId: () => this.state.selfId,
      hasMessage: (id) => this.state.messages.peek(id) !== undefined,
      sentIds: this.sentIds,
      onSent: (message) => {
        if (!comesAsEvents(this.state, narrowOf(message.destination))) void this.fetchSent(message);
      },
    });
    this.rights = new Rights(this.state, clock);
    this.marks = new ReadMarks(this.state, gateway, clock);
    this.lists = new MessageLists(this.state, gateway, {
      seen: (narrow, ids) => this.marks.seen(narrow, ids),
      markUnreadFrom: (narrow, id) => this.marks.flush().then(() => this.commands.markUnreadFrom(narrow, id)),
      outgoing: (narrow) => this.outbox.keysIn(narrow),
      cached: (key) => this.journal.messages(key),
      isStarting: () => !this.ready.peek(),
      caughtUp: (from) => this.catchUp.includes(from),
      fetched: () => this.lists.addOwn(this.outbox.reconcile()),
      missed: () => this.registerAgain(),
      changed: (list) => this.keptLists?.keepLater(list),
    });
    this.rows = new MessageRows(this.state, this.outbox, this.sentIds);
  }

  /** True once the organization's state is loaded. Messages may show earlier. */
  get isReady(): Reading<boolean> {
    return this.ready;
  }

  get connection(): Reading<ConnectionView> {
    return this.connected;
  }

  /** Field of the register response, such as `realm_name` or `user_settings`. Observed inside computations. */
  field<F extends keyof Fields>(name: F): Fields[F] {
    return this.state.fields.get(name);
  }

  /** Registers or continues the cached queue, then applies events until `stop`. Resolves when stopped, or when the log-in is no longer valid. */
  async run(): Promise<void> {
    this.outbox.restore();
    const isOver = new Promise<void>((resolve) => {
      this.over = resolve;
    });
    if (!this.isVisitor) this.reloads.start();
    if (this.team) this.team.start();
    else await this.poll(null);
    await isOver;
  }

  stop(): void {
    this.quit();
    this.outbox.close();
    if (this.connected.peek().state !== 'ended') this.end(null);
  }

  /** Stops this chat and those of other tabs after a logout. Unsent messages wait for the next start. */
  leave(code: string | null = null): void {
    if (this.connected.peek().state === 'ended') return;
    this.team?.report({ state: 'ended', since: this.clock.now(), code });
    this.end(code);
  }

  /** Stops all background work. */
  private quit(): void {
    this.isStopped = true;
    this.keptLists?.stop();
    this.reloads.stop();
    this.catchUp.stop();
    this.presence?.stop();
    this.topics.stop();
    this.typing.stopped();
    this.outbox.stop();
    this.marks.stop();
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
      this.isVisitor ? {} : { idle_queue_timeout: IDLE_QUEUE_SECONDS, include_subscribers: 'partial' },
      {
        keepsQueue: this.keptLists !== null || this.team !== null,
        ...(position && { resume: position }),
        beforePoll: () => {
          const received = together.splice(0);
          this.receiveAll(received);
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
          this.receive(event);
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
      this.end(error.code);
    } finally {
      if (this.events === events) this.events = null;
    }
  }

  /** Registers again to detect that a visitor lost access, since no event reports it. */
  private registerAgain(): void {
    if (!this.isVisitor || !this.ready.peek() || this.isStopped || !this.reloads.takeRegistration()) return;
    this.reloads.stop();
    void this.poll(null);
  }

  /** Forwards and stores events before the next poll acknowledges them. */
  private keep(position: QueuePosition | null): Promise<void> {
    this.team?.flush(position);
    return this.journal.flush(position);
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
        this.receive(registered);
        this.online(queueId);
      },
      apply: (events) => this.receiveAll(events),
      present: () => present(this.state),
      connect: (connection, queueId) => {
        this.connected.value = connection;
        if (connection.state === 'online' && queueId !== null) this.online(queueId);
        if (connection.state !== 'ended') return;
        this.quit();
        this.over?.();
      },
      presences: (presences) => applyPresences(this.state, presences),
    });
  }

  /** Opens the messages of a narrow at a message, or else at the first unread one. */
  open(narrow: Narrow, near: number | null = null): ConversationView {
    return this.lists.open(narrow, near);
  }

  /** Returns a message by its list key. */
  message(key: string): Reading<MessageRow | null> {
    return this.rows.message(key);
  }

  /** Returns the list key of a message id. */
  keyOf(messageId: number): string {
    return keyOf(this.state, messageId);
  }

  /** Sends a message: shows it at once, holds it while offline, and delivers it exactly once. Returns its key. */
  send(destination: Destination, content: string): string {
    return this.outbox.add(destination, content);
  }

  /** Fetches all topics of a channel into `sidebar.topics`. */
  loadTopics(channelId: number): Promise<void> {
    return this.topics.load(channelId);
  }

  /** Fetches recent topics of all channels into `conversations.recent`. */
  loadRecentTopics(): Promise<void> {
    return this.topics.loadRecent();
  }

  /** Parses the `#…` part of an address; null if it is invalid. */
  parseAddress(hash: string): Address | null {
    return this.ownAddress(parseAddress(hash));
  }

  /** Removes the user from the participants of direct conversations in an address. */
  ownAddress(address: Address | null): Address | null {
    return withoutSelf(address, this.state.selfId);
  }

  /** Formats the `#…` part of an address as Zulip's client does. */
  formatAddress(address: Address): string {
    return formatAddress(address, {
      selfId: this.state.selfId,
      channel: (id) => this.state.channels.peek(id)?.channel.name,
      person: (id) => this.state.people.peek(id)?.user.full_name,
    });
  }

  /** Applies the events of one response in a batch, so that thousands of missed events update the display once. */
  private receiveAll(events: readonly Event[]): void {
    batch(() => {
      for (const event of events) if (event.type !== 'heartbeat') this.receive(event);
    });
  }

  /** Applies one event from the own poll or from another tab. */
  receive(event: ReceivedEvent): void {
    batch(() => {
      if (event.type === 'registered') {
        begin(this.state, event.state);
        this.catchUp.finish(null);
        this.marks.reapply();
        // Messages opened before the state was loaded may be older than the queue.
        this.lists.restart();
        this.ready.value = true;
        this.presence?.start();
        this.report('online');
        this.outbox.online(event.state.queue_id);
        return;
      }
      this.lists.before(event);
      applyEvent(this.state, event);
      if (event.type === 'message') this.recognize(event);
      this.lists.after(event);
      this.topics.received(event);
      if (event.type === 'typing') this.typing.received(event);
      if (event.type === 'message') {
        this.typing.sent(destinationOfMessage(this.state, event.message), event.message.sender_id);
      }
    });
    if (event.type === 'realm' && event.op === 'deactivated') this.end('REALM_DEACTIVATED');
    if (event.type === 'message') this.announcements.announce(event);
    if (this.state.messages.all().size > this.sweptAt + SWEEP_EVERY) this.sweep();
  }

  /** Sets the conversation in view, which suppresses its notifications; null without focus. */
  watch(destination: Destination | null): void {
    this.announcements.watch(destination);
  }

  /** Calls back in one of several tabs for each message to announce. Returns an unsubscribe function. */
  onArrival(listener: (arrival: Arrival) => void): () => void {
    return this.announcements.subscribe(listener);
  }

  /** Calls back at once and whenever unread messages change. Returns an unsubscribe function. */
  onUnreadChange(listener: () => void): () => void {
    return effect(() => {
      this.state.unread.tallies.values();
      untracked(listener);
    });
  }

  /** True for a read or deleted message. */
  isRead(messageId: number): boolean {
    const newest = this.state.fields.peek('max_message_id') ?? 0;
    return messageId <= newest && !this.state.unread.destinations.has(messageId);
  }

  /** Matches an arrived message to the local copy that this client sent. */
  private recognize({ local_message_id: key, message }: MessageEvent): void {
    if (key === undefined) return;
    this.sentIds.set(key, message.id);
    this.outbox.arrived(key);
  }

  /** Fetches a message sent to an unsubscribed channel, and preceding messages of other people. */
  private async fetchSent({ key, id }: OutgoingMessage & { readonly id: number }): Promise<void> {
    await this.fetchChanged(id, 'lists');
    batch(() => {
      this.state.messages.change(id, (message) => ({ ...message, localId: key }));
      this.sentIds.set(key, id);
      this.lists.addOwn(this.outbox.reconcile());
    });
  }

  private async fetchChanged(messageId: number, reach: Reach): Promise<void> {
    for (const channelId of await this.lists.fetchChanged(messageId, reach)) this.topics.outdate(channelId);
  }

  /** Restores the state of the last run. Returns false if it is damaged. */
  private restore({ state, events, position }: CachedChat): boolean {
    try {
      batch(() => {
        begin(this.state, state);
        for (const event of events) {
          applyEvent(this.state, event);
          if (event.type === 'message') this.recognize(event);
          this.lists.after(event, position.queueId);
        }
        this.ready.value = true;
      });
    } catch {
      return false;
    }
    this.presence?.start();
    this.report('online');
    this.outbox.online(position.queueId);
    this.team?.begin(null, position, false);
    return true;
  }

  private sweep(): void {
    this.lists.sweep();
    this.sweptAt = this.state.messages.all().size;
    batch(() => {
      for (const [key, id] of [...this.sentIds.all()])
        if (this.state.messages.peek(id) === undefined) this.sentIds.delete(key);
    });
  }

  private report(state: 'online' | 'offline'): void {
    const since = state === 'offline' ? this.clock.now() : null;
    this.connect({ state, since, code: null });
    const queueId = this.events?.queueId;
    if (state === 'online' && queueId) this.online(queueId);
  }

  /** Called after each registration: retries what failed without a connection. */
  private online(queueId: string): void {
    this.outbox.online(queueId);
    this.lists.retry();
  }

  private end(code: string | null): void {
    this.connect({ state: 'ended', since: this.clock.now(), code });
    this.quit();
    this.over?.();
  }

  private connect(connection: ConnectionView): void {
    this.connected.value = connection;
    if (this.team?.isLeader) this.team.report(connection);
  }
}
