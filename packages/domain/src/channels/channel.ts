import { type GroupSettings, type GroupSettingValues, groupSetting } from '../access/group-setting.js';
import { DomainError } from '../kernel/errors.js';
import type {
  ChannelFolderId,
  ChannelId,
  MessageId,
  RealmId,
  RecipientId,
  UnixSeconds,
  UserId,
} from '../kernel/ids.js';
import { foldCase, isLongerThan, positionOfUnprintable, trim } from '../kernel/text.js';

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
