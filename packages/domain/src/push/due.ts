import type { ChannelNotifications } from '../channels/subscriptions.js';
import type { TopicVisibility } from '../channels/topic-policies.js';
import type { UnixSeconds } from '../kernel/ids.js';
import type { UserSettings } from '../realms/user-settings.js';
import { isOlder, OFFLINE_SECONDS, type PresenceTimes } from '../users/presence.js';

/** Reasons why a message is due to a user, strongest first (organization §15). */
export const DUE_REASONS = [
  'directMessage',
  'mentioned',
  'topicWildcardInFollowedTopic',
  'channelWildcardInFollowedTopic',
  'topicWildcard',
  'channelWildcard',
  'followedTopic',
  'channel',
  'alertWord',
] as const;
export type DueReason = (typeof DUE_REASONS)[number];

/** Recipient settings that affect the decision. */
export type NotificationSettings = Pick<
  UserSettings,
  | 'enableOfflinePushNotifications'
  | 'enableOnlinePushNotifications'
  | 'enableOfflineEmailNotifications'
  | 'enableFollowedTopicPushNotifications'
  | 'enableFollowedTopicEmailNotifications'
  | 'enableFollowedTopicWildcardMentionsNotify'
  | 'enableChannelPushNotifications'
  | 'enableChannelEmailNotifications'
  | 'wildcardMentionsNotify'
>;

/** All data that determines whether a message is due to one recipient. */
export interface DueFacts {
  readonly recipient: {
    readonly isBot: boolean;
    readonly isActive: boolean;
    readonly settings: NotificationSettings;
  };
  readonly message: {
    readonly isFromRecipient: boolean;
    /** True for messages that never cause notifications, such as those of the welcome bot. */
    readonly isSilent: boolean;
    readonly isDirect: boolean;
  };
  /** Null if the recipient does not have the message, or no longer. Messages of muted users arrive as read. */
  readonly flags: {
    readonly read: boolean;
    readonly mentioned: boolean;
    readonly channelWildcardMentioned: boolean;
    readonly topicWildcardMentioned: boolean;
    readonly hasAlertWord: boolean;
  } | null;
  /** True if no client currently shows the message to the recipient; see `isIdle`. */
  readonly isIdle: boolean;
  /** Subscription to the message's channel; null for direct messages and non-subscribers. */
  readonly subscription: { readonly isMuted: boolean; readonly notifications: ChannelNotifications } | null;
  readonly topic: TopicVisibility;
}

/** Decision for one recipient. At least one reason is set. */
export interface Due {
  /** Null if no push is due. */
  readonly push: DueReason | null;
  /** Null if no email is due. */
  readonly email: DueReason | null;
  /** Strongest reason; `alertWord` if only an alert word makes the message due. */
  readonly reason: DueReason;
}

/** True if no client receives messages, or none was used in the last few minutes (organization §15). */
export const isIdle = (receivesMessages: boolean, presence: PresenceTimes | null, now: UnixSeconds): boolean =>
  !receivesMessages || isOlder(presence?.lastActive ?? null, now, OFFLINE_SECONDS);

/** Returns whether and why a message is due to a recipient; null if it is not due (organization §15, users §6). */
export function decideDue(facts: DueFacts): Due | null {
  const { recipient, message, flags, isIdle } = facts;
  if (message.isFromRecipient || message.isSilent) return null;
  if (recipient.isBot || !recipient.isActive || flags === null || flags.read) return null;
  const push = mayPush(facts) ? reasonFor(facts, PUSH) : null;
  const email = isIdle ? reasonFor(facts, EMAIL) : null;
  const alertWord = flags.hasAlertWord && isIdle ? 'alertWord' : null;
  const reason = strongest(push, email) ?? alertWord;
  return reason && { push, email, reason };
}

/** Returns the part of a decision that an earlier decision does not include, or null. */
export function dueInAddition(before: Due | null, after: Due | null): Due | null {
  if (before === null || after === null) return after;
  const push = before.push === null ? after.push : null;
  const email = before.email === null ? after.email : null;
  const reason = strongest(push, email);
  return reason && { push, email, reason };
}

function mayPush({ recipient: { settings }, isIdle }: DueFacts): boolean {
  const { enableOfflinePushNotifications: offline, enableOnlinePushNotifications: online } = settings;
  return (isIdle || online) && (offline || online);
}

/** Corresponding settings for push or email. */
interface Medium {
  readonly personal: 'enableOfflinePushNotifications' | 'enableOfflineEmailNotifications';
  readonly followedTopic: 'enableFollowedTopicPushNotifications' | 'enableFollowedTopicEmailNotifications';
  readonly channel: 'enableChannelPushNotifications' | 'enableChannelEmailNotifications';
  readonly ofChannel: 'push' | 'email';
}

const PUSH: Medium = {
  personal: 'enableOfflinePushNotifications',
  followedTopic: 'enableFollowedTopicPushNotifications',
  channel: 'enableChannelPushNotifications',
  ofChannel: 'push',
};
const EMAIL: Medium = {
  personal: 'enableOfflineEmailNotifications',
  followedTopic: 'enableFollowedTopicEmailNotifications',
  channel: 'enableChannelEmailNotifications',
  ofChannel: 'email',
};

/** Checks the rows of organization §15 in order. */
function reasonFor(facts: DueFacts, medium: Medium): DueReason | null {
  const { recipient, message, subscription, topic } = facts;
  const { settings } = recipient;
  const flags = facts.flags!;
  const isPersonal = settings[medium.personal];
  if (message.isDirect) return isPersonal ? 'directMessage' : null;
  if (flags.mentioned && isPersonal) return 'mentioned';

  const isFollowed = topic === 'followed';
  if (isPersonal && isFollowed && settings.enableFollowedTopicWildcardMentionsNotify) {
    if (flags.topicWildcardMentioned) return 'topicWildcardInFollowedTopic';
    if (flags.channelWildcardMentioned) return 'channelWildcardInFollowedTopic';
  }
  const isHeard = subscription !== null && !isSilenced(subscription.isMuted, topic);
  const { wildcardMentions = null, [medium.ofChannel]: ofChannel = null } = subscription?.notifications ?? {};
  if (isPersonal && isHeard && (wildcardMentions ?? settings.wildcardMentionsNotify)) {
    if (flags.topicWildcardMentioned) return 'topicWildcard';
    if (flags.channelWildcardMentioned) return 'channelWildcard';
  }
  if (isFollowed && settings[medium.followedTopic]) return 'followedTopic';
  return isHeard && (ofChannel ?? settings[medium.channel]) ? 'channel' : null;
}

/** True if the topic is muted, or is in a muted channel without being unmuted. */
const isSilenced = (hasMutedChannel: boolean, topic: TopicVisibility): boolean =>
  topic === 'muted' || (hasMutedChannel && topic !== 'unmuted');

function strongest(one: DueReason | null, other: DueReason | null): DueReason | null {
  if (one === null || other === null) return one ?? other;
  return DUE_REASONS.indexOf(one) <= DUE_REASONS.indexOf(other) ? one : other;
}
