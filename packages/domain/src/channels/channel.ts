import type { Actor } from '../access/actor.js';
import { type GroupSettings, type GroupSettingValues, groupSetting } from '../access/group-settings.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type {
  ChannelFolderId,
  ChannelId,
  EventSeq,
  MessageId,
  RealmId,
  RecipientId,
  UnixSeconds,
  UserId,
} from '../kernel/ids.js';
import { foldCase, isLongerThan, positionOfUnprintable, takeCodePoints, trim } from '../kernel/text.js';
import type { Subscription, SubscriptionProperty } from './subscriptions.js';

/** Permissions of a channel (channels §3.4). */
export const CHANNEL_PERMISSIONS = {
  canAddSubscribers: groupSetting('nobody', 'n'),
  canAdministerChannel: groupSetting('creator', 'n'),
  canCreateTopic: groupSetting('everyone', 'ny'),
  canDeleteAnyMessage: groupSetting('nobody', 'ny'),
  canDeleteOwnMessage: groupSetting('nobody', 'ny'),
  canMoveMessagesOutOfChannel: groupSetting('nobody', 'ny'),
  canMoveMessagesWithinChannel: groupSetting('nobody', 'ny'),
  canRemoveSubscribers: groupSetting('administrators', 'ny'),
  canResolveTopics: groupSetting('nobody', 'ny'),
  canSendMessage: groupSetting('everyone', 'ny'),
  canSubscribe: groupSetting('nobody', 'n'),
} as const;
export type ChannelPermission = keyof typeof CHANNEL_PERMISSIONS;
export type ChannelPermissions = GroupSettings<typeof CHANNEL_PERMISSIONS>;

export const TOPICS_POLICIES = ['inherit', 'emptyTopicAllowed', 'emptyTopicRefused', 'emptyTopicOnly'] as const;
export type TopicsPolicy = (typeof TOPICS_POLICIES)[number];

/** Visibility and history access of a channel. */
export type ChannelPrivacy = 'webPublic' | 'public' | 'privateSharedHistory' | 'privateProtectedHistory';

export interface Channel {
  readonly id: ChannelId;
  readonly realmId: RealmId;
  /** Recipient id of messages sent to the channel. */
  readonly recipientId: RecipientId;
  readonly name: string;
  readonly description: string;
  /** HTML. */
  readonly renderedDescription: string;
  readonly privacy: ChannelPrivacy;
  readonly isArchived: boolean;
  /** Null if no creator is recorded. */
  readonly creatorId: UserId | null;
  readonly createdAt: UnixSeconds;
  /** Null to inherit the organization's policy. */
  readonly messageRetentionDays: RetentionDays | null;
  readonly topicsPolicy: TopicsPolicy;
  readonly folderId: ChannelFolderId | null;
  /** True if new users are subscribed automatically. */
  readonly isDefault: boolean;
  readonly isRecentlyActive: boolean;
  /** Null before the first message; recomputed when the oldest message is deleted. */
  readonly firstMessageId: MessageId | null;
  readonly permissions: ChannelPermissions;
  /** Incremented with every visible change of the channel. */
  readonly version: number;
}

/** Channel as shown to users who can see it. */
export interface ChannelView extends Omit<Channel, 'permissions'> {
  readonly permissions: GroupSettingValues<typeof CHANNEL_PERMISSIONS>;
  /** System group that may post, if the value is a system group; older clients support no other values. */
  readonly sendersSystemGroup: 'everyone' | 'administrators' | 'fullMembers' | 'moderators' | null;
  /** Number of active subscribers, including bots. */
  readonly subscriberCount: number;
  /** Null for channels younger than a week (channels §2.1). */
  readonly weeklyTraffic: number | null;
}

export const isPrivate = (channel: Pick<Channel, 'privacy'>): boolean =>
  channel.privacy === 'privateSharedHistory' || channel.privacy === 'privateProtectedHistory';
export const isWebPublic = (channel: Pick<Channel, 'privacy'>): boolean => channel.privacy === 'webPublic';
/** True if readers of the channel can read messages sent before they subscribed. */
export const hasSharedHistory = (channel: Pick<Channel, 'privacy'>): boolean =>
  channel.privacy !== 'privateProtectedHistory';

/** In code points (protocol §14). */
export const MAX_CHANNEL_NAME_LENGTH = 60;
export const MAX_CHANNEL_DESCRIPTION_LENGTH = 1024;

/** Retention of messages in whole days, at least one. */
export type RetentionDays = number | 'forever';

/** Requested retention: a number of days or a word, which may be invalid. */
export type RetentionInput = 'asRealm' | 'forever' | number | { readonly word: string };

/** Converts a requested retention to its stored form. @throws DomainError INVALID_RETENTION (channels §4.4 row 5) */
export function parseRetention(input: RetentionInput): Channel['messageRetentionDays'] {
  if (input === 'asRealm') return null;
  if (input === 'forever') return input;
  if (typeof input === 'number' && input > 0) return input;
  const value = typeof input === 'number' ? input : input.word;
  throw new DomainError('INVALID_RETENTION', `Messages cannot be kept for ${value} days`, { value });
}

/** Indexes items by case-folded name; the first of several equal names wins. */
export function byFoldedName<T extends { readonly name: string }>(items: Iterable<T>): Map<string, T> {
  const byName = new Map<string, T>();
  for (const item of items) {
    const key = foldCase(item.name);
    if (!byName.has(key)) byName.set(key, item);
  }
  return byName;
}

/** Trims and validates the name. @throws DomainError INVALID_CHANNEL_NAME with the texts of channels §1 */
export function parseChannelName(raw: string): string {
  const name = trim(raw);
  if (name === '') throw new DomainError('INVALID_CHANNEL_NAME', "Channel name can't be empty.");
  if (isLongerThan(name, MAX_CHANNEL_NAME_LENGTH)) {
    throw new DomainError(
      'INVALID_CHANNEL_NAME',
      `Channel name too long (limit: ${MAX_CHANNEL_NAME_LENGTH} characters).`,
    );
  }
  const position = positionOfUnprintable(name);
  if (position > 0)
    throw new DomainError('INVALID_CHANNEL_NAME', `Invalid character in channel name, at position ${position}.`);
  return name;
}

/** Replaces line breaks with spaces, because descriptions have only one line. */
export function normalizeChannelDescription(raw: string): string {
  return raw.replaceAll('\n', ' ');
}

/** False for new channels, because their traffic is not reported yet. */
export const hasWeeklyTraffic = (ageDays: number): boolean => ageDays >= 7;

/**
 * Returns messages per week, rounded to two significant digits (channels §2.1). `recentMessages` counts the last 28
 * days.
 */
export function weeklyTraffic(recentMessages: number, ageDays: number): number | null {
  if (!hasWeeklyTraffic(ageDays)) return null;
  const average = ageDays >= 28 ? Math.floor(recentMessages / 4) : Math.floor((recentMessages * 7) / ageDays);
  const atLeastOne = average === 0 && recentMessages > 0 ? 1 : average;
  return atLeastOne < 100 ? atLeastOne : Number(atLeastOne.toPrecision(2));
}

export const CHANNEL_ERRORS = declareErrors({
  /** The channel does not exist, or the caller cannot see it. */
  UNKNOWN_CHANNEL: 'unknown',
  /** The folder does not exist. */
  UNKNOWN_CHANNEL_FOLDER: 'unknown',
  /** Empty, or with forbidden characters. */
  INVALID_CHANNEL_FOLDER_NAME: 'invalid',
  /** Another folder has the name, regardless of letter case. */
  CHANNEL_FOLDER_NAME_TAKEN: 'conflict',
  /** The folder to be archived contains channels. */
  CHANNEL_FOLDER_IN_USE: 'conflict',
  /** The order does not name every folder. */
  INVALID_FOLDER_ORDER: 'invalid',
  /** The organization has too many folders, including archived ones. */
  TOO_MANY_CHANNEL_FOLDERS: 'conflict',
  /** The default channel group does not exist. */
  UNKNOWN_DEFAULT_CHANNEL_GROUP: 'unknown',
  /** Empty, too long, or with forbidden characters. */
  INVALID_DEFAULT_CHANNEL_GROUP_NAME: 'invalid',
  /** Another default channel group has the name. */
  DEFAULT_CHANNEL_GROUP_NAME_TAKEN: 'conflict',
  /** The group already has that name. */
  DEFAULT_CHANNEL_GROUP_NAME_UNCHANGED: 'conflict',
  /** Neither a name nor a description is given. */
  DEFAULT_CHANNEL_GROUP_CHANGE_REQUIRED: 'invalid',
  /** No channels to add or remove are named. */
  DEFAULT_CHANNEL_GROUP_OPERATION_REQUIRED: 'invalid',
  /** A default channel cannot be in a default channel group. */
  IS_DEFAULT_CHANNEL: 'conflict',
  /** The group already has the channel. */
  CHANNEL_IN_DEFAULT_GROUP: 'conflict',
  /** The group does not have the channel. */
  CHANNEL_NOT_IN_DEFAULT_GROUP: 'conflict',
  /** The organization has too many default channel groups. */
  TOO_MANY_DEFAULT_CHANNEL_GROUPS: 'conflict',
  /** The group would have too many channels. */
  TOO_MANY_CHANNELS_IN_DEFAULT_GROUP: 'conflict',
  /** Empty, too long, or with forbidden characters. */
  INVALID_CHANNEL_NAME: 'invalid',
  /** Another channel has the name, or a more open one than `ensure` wants; `channelName`, and `channelId` if known. */
  CHANNEL_NAME_TAKEN: 'conflict',
  /** The channel already has that name. */
  CHANNEL_NAME_UNCHANGED: 'conflict',
  /** The privacy parameters contradict each other. */
  INVALID_CHANNEL_PRIVACY: 'invalid',
  /** Invalid retention period; `value`. */
  INVALID_RETENTION: 'invalid',
  /** A private channel cannot be a default channel. */
  DEFAULT_CHANNEL_MUST_BE_PUBLIC: 'conflict',
  /** The channel for moderation requests cannot become public. */
  MODERATION_CHANNEL_MUST_BE_PRIVATE: 'conflict',
  /** The server or the organization does not allow web-public channels. */
  WEB_PUBLIC_CHANNELS_DISABLED: 'forbidden',
  /** The caller sees the channel but not its messages. */
  CHANNEL_CONTENT_ACCESS_REQUIRED: 'forbidden',
  /** The caller does not administer the channel. */
  CANNOT_ADMINISTER_CHANNEL: 'forbidden',
  /** The caller may not change default channels. */
  CANNOT_MANAGE_DEFAULT_CHANNEL: 'forbidden',
  /** The channel is archived. */
  CHANNEL_ARCHIVED: 'conflict',
  /** The channel is not archived. */
  CHANNEL_NOT_ARCHIVED: 'conflict',
  /** Nobody could access the private channel. */
  CHANNEL_WITHOUT_SUBSCRIBERS: 'conflict',
  /** The channel has named topics, so it cannot allow only the empty topic; `emptyTopicDisplayName`. */
  CHANNEL_HAS_NAMED_TOPICS: 'conflict',
  /** With protected history, everyone must be able to create topics. */
  TOPIC_CREATION_MUST_BE_OPEN: 'conflict',
  /** Too many subscription changes in one request. */
  TOO_MANY_SUBSCRIPTIONS: 'invalid',
  /** No channel to subscribe to or unsubscribe from is named. */
  NO_SUBSCRIPTION_CHANGE: 'invalid',
  /** The caller is not subscribed to the channel. */
  NOT_SUBSCRIBED: 'conflict',
  /** The property does not exist. */
  UNKNOWN_SUBSCRIPTION_PROPERTY: 'invalid',
  /** Not `#` and three to six hexadecimal digits. */
  INVALID_COLOR: 'invalid',
  /** Invalid value for the property; `property`, `expected`. */
  INVALID_SUBSCRIPTION_VALUE: 'invalid',
  /** The caller has muted, unmuted or followed too many topics. */
  TOO_MANY_TOPIC_POLICIES: 'conflict',
  /** The caller may not send to the channel, or it is archived. */
  CANNOT_POST_IN_CHANNEL: 'forbidden',
  /** The caller may post to existing topics only. */
  CANNOT_CREATE_TOPIC: 'forbidden',
  /** The topic is missing; `emptyTopicDisplayName` if the channel requires one. */
  TOPIC_REQUIRED: 'invalid',
  /** The channel allows only the empty topic; `emptyTopicDisplayName`. */
  EMPTY_TOPIC_REQUIRED: 'conflict',
});

interface EmptyTopicName {
  readonly emptyTopicDisplayName: string;
}

type ChannelErrors = typeof CHANNEL_ERRORS;

/** In code points (protocol §14). */
export const MAX_TOPIC_LENGTH = 60;
/** Name shown for the empty topic. */
export const EMPTY_TOPIC_DISPLAY_NAME = 'general chat';
export const RESOLVED_PREFIX = '✔ ';

/** Normalizes a topic name from a client: trims it and converts names of the empty topic to `''` (messages §1.5). */
export function normalizeTopic(raw: string): string {
  const topic = trim(raw);
  return topic === '(no topic)' || topic === EMPTY_TOPIC_DISPLAY_NAME ? '' : topic;
}

/** Normalizes, validates and truncates the topic of a new message. @throws DomainError INVALID_TOPIC */
export function parseTopic(raw: string): string {
  const trimmed = trim(raw);
  const position = positionOfUnprintable(trimmed);
  if (position > 0) throw new DomainError('INVALID_TOPIC', `Invalid character in topic, at position ${position}!`);
  return cutTopic(normalizeTopic(trimmed));
}

/** Truncates an overlong topic to the stored length. */
export const cutTopic = (topic: string): string =>
  isLongerThan(topic, MAX_TOPIC_LENGTH) ? `${takeCodePoints(topic, MAX_TOPIC_LENGTH - 3)}...` : topic;

/** Case-insensitive key of a topic; each message keeps its own spelling. */
export const topicKey = (topic: string): string => foldCase(topic);

/** Key of a channel email address: the user who requested it and the sender of its messages (channels §4.16). */
export interface ChannelAddressKey {
  readonly realmId: RealmId;
  readonly channelId: ChannelId;
  readonly creatorId: UserId;
  readonly senderId: UserId;
}

/** Tokens that identify channel email addresses: 32 hexadecimal digits. */
export interface ChannelAddressReads {
  findToken(key: ChannelAddressKey): Promise<string | null>;
  /** Searches all organizations, since an address does not contain one. */
  findByToken(token: string): Promise<ChannelAddressKey | null>;
}

/** Every implementation passes channel-address-repository.contract.ts. */
export interface ChannelAddressRepository extends ChannelAddressReads {
  /** Requires that the key has no token yet. */
  add(key: ChannelAddressKey, token: string): Promise<void>;
  /** Idempotent. */
  remove(key: ChannelAddressKey): Promise<void>;
  /** Removes all addresses that send as this user. */
  removeOfSender(realmId: RealmId, senderId: UserId): Promise<void>;
}

/** Placeholder for the token in the gateway's address pattern. */
export const EMAIL_TOKEN_PLACEHOLDER = '%s';
/** Address option that makes the message show the sender of the email. */
const OPTION = 'show-sender';

/** Returns the email address of a channel. Omits a channel name that cannot be written in an address. */
export function channelAddress(pattern: string, channel: Pick<Channel, 'name'>, token: string): string {
  const slug = slugOf(channel.name);
  return pattern.replace(EMAIL_TOKEN_PLACEHOLDER, () => `${slug === '' ? '' : `${slug}.`}${token}.${OPTION}`);
}

/** Returns an empty text if any character of the name would be lost. */
function slugOf(name: string): string {
  const joined = name.replace(/[^\p{L}\p{N}_]+/gu, '-');
  const slug = joined
    .normalize('NFKD')
    .replace(/[^a-z0-9_-]/gi, '')
    .toLowerCase()
    .replace(/^[-_]+|[-_]+$/g, '');
  return slug.length === joined.length ? slug : '';
}

/** Daily limit on new channels per account, higher for administrators. Channels stay in all lists forever. */
export interface ChannelQuota {
  /** Loads usage recorded by other servers. Called before the unit of work that creates channels. */
  refresh(): Promise<void>;
  /**
   * Reserves `count` channels before their creation, or none if fewer are left.
   * @throws DomainError RATE_LIMITED `{ retryAfter }`, in seconds
   */
  spend(actor: Actor, count: number): void;
  /** Releases reserved channels that were not created. */
  refund(actor: Actor, count: number): void;
}

export type UsersOfAll = readonly UserId[] | { readonly subscribersOf: ChannelId; readonly except: UserId };

export interface ChannelReads {
  find(realmId: RealmId, id: ChannelId): Promise<Channel | null>;
  /** Like `find`, for a channel that must exist. @throws DomainError UNKNOWN_CHANNEL */
  get(realmId: RealmId, id: ChannelId): Promise<Channel>;
  /** Ignores letter case; includes archived channels. */
  findByName(realmId: RealmId, name: string): Promise<Channel | null>;
  /** Ignores letter case; unknown names are absent; ascending id. */
  listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Channel[]>;
  /** Unknown ids are absent; ascending id. */
  list(realmId: RealmId, ids: readonly ChannelId[]): Promise<readonly Channel[]>;
  /** Returns all channels, including archived ones, by ascending id. */
  listAll(realmId: RealmId): Promise<readonly Channel[]>;
  /** Returns default channels that are not archived; ascending id. */
  listDefaults(realmId: RealmId): Promise<readonly Channel[]>;
  /** Includes archived channels. */
  hasChannelsInFolder(realmId: RealmId, folderId: ChannelFolderId): Promise<boolean>;
  /** Includes archived channels; ascending. */
  listWebPublicIds(realmId: RealmId): Promise<readonly ChannelId[]>;
  /** True if the realm has an active web-public channel. */
  hasWebPublic(realmId: RealmId): Promise<boolean>;
  /** Returns up to `limit` recently active channels with ids above `after`, ascending; null starts at the beginning. */
  listRecentlyActiveIds(realmId: RealmId, after: ChannelId | null, limit: number): Promise<readonly ChannelId[]>;
  /** True if the realm has more channels than `count`, including archived ones. */
  hasMoreThan(realmId: RealmId, count: number): Promise<boolean>;
  /** Returns up to `limit` channels with `text` in their name, ignoring letter case, by folded name. Includes archived ones. */
  listIdsNamedLike(realmId: RealmId, text: string, limit: number): Promise<readonly ChannelId[]>;
  /**
   * Returns channels that are not archived: up to `limit` pinned subscriptions, then up to `limit` of the newest recently
   * active channels of the realm, of the newest subscriptions and of the oldest ones. May repeat channels. Looks at a
   * limited number of rows, so that archived ones among them can make a part shorter.
   */
  listNotableIds(realmId: RealmId, userId: UserId, limit: number): Promise<readonly ChannelId[]>;
  /** Returns the given channels that were created before `since` and have had no message since; ascending. */
  filterIdle(realmId: RealmId, ids: readonly ChannelId[], since: UnixSeconds): Promise<readonly ChannelId[]>;
  /**
   * Returns views by name in code-point order; unknown ids are absent. The number of statements does not depend on the
   * number of ids.
   */
  listViews(realmId: RealmId, ids: readonly ChannelId[]): Promise<readonly ChannelView[]>;
  /** Returns the wanted channels by name in code-point order. May yield to the event loop. */
  listViewsWhere(realmId: RealmId, isWanted: (channel: Channel) => boolean): Promise<readonly ChannelView[]>;
  /** True if the user is currently subscribed to the channel. */
  isSubscribed(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<boolean>;
  /** Returns the user's row, active or not; null if they never subscribed. */
  findSubscription(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<Subscription | null>;
  /** Returns channels the user is subscribed to; ascending id. */
  listSubscribedIds(realmId: RealmId, userId: UserId): Promise<readonly ChannelId[]>;
  /** Returns channels the user is subscribed to and has muted; ascending. */
  listMutedIds(realmId: RealmId, userId: UserId): Promise<readonly ChannelId[]>;
  /** Returns all rows of the user, including former subscriptions, by ascending channel. */
  listSubscriptions(realmId: RealmId, userId: UserId): Promise<readonly Subscription[]>;
  /** Returns rows of several users in several channels, by ascending user, then channel; every user has an entry. */
  listSubscriptionsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<UserId, readonly Subscription[]>>;
  /**
   * Returns the distinct colors in the first `ROWS_WITH_USED_COLORS` rows of these users by channel; users without rows
   * are absent. Colors may be missing for a user who has all colors of `palette`.
   */
  listColors(
    realmId: RealmId,
    userIds: readonly UserId[],
    palette: readonly string[],
  ): Promise<ReadonlyMap<UserId, readonly string[]>>;
  /** Returns active subscribers; ascending. Channels without subscribers map to an empty list. */
  listSubscribers(
    realmId: RealmId,
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<ChannelId, readonly UserId[]>>;
  /** Returns the given users who are subscribed to the channel; ascending. */
  filterSubscribed(realmId: RealmId, channelId: ChannelId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
  /** Returns the given channels that have an active guest as a subscriber; ascending. */
  filterWithGuestSubscribers(realmId: RealmId, channelIds: readonly ChannelId[]): Promise<readonly ChannelId[]>;
  countSubscribers(realmId: RealmId, channelId: ChannelId): Promise<number>;
  /**
   * Returns the given channels to which all of the users are subscribed, even those without an active account:
   * `userIds`, or the subscribers of a channel except one user. Ascending.
   */
  filterWithAll(realmId: RealmId, channelIds: readonly ChannelId[], users: UsersOfAll): Promise<readonly ChannelId[]>;
}

/** Every implementation passes channel-repository.contract.ts. */
export interface ChannelRepository extends ChannelReads {
  /**
   * Adds the channel and its recipient. `id`: unused id reserved by `copies.raiseIds`.
   * @throws DomainError CHANNEL_NAME_TAKEN, even by archived channels
   */
  add(channel: Omit<Channel, 'id' | 'recipientId' | 'version'>, id?: ChannelId | null): Promise<Channel>;
  /** Stores the channel and increments its version. @throws DomainError CHANNEL_NAME_TAKEN */
  update(channel: Channel): Promise<Channel>;
  /**
   * Adds or replaces rows, active or not. Message delivery is controlled separately by `PersonalMessages.openSpans`.
   */
  putSubscriptions(subscriptions: readonly Subscription[]): Promise<void>;
}

/**
 * Period of a user's subscription to a channel, used to evaluate old events. Includes the first seq and excludes the
 * last.
 */
export interface SubscribedSpan {
  readonly channelId: ChannelId;
  readonly fromSeq: EventSeq;
  /** Null while the user is still subscribed. */
  readonly toSeq: EventSeq | null;
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends ChannelErrors {}

  interface ErrorDetails {
    /** Id of the conflicting channel in `channelId`, if known. */
    CHANNEL_NAME_TAKEN: { readonly channelName: string; readonly channelId?: ChannelId | undefined };
    /** Rejected value as received. */
    INVALID_RETENTION: { readonly value: number | string };
    /** Expected kind of value in `expected`. */
    INVALID_SUBSCRIPTION_VALUE: { readonly property: SubscriptionProperty; readonly expected: string };
    CHANNEL_HAS_NAMED_TOPICS: EmptyTopicName;
    TOPIC_REQUIRED: Partial<EmptyTopicName>;
    EMPTY_TOPIC_REQUIRED: EmptyTopicName;
  }
  interface RepositoryMap {
    channelAddresses: [reads: ChannelAddressReads, repository: ChannelAddressRepository];
    channels: [reads: ChannelReads, repository: ChannelRepository];
  }
}
