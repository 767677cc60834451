import type {
  Channel,
  Event,
  InitialState,
  Message,
  Subscription,
  User,
  UserGroup,
  UserStatus,
  UserTopic,
} from '@parley/client';
import type { Destination } from './narrow.js';
import { Table } from './reactive.js';

type EventNamed<T extends Event['type']> = Extract<Event, { readonly type: T }>;

/** Applies an event to the state. */
export type Rule<T extends Event['type']> = (state: ChatState, event: EventNamed<T>) => void;

/** A rule for each type of event; a missing one does not compile. */
export type EventRules = { readonly [T in Event['type']]: Rule<T> };

/** Fields of the register response that have tables of their own. */
export const TABLE_FIELDS = [
  'realm_users',
  'realm_non_active_users',
  'cross_realm_bots',
  'subscriptions',
  'unsubscribed',
  'never_subscribed',
  'streams',
  'unread_msgs',
  'starred_messages',
  'recent_private_conversations',
  'user_topics',
  'realm_user_groups',
  'user_status',
  'presences',
] as const;

/** Fields of the register response that are kept as they are. */
export type Fields = Omit<InitialState, (typeof TABLE_FIELDS)[number]>;

/** A feature's part of the state: from a register response, and back into the form of one, for the cache. */
export interface StatePart {
  begin(state: ChatState, answer: InitialState): void;
  present(state: ChatState): Partial<InitialState>;
}

export interface PersonState {
  readonly user: User;
  readonly list: 'realm_users' | 'realm_non_active_users' | 'cross_realm_bots';
}

type OwnProperty = Exclude<keyof Subscription, keyof Channel | 'subscribers'>;

export interface ChannelState {
  readonly channel: Channel;
  /** The user's own settings; kept after unsubscribing, null if never subscribed. */
  readonly own: Pick<Subscription, OwnProperty> | null;
  readonly membership: 'subscribed' | 'former' | 'never' | null;
  /** False for former subscriptions that the server lists without access. */
  readonly isListed: boolean;
}

export interface UnreadTally {
  readonly count: number;
  readonly mentions: number;
  readonly newest: number;
}

/** Message without what changes together with it in other tables. */
export type StoredMessage = Message & { readonly localId?: string };

export interface RecentDirect {
  readonly userIds: readonly number[];
  readonly maxMessageId: number;
}

export interface Topic {
  readonly channelId: number;
  readonly name: string;
  readonly maxId: number;
}

export interface PresenceState {
  readonly active_timestamp: number;
  readonly idle_timestamp: number;
}

/** Everything a client knows. Changed by rules and by optimistic commands only. */
export class ChatState {
  readonly fields = new FieldTable();
  readonly people = new Table<number, PersonState>();
  readonly statuses = new Table<number, UserStatus>();
  readonly presences = new Table<number, PresenceState>();
  readonly groups = new Table<number, UserGroup>();
  readonly channels = new Table<number, ChannelState>();
  readonly subscribers = new Table<number, readonly number[]>();
  /** Policies by `topicKey`. */
  readonly policies = new Table<string, UserTopic>();
  /** Topics of channels by `topicKey` of those channels in `loadedTopics`, and of messages seen. */
  /** Unix seconds of recent messages, which need not be among `messages`. */
  readonly sentAt = new Table<number, number>();
  readonly topics = new Table<number, ReadonlyMap<string, Topic>>();
  readonly unread = new UnreadState();
  readonly starred = new Table<number, true>();
  readonly recentDirects = new Table<string, RecentDirect>();
  readonly messages = new Table<number, StoredMessage>();
  /** People who are typing, by `destinationKey`: id of the person and Unix milliseconds of the last event. */
  readonly typing = new Table<string, ReadonlyMap<number, number>>();

  /** Numbers of changes of lists that the state does not hold. */
  readonly revisions = new Table<'invites' | 'exports' | 'attachments', number>();

  get selfId(): number {
    return this.fields.peek('user_id')!;
  }

  /** True without an account: the user reads web-public channels and changes nothing. */
  get isVisitor(): boolean {
    return this.fields.get('user_id') === VISITOR_ID;
  }
}

/** Own id in the state of callers without an account (events §1). */
export const VISITOR_ID = 0;

/** Fields by name, observed one by one. */
export class FieldTable {
  readonly table = new Table<keyof Fields, unknown>();

  get<F extends keyof Fields>(name: F): Fields[F] {
    return this.table.get(name) as Fields[F];
  }

  peek<F extends keyof Fields>(name: F): Fields[F] {
    return this.table.peek(name) as Fields[F];
  }

  set<F extends keyof Fields>(name: F, value: Fields[F]): void {
    this.table.set(name, value);
  }

  /** Changes a field if the response had it. */
  change<F extends keyof Fields>(name: F, change: (value: NonNullable<Fields[F]>) => Fields[F]): void {
    const value = this.peek(name);
    if (value !== undefined && value !== null) this.set(name, change(value));
  }
}

/** Unread messages by conversation. */
export class UnreadState {
  /** Exact topic of each unread message, since topics ignore case and the oldest spelling is shown. */
  readonly destinations = new Map<number, Destination>();
  readonly mentioned = new Set<number>();
  readonly wildcards = new Set<number>();
  readonly byDestination = new Map<string, Set<number>>();
  /** Counts by `destinationKey`, observed by views. */
  readonly tallies = new Table<string, UnreadTally>();
  /** Keys of a channel's topics with unread messages. */
  readonly topicKeys = new Table<number, ReadonlySet<string>>();
  /** True if the server left out old messages (events §4.4). */
  isTruncated = false;
}

/** Mark that clients put before the names of resolved topics. */
export const RESOLVED_PREFIX = '✔ ';

export const topicKey = (channelId: number, topic: string): string => `${channelId}:${topic.toLowerCase()}`;

export const ascending = (a: number, b: number): number => a - b;

/** Adds ids to an ascending list. */
export const union = (ids: readonly number[], more: readonly number[]): readonly number[] =>
  more.every((id) => ids.includes(id)) ? ids : [...new Set([...ids, ...more])].sort(ascending);

export const without = (ids: readonly number[], fewer: readonly number[]): readonly number[] =>
  ids.some((id) => fewer.includes(id)) ? ids.filter((id) => !fewer.includes(id)) : ids;
