import type {
  Channel,
  Event,
  InitialState,
  Message,
  PermissionDefinition as ShortPermissionDefinition,
  Subscription,
  User,
  UserGroup,
  UserStatus,
  UserTopic,
} from '@parley/client';
import type { Destination } from './narrow.js';
import { Table } from './reactive.js';
import type { TopicPolicy } from './view-models.js';

type EventNamed<T extends Event['type']> = Extract<Event, { readonly type: T }>;

/** Applies an event to the state. */
export type Rule<T extends Event['type']> = (state: ChatState, event: EventNamed<T>) => void;

type ListOperation = 'add' | 'update' | 'remove';

/** Event types of lists of a user, which `applyToList` applies by default. */
export type DefaultListEvent = {
  [T in Event['type'] & keyof Fields]: EventNamed<T> extends { readonly op: ListOperation }
    ? NonNullable<Fields[T]> extends readonly { readonly id: number }[]
      ? T
      : never
    : never;
}[Event['type'] & keyof Fields];

/** One rule per event type; a missing rule is a compile error, except for lists. */
export type EventRules = { readonly [T in Exclude<Event['type'], DefaultListEvent>]: Rule<T> } & {
  readonly [T in DefaultListEvent]?: Rule<T>;
};

/** Register response fields stored in separate tables. */
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

/** Register response fields without the values that the chat fills in (extensions §18). */
type ShortFields = Pick<InitialState, 'server_supported_permission_settings'>;
type Whole<T> = { readonly [K in keyof T]-?: T[K] extends object | undefined ? Whole<T[K]> : T[K] };
export type PermissionDefinition = Whole<ShortPermissionDefinition>;

/** Register response fields without a table. */
export type Fields = Omit<InitialState, (typeof TABLE_FIELDS)[number] | keyof ShortFields> & {
  readonly [F in keyof ShortFields]: Whole<ShortFields[F]>;
};

/** Part of the state owned by a feature: loads from a register response, and presents it again for the cache. */
export interface StatePart {
  begin(state: ChatState, answer: InitialState): void;
  /** Adds wanted objects that the state lacks. */
  add?(state: ChatState, answer: Partial<InitialState>, isWanted: (id: number) => boolean): void;
  present(state: ChatState): Partial<InitialState>;
}

export interface PersonState {
  readonly user: User;
  readonly list: 'realm_users' | 'realm_non_active_users' | 'cross_realm_bots';
}

export const isActive = ({ list }: PersonState): boolean => list !== 'realm_non_active_users';

/** People in the order in which a name finds them. */
export const activeFirst = ({ people }: Pick<ChatState, 'people'>): readonly PersonState[] =>
  [...people.values()].sort((a, b) => Number(isActive(b)) - Number(isActive(a)));

type OwnProperty = Exclude<keyof Subscription, keyof Channel | 'subscribers'>;

export interface ChannelState {
  readonly channel: Channel;
  /** The user's subscription settings; kept after unsubscribing, null if never subscribed. */
  readonly own: Pick<Subscription, OwnProperty> | null;
  readonly membership: 'subscribed' | 'former' | 'never' | null;
}

export interface UnreadTally {
  readonly count: number;
  readonly mentions: number;
  readonly newest: number;
}

/** Message without data that other tables hold. */
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

/** Lists that are not part of the state, and objects with data of the application, such as `channel:7`. */
type Revised = 'invites' | 'exports' | 'attachments' | `${'channel' | 'user' | 'realm'}:${number}`;

/** All client data. Changed only by rules and optimistic commands. */
export class ChatState {
  readonly fields = new FieldTable();
  readonly people = new Table<number, PersonState>();
  readonly statuses = new Table<number, UserStatus>();
  readonly presences = new Table<number, PresenceState>();
  readonly groups = new Table<number, UserGroup>();
  readonly channels = new Table<number, ChannelState>();
  readonly subscribers = new Table<number, readonly number[]>();
  /** Topic policies by `topicKey`. */
  readonly policies = new Table<string, UserTopic>();
  /** Topics by channel id, then by lower-case name: all topics of loaded channels, and topics of messages seen. */
  readonly topics = new Table<number, ReadonlyMap<string, Topic>>();
  readonly unread = new UnreadState();
  readonly starred = new Table<number, true>();
  readonly recentDirects = new Table<string, RecentDirect>();
  readonly messages = new Table<number, StoredMessage>();
  /** Typing people by `destinationKey`: person id and Unix milliseconds of the last event. */
  readonly typing = new Table<string, ReadonlyMap<number, number>>();

  /** Change counters for data that is not part of the state. */
  readonly revisions = new Table<Revised, number>();

  revise(list: Revised): void {
    this.revisions.set(list, (this.revisions.peek(list) ?? 0) + 1);
  }

  /** True if the state lacks channels and users, which are fetched when they are read. */
  get isPartial(): boolean | undefined {
    return this.fields.peek('partial_state');
  }

  /** True if messages of the channel are the user's own. Channels that a partial state lacks count. */
  hasOwnMessages(channelId: number): boolean | undefined {
    const known = this.channels.peek(channelId);
    return known ? known.membership === 'subscribed' : this.isPartial;
  }

  get selfId(): number {
    return this.fields.peek('user_id')!;
  }

  /** True without an account: the user can only read web-public channels. */
  get isVisitor(): boolean {
    return this.fields.get('user_id') === VISITOR_ID;
  }
}

/** Own user id if the caller has no account (events §1). */
export const VISITOR_ID = 0;

/** Fields by name, observed individually. */
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

  /** Changes a field if the register response contained it. */
  change<F extends keyof Fields>(name: F, change: (value: NonNullable<Fields[F]>) => Fields[F]): void {
    const value = this.peek(name);
    if (value !== undefined && value !== null) this.set(name, change(value));
  }
}

/** Unread messages by conversation. */
export class UnreadState {
  /** Exact topic per unread message: topics ignore case, and the oldest spelling is shown. */
  readonly destinations = new Map<number, Destination>();
  readonly mentioned = new Set<number>();
  readonly wildcards = new Set<number>();
  readonly byDestination = new Map<string, Set<number>>();
  /** Counts by `destinationKey`, observed by views. */
  readonly tallies = new Table<string, UnreadTally>();
  /** Keys of topics with unread messages, by channel. */
  readonly topicKeys = new Table<number, ReadonlySet<string>>();
  /** True if the server omitted old messages (events §4.4), or until the state is loaded. */
  isTruncated = true;
}

/** Policies by the number in events. */
export const POLICIES: readonly TopicPolicy[] = ['none', 'muted', 'unmuted', 'followed'];

/** Prefix of resolved topic names. */
export const RESOLVED_PREFIX = '✔ ';

/** Topic name without the prefix. */
export const withoutMark = (topic: string): string =>
  topic.startsWith(RESOLVED_PREFIX) ? topic.slice(RESOLVED_PREFIX.length) : topic;

export const topicKey = (channelId: number, topic: string): string => `${channelId}:${topic.toLowerCase()}`;

export const policyOf = ({ policies }: ChatState, channelId: number, topic: string): TopicPolicy =>
  POLICIES[policies.get(topicKey(channelId, topic))?.visibility_policy ?? 0]!;

export const ascending = (a: number, b: number): number => a - b;

/** Adds ids to an ascending list. */
export const union = (ids: readonly number[], more: readonly number[]): readonly number[] =>
  more.every((id) => ids.includes(id)) ? ids : [...new Set([...ids, ...more])].sort(ascending);

export const without = (ids: readonly number[], fewer: readonly number[]): readonly number[] =>
  ids.some((id) => fewer.includes(id)) ? ids.filter((id) => !fewer.includes(id)) : ids;
