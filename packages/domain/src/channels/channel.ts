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

/** Who may do what in a channel (channels §3.4). */
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

/** Who can find a channel and read it. */
export type ChannelPrivacy = 'webPublic' | 'public' | 'privateSharedHistory' | 'privateProtectedHistory';

export interface Channel {
  readonly id: ChannelId;
  readonly realmId: RealmId;
  /** What messages to the channel are addressed to. */
  readonly recipientId: RecipientId;
  readonly name: string;
  readonly description: string;
  /** HTML. */
  readonly renderedDescription: string;
  readonly privacy: ChannelPrivacy;
  readonly isArchived: boolean;
  /** Null where no creator is recorded. */
  readonly creatorId: UserId | null;
  readonly createdAt: UnixSeconds;
  /** Null: as the organization says. */
  readonly messageRetentionDays: RetentionDays | null;
  readonly topicsPolicy: TopicsPolicy;
  readonly folderId: ChannelFolderId | null;
  /** Whether newcomers are subscribed to it. */
  readonly isDefault: boolean;
  readonly isRecentlyActive: boolean;
  /** Null until the first message; found anew when the oldest one is deleted. */
  readonly firstMessageId: MessageId | null;
  readonly permissions: ChannelPermissions;
  /** Grows with every change of what is shown of the channel. */
  readonly version: number;
}

/** A channel as those who can see it see it. */
export interface ChannelView extends Omit<Channel, 'permissions'> {
  readonly permissions: GroupSettingValues<typeof CHANNEL_PERMISSIONS>;
  /** The system group that may post, where it is one: older clients know of no others. */
  readonly sendersSystemGroup: 'everyone' | 'administrators' | 'fullMembers' | 'moderators' | null;
  /** Active users, bots included. */
  readonly subscriberCount: number;
  /** Null for channels younger than a week (channels §2.1). */
  readonly weeklyTraffic: number | null;
}

export const isPrivate = (channel: Pick<Channel, 'privacy'>): boolean =>
  channel.privacy === 'privateSharedHistory' || channel.privacy === 'privateProtectedHistory';
export const isWebPublic = (channel: Pick<Channel, 'privacy'>): boolean => channel.privacy === 'webPublic';
/** Whether those who can read the channel can read what was sent before they came. */
export const hasSharedHistory = (channel: Pick<Channel, 'privacy'>): boolean =>
  channel.privacy !== 'privateProtectedHistory';

/** In code points (protocol §14). */
export const MAX_CHANNEL_NAME_LENGTH = 60;
export const MAX_CHANNEL_DESCRIPTION_LENGTH = 1024;

/** How long messages are kept: whole days, at least one. */
export type RetentionDays = number | 'forever';

/** How long a channel is to keep its messages: days, or a word, which may be one that means nothing. */
export type RetentionInput = 'asRealm' | 'forever' | number | { readonly word: string };

/** As a channel has it. @throws DomainError INVALID_RETENTION (channels §4.4 row 5) */
export function parseRetention(input: RetentionInput): Channel['messageRetentionDays'] {
  if (input === 'asRealm') return null;
  if (input === 'forever') return input;
  if (typeof input === 'number' && input > 0) return input;
  const value = typeof input === 'number' ? input : input.word;
  throw new DomainError('INVALID_RETENTION', `Messages cannot be kept for ${value} days`, { value });
}

/** By name, whatever the letter case; of several with one name the first. */
export function byFoldedName<T extends { readonly name: string }>(items: Iterable<T>): Map<string, T> {
  const byName = new Map<string, T>();
  for (const item of items) {
    const key = foldCase(item.name);
    if (!byName.has(key)) byName.set(key, item);
  }
  return byName;
}

/** Returns the name trimmed. @throws DomainError INVALID_CHANNEL_NAME with the texts of channels §1. */
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

/** Descriptions are one line: line breaks become spaces. */
export function normalizeChannelDescription(raw: string): string {
  return raw.replaceAll('\n', ' ');
}

/** What is younger has no traffic to be told of, however much was said there. */
export const hasWeeklyTraffic = (ageDays: number): boolean => ageDays >= 7;

/**
 * Messages a week, rounded to two significant digits (channels §2.1). `recentMessages` counts the last 28 days.
 */
export function weeklyTraffic(recentMessages: number, ageDays: number): number | null {
  if (!hasWeeklyTraffic(ageDays)) return null;
  const average = ageDays >= 28 ? Math.floor(recentMessages / 4) : Math.floor((recentMessages * 7) / ageDays);
  const atLeastOne = average === 0 && recentMessages > 0 ? 1 : average;
  return atLeastOne < 100 ? atLeastOne : Number(atLeastOne.toPrecision(2));
}

export const CHANNEL_ERRORS = declareErrors({
  UNKNOWN_CHANNEL: 'unknown',
  UNKNOWN_CHANNEL_FOLDER: 'unknown',
  INVALID_CHANNEL_FOLDER_NAME: 'invalid',
  CHANNEL_FOLDER_NAME_TAKEN: 'conflict',
  CHANNEL_FOLDER_IN_USE: 'conflict',
  /** Some folder is missing. */
  INVALID_FOLDER_ORDER: 'invalid',
  TOO_MANY_CHANNEL_FOLDERS: 'conflict',
  UNKNOWN_DEFAULT_CHANNEL_GROUP: 'unknown',
  INVALID_DEFAULT_CHANNEL_GROUP_NAME: 'invalid',
  DEFAULT_CHANNEL_GROUP_NAME_TAKEN: 'conflict',
  DEFAULT_CHANNEL_GROUP_NAME_UNCHANGED: 'conflict',
  /** Neither a name nor a description. */
  DEFAULT_CHANNEL_GROUP_CHANGE_REQUIRED: 'invalid',
  /** Neither adding nor removing. */
  DEFAULT_CHANNEL_GROUP_OPERATION_REQUIRED: 'invalid',
  /** Newcomers get it anyway. */
  IS_DEFAULT_CHANNEL: 'conflict',
  CHANNEL_IN_DEFAULT_GROUP: 'conflict',
  CHANNEL_NOT_IN_DEFAULT_GROUP: 'conflict',
  TOO_MANY_DEFAULT_CHANNEL_GROUPS: 'conflict',
  TOO_MANY_CHANNELS_IN_DEFAULT_GROUP: 'conflict',
  INVALID_CHANNEL_NAME: 'invalid',
  CHANNEL_NAME_TAKEN: 'conflict',
  CHANNEL_NAME_UNCHANGED: 'conflict',
  INVALID_CHANNEL_PRIVACY: 'invalid',
  INVALID_RETENTION: 'invalid',
  DEFAULT_CHANNEL_MUST_BE_PUBLIC: 'conflict',
  MODERATION_CHANNEL_MUST_BE_PRIVATE: 'conflict',
  WEB_PUBLIC_CHANNELS_DISABLED: 'forbidden',
  /** The caller sees the channel, but not its messages. */
  CHANNEL_CONTENT_ACCESS_REQUIRED: 'forbidden',
  CANNOT_ADMINISTER_CHANNEL: 'forbidden',
  CANNOT_MANAGE_DEFAULT_CHANNEL: 'forbidden',
  CHANNEL_ARCHIVED: 'conflict',
  CHANNEL_NOT_ARCHIVED: 'conflict',
  CHANNEL_WITHOUT_SUBSCRIBERS: 'conflict',
  CHANNEL_HAS_NAMED_TOPICS: 'conflict',
  /** Where newcomers do not see what was said before. */
  TOPIC_CREATION_MUST_BE_OPEN: 'conflict',
  TOO_MANY_HOLDERS_IN_REQUEST: 'invalid',
  TOO_MANY_SUBSCRIPTIONS: 'invalid',
  /** Neither a channel to subscribe to nor one to leave. */
  NO_SUBSCRIPTION_CHANGE: 'invalid',
  NOT_SUBSCRIBED: 'conflict',
  UNKNOWN_SUBSCRIPTION_PROPERTY: 'invalid',
  INVALID_COLOR: 'invalid',
  INVALID_SUBSCRIPTION_VALUE: 'invalid',
  TOO_MANY_TOPIC_POLICIES: 'conflict',
  CANNOT_POST_IN_CHANNEL: 'forbidden',
  CANNOT_CREATE_TOPIC: 'forbidden',
  TOPIC_REQUIRED: 'invalid',
  EMPTY_TOPIC_REQUIRED: 'conflict',
});

interface EmptyTopicName {
  readonly emptyTopicDisplayName: string;
}

type ChannelErrors = typeof CHANNEL_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends ChannelErrors {}

  interface ErrorDetails {
    /** `channelId`: of the other channel, where it is known. */
    CHANNEL_NAME_TAKEN: { readonly channelName: string; readonly channelId?: ChannelId | undefined };
    /** As it was given. */
    INVALID_RETENTION: { readonly value: number | string };
    /** `expected`: what its value has to be. */
    INVALID_SUBSCRIPTION_VALUE: { readonly property: SubscriptionProperty; readonly expected: string };
    CHANNEL_HAS_NAMED_TOPICS: EmptyTopicName;
    TOPIC_REQUIRED: Partial<EmptyTopicName>;
    EMPTY_TOPIC_REQUIRED: EmptyTopicName;
  }
}

/** In code points (protocol §14). */
export const MAX_TOPIC_LENGTH = 60;
/** What people see in place of the empty topic. */
export const EMPTY_TOPIC_DISPLAY_NAME = 'general chat';
export const RESOLVED_PREFIX = '✔ ';

/** What a client means by a topic's name: trimmed, the names of the empty topic as `''` (messages §1.5). */
export function normalizeTopic(raw: string): string {
  const topic = trim(raw);
  return topic === '(no topic)' || topic === EMPTY_TOPIC_DISPLAY_NAME ? '' : topic;
}

/** A topic somebody writes to: normalized, checked, cut to length. @throws DomainError INVALID_TOPIC */
export function parseTopic(raw: string): string {
  const trimmed = trim(raw);
  const position = positionOfUnprintable(trimmed);
  if (position > 0) throw new DomainError('INVALID_TOPIC', `Invalid character in topic, at position ${position}!`);
  return cutTopic(normalizeTopic(trimmed));
}

/** As it is stored, when it is too long. */
export const cutTopic = (topic: string): string =>
  isLongerThan(topic, MAX_TOPIC_LENGTH) ? `${takeCodePoints(topic, MAX_TOPIC_LENGTH - 3)}...` : topic;

/** Topics are the same whatever their letter case; each message keeps the spelling it was sent with. */
export const topicKey = (topic: string): string => foldCase(topic);

/** For whom mail to a channel was asked for, and whom what comes by it is from (channels §4.16). */
export interface ChannelAddressKey {
  readonly realmId: RealmId;
  readonly channelId: ChannelId;
  readonly creatorId: UserId;
  readonly senderId: UserId;
}

/** What tells the mail for one of them from all others: 32 hexadecimal digits. */
export interface ChannelAddressReads {
  findToken(key: ChannelAddressKey): Promise<string | null>;
}

/** Every implementation passes channel-address-repository.contract.ts. */
export interface ChannelAddressRepository extends ChannelAddressReads {
  /** There is none yet. */
  add(key: ChannelAddressKey, token: string): Promise<void>;
}

/** Where the token stands in an address of the gateway. */
export const MAIL_TOKEN_PLACE = '%s';
/** Whatever else is in the mail, its sender is shown with it. */
const OPTION = 'show-sender';

/** Of the gateway whose pattern this is. A name that letters of an address cannot spell is left out. */
export function channelAddress(pattern: string, channel: Pick<Channel, 'name'>, token: string): string {
  const slug = slugOf(channel.name);
  return pattern.replace(MAIL_TOKEN_PLACE, () => `${slug === '' ? '' : `${slug}.`}${token}.${OPTION}`);
}

/** Empty unless it has a sign for each of the name's. */
function slugOf(name: string): string {
  const joined = name.replace(/[^\p{L}\p{N}_]+/gu, '-');
  const slug = joined
    .normalize('NFKD')
    .replace(/[^a-z0-9_-]/gi, '')
    .toLowerCase()
    .replace(/^[-_]+|[-_]+$/g, '');
  return slug.length === joined.length ? slug : '';
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    channelAddresses: [reads: ChannelAddressReads, repository: ChannelAddressRepository];
  }
}

/**
 * Keeps one account from flooding its organization with channels: so many a day, of which administrators have more. Every
 * channel is in everybody's lists for good.
 */
export interface ChannelQuota {
  /**
   * Counts so many, before they are made. Counts none when fewer are left.
   * @throws DomainError RATE_LIMITED `{ retryAfter }`, in seconds
   */
  spend(actor: Actor, count: number): void;
  /** So many of those that were counted were not made after all. */
  refund(actor: Actor, count: number): void;
}

export interface ChannelReads {
  find(realmId: RealmId, id: ChannelId): Promise<Channel | null>;
  /** Whatever the letter case; archived channels too. */
  findByName(realmId: RealmId, name: string): Promise<Channel | null>;
  /** Whatever the letter case; names nobody has are absent; ascending id. */
  listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Channel[]>;
  /** Unknown ids are absent; ascending id. */
  list(realmId: RealmId, ids: readonly ChannelId[]): Promise<readonly Channel[]>;
  /** Every channel, archived ones included; ascending id. */
  listAll(realmId: RealmId): Promise<readonly Channel[]>;
  /** Archived ones too. */
  hasChannelsInFolder(realmId: RealmId, folderId: ChannelFolderId): Promise<boolean>;
  /** Whether there is a web-public channel in use. */
  hasWebPublic(realmId: RealmId): Promise<boolean>;
  /** Of those that count as recently active the first ones with higher ids, from the beginning with null; ascending. */
  listRecentlyActiveIds(realmId: RealmId, after: ChannelId | null, limit: number): Promise<readonly ChannelId[]>;
  /** Which of these were made before that time, and have no message sent since then; ascending. */
  filterIdle(realmId: RealmId, ids: readonly ChannelId[], since: UnixSeconds): Promise<readonly ChannelId[]>;
  /** Unknown ids are absent; by name in code-point order. No statement per id. */
  listViews(realmId: RealmId, ids: readonly ChannelId[]): Promise<readonly ChannelView[]>;
  /** Of all channels those that are wanted, in the same order. The event loop may turn in between. */
  listViewsWhere(realmId: RealmId, isWanted: (channel: Channel) => boolean): Promise<readonly ChannelView[]>;
  /** Whether the user subscribes to the channel now. */
  isSubscribed(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<boolean>;
  /** The user's row, active or not; null when they never subscribed to the channel. */
  findSubscription(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<Subscription | null>;
  /** Channels the user follows now; ascending id. */
  listSubscribedIds(realmId: RealmId, userId: UserId): Promise<readonly ChannelId[]>;
  /** All the user's rows, those of channels they have left included; ascending channel. */
  listSubscriptions(realmId: RealmId, userId: UserId): Promise<readonly Subscription[]>;
  /** Rows of several users in several channels; each of the users has an entry; ascending user, then channel. */
  listSubscriptionsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<UserId, readonly Subscription[]>>;
  /** The colors that these users' rows have, each once; users without rows are absent. */
  listColors(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, readonly string[]>>;
  /** Active users who follow it now; ascending. Channels without any map to an empty list. */
  listSubscribers(
    realmId: RealmId,
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<ChannelId, readonly UserId[]>>;
  /** Which of these users follow it now; ascending. */
  filterSubscribed(realmId: RealmId, channelId: ChannelId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
  /** Which of these channels an active guest follows now; ascending. */
  filterWithGuestSubscribers(realmId: RealmId, channelIds: readonly ChannelId[]): Promise<readonly ChannelId[]>;
  countSubscribers(realmId: RealmId, channelId: ChannelId): Promise<number>;
}

/** Every implementation passes channel-repository.contract.ts. */
export interface ChannelRepository extends ChannelReads {
  /** Adds the channel and its recipient. @throws DomainError CHANNEL_NAME_TAKEN, archived channels included. */
  add(channel: Omit<Channel, 'id' | 'recipientId' | 'version'>): Promise<Channel>;
  /** Stores it under a higher version. @throws DomainError CHANNEL_NAME_TAKEN */
  update(channel: Channel): Promise<Channel>;
  /** Adds or replaces rows, active or not. Says nothing about who receives: that is `PersonalMessages.openSpans`. */
  putSubscriptions(subscriptions: readonly Subscription[]): Promise<void>;
}

/** A user's time in a channel, for judging old events: from the first seq on, up to but not including the last. */
export interface SubscribedSpan {
  readonly channelId: ChannelId;
  readonly fromSeq: EventSeq;
  /** Null: still subscribed. */
  readonly toSeq: EventSeq | null;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    channels: [reads: ChannelReads, repository: ChannelRepository];
  }
}
