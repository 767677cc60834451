import type { Event, MessageEvent, ReceivedEvent } from '@parley/client';
import { batch, effect, untracked } from '@preact/signals-core';
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
  type Gateway,
  type OutboxStorage,
  type Reach,
  SYSTEM_CLOCK,
  type Tabs,
} from '../kernel/ports.js';
import type { Reading } from '../kernel/reactive.js';
import { ChatState, type Fields } from '../kernel/state.js';
import type { ConnectionView, ConversationView, MessageRow, OutgoingMessage } from '../kernel/view-models.js';
import type { Arrival } from '../messages/arrivals.js';
import { Commands } from '../messages/commands.js';
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
import { PresenceReports } from '../people/presence.js';
import { Typing } from '../people/typing.js';
import { Announcements } from './announcements.js';
import { Connection, type ConnectionOptions } from './connection.js';
import { KeptLists } from './kept-lists.js';
import { MoreState } from './more-state.js';
import { applyEvent, begin } from './rules.js';

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
  /** User id, if known before the state: lets cached messages show immediately. */
  readonly userId?: number;
  /** True for a gateway without an account, which reads web-public channels and receives no events. */
  readonly isVisitor?: boolean;
  /**
   * Reports presence while the chat runs: returns true if the user was recently active. By default nothing is reported.
   */
  readonly isActive?: () => boolean;
}

/** Number of new messages after which unused messages are removed. */
const SWEEP_EVERY = 2000;

/** Number of newest messages from which recent topics are taken. */
const RECENT_MESSAGES = 500;

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
  /** True without an account: read-only. */
  readonly isVisitor: boolean;
  private readonly session: Connection;
  private readonly presence: PresenceReports | null;
  private readonly announcements: Announcements;
  private readonly topics: Topics;
  private readonly more: MoreState;
  private readonly lists: MessageLists;
  private readonly rows: MessageRows;
  private readonly marks: ReadMarks;
  /** Null without a cache. */
  private readonly keptLists: KeptLists | null;
  private sweptAt = 0;

  constructor(options: ChatOptions) {
    const { gateway, clock = SYSTEM_CLOCK, cache = null, tabs = null, isVisitor = false } = options;
    const { isActive, outboxStorage = null, userId } = options;
    if (userId !== undefined) this.state.fields.set('user_id', userId);
    this.isVisitor = isVisitor;
    this.session = this.connect({ gateway, clock, cache, tabs, isVisitor });
    const { team, journal } = this.session;
    this.keptLists = cache && new KeptLists(journal, clock);
    this.announcements = new Announcements(this.state, team);
    this.sidebar = new Sidebar(this.state);
    this.conversations = new Conversations(this.sidebar, this.state);
    this.people = new People(this.state, clock);
    this.typing = new Typing(this.state, gateway, clock);
    this.presence = isActive
      ? new PresenceReports(this.state, gateway, clock, isActive, team, () => this.people.tick())
      : null;
    this.commands = new Commands(this.state, gateway, (id, reach) => this.changed(id, reach));
    this.topics = new Topics(this.state, gateway, clock);
    this.more = new MoreState(this.state, gateway, clock);
    this.outbox = new Outbox(gateway, clock, outboxStorage, {
      selfId: () => this.state.selfId,
      hasMessage: (id) => this.state.messages.peek(id) !== undefined,
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
      cached: (key) => journal.messages(key),
      isStarting: () => !this.isReady.peek(),
      caughtUp: (from) => this.session.hasCaughtUp(from),
      fetched: () => this.lists.addOwn(this.outbox.reconcile()),
      missed: () => this.session.registerAgain(),
      changed: (list) => this.keptLists?.keepLater(list),
    });
    this.rows = new MessageRows(this.state, this.outbox);
  }

  /** True once the organization's state is loaded. Messages may show earlier. */
  get isReady(): Reading<boolean> {
    return this.session.isReady;
  }

  get connection(): Reading<ConnectionView> {
    return this.session.view;
  }

  /** Field of the register response, such as `realm_name` or `user_settings`. Observed inside computations. */
  field<F extends keyof Fields>(name: F): Fields[F] {
    return this.state.fields.get(name);
  }

  /**
   * Registers or continues the cached queue, then applies events until `stop`. Resolves when stopped, or when the log-in
   * is no longer valid.
   */
  async run(): Promise<void> {
    this.outbox.restore();
    await this.session.run();
  }

  stop(): void {
    this.outbox.close();
    this.session.stop();
  }

  /** Stops this chat and those of other tabs after a logout. Unsent messages wait for the next start. */
  leave(code: string | null = null): void {
    this.session.leave(code);
  }

  /** Refetches open lists that receive no events. Also called each minute. */
  reload(): void {
    // A visitor's lists receive no events at all.
    if (this.isVisitor) this.lists.restart();
    else this.lists.reload((channelId) => !hasJoined(this.state, channelId));
  }

  private connect(options: ConnectionOptions): Connection {
    return new Connection(
      this.state,
      {
        begin: (registered) => this.receive(registered),
        apply: (events) => this.receiveAll(events),
        restore: (cached) => this.restore(cached),
        online: (queueId) => {
          this.outbox.online(queueId);
          this.lists.retry();
        },
        reload: () => this.reload(),
        changed: (messageId, reach) => void this.fetchChanged(messageId, reach),
        stop: () => {
          this.keptLists?.stop();
          this.presence?.stop();
          this.topics.stop();
          this.more.stop();
          this.typing.stopped();
          this.outbox.stop();
          this.marks.stop();
        },
      },
      options,
    );
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

  /** Sends a message: shows it immediately, holds it while offline, and delivers it exactly once. Returns its key. */
  send(destination: Destination, content: string): string {
    return this.outbox.add(destination, content);
  }

  /** Fetches all topics of a channel into `sidebar.topics`. */
  loadTopics(channelId: number): Promise<void> {
    return this.topics.load(channelId);
  }

  /** Fetches the newest messages, and recent topics of all channels into `conversations.recent`. */
  loadRecentTopics(): Promise<void> {
    return this.topics.addRecent(this.lists.pages.fetch([], 'newest', RECENT_MESSAGES, 0));
  }

  /** Fetches messages that no list shows, which are removed once there are thousands of them. */
  async loadMessages(ids: readonly number[]): Promise<void> {
    await this.lists.pages.fetchByIds(ids);
  }

  /**
   * Fetches channels and people with a text in their name, if the organization is so large that the state lacks some.
   * Readings change when they arrive.
   */
  find(text: string): void {
    this.more.find(text);
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
        this.more.restart();
        begin(this.state, event.state);
        this.marks.reapply();
        // Messages opened before the state was loaded may be older than the queue.
        this.lists.restart();
        this.session.registered();
        this.presence?.start();
        this.outbox.online(event.state.queue_id);
        return;
      }
      this.lists.before(event);
      applyEvent(this.state, event);
      this.more.received(event);
      if (event.type === 'message') this.recognize(event);
      this.lists.after(event);
      this.topics.received(event);
      if (event.type === 'application_data' && event.object_type === 'message') this.lists.pages.renew(event.object_id);
      if (event.type === 'typing') this.typing.received(event);
      if (event.type === 'message') {
        this.typing.sent(destinationOfMessage(this.state, event.message), event.message.sender_id);
      }
    });
    if (event.type === 'realm' && event.op === 'deactivated') this.session.end('REALM_DEACTIVATED');
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

  /** Calls back immediately and whenever unread messages change. Returns an unsubscribe function. */
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
    // An own message that was first sent with a lost queue has no key.
    if (key === undefined) this.outbox.reconcile();
    else this.outbox.arrived(key, message.id);
  }

  /** Fetches a message sent to an unsubscribed channel, and preceding messages of other people. */
  private async fetchSent({ key, id }: OutgoingMessage & { readonly id: number }): Promise<void> {
    await this.changed(id, 'lists');
    batch(() => {
      this.state.messages.change(id, (message) => ({ ...message, localId: key }));
      this.outbox.sentIds.set(key, id);
      this.lists.addOwn(this.outbox.reconcile());
    });
  }

  /** Refetches a message that the user changed, in all tabs. */
  private changed(messageId: number, reach: Reach): Promise<void> {
    this.session.team?.tellChanged(messageId, reach);
    return this.fetchChanged(messageId, reach);
  }

  private async fetchChanged(messageId: number, reach: Reach): Promise<void> {
    for (const channelId of await this.lists.fetchChanged(messageId, reach)) this.topics.outdate(channelId);
  }

  private restore({ state, events, position }: CachedChat): void {
    batch(() => {
      begin(this.state, state);
      for (const event of events) {
        applyEvent(this.state, event);
        if (event.type === 'message') this.recognize(event);
        this.lists.after(event, position.queueId);
      }
    });
    this.presence?.start();
  }

  private sweep(): void {
    this.lists.sweep();
    this.sweptAt = this.state.messages.all().size;
    this.outbox.sweep();
  }
}
