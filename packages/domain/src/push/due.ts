import type { ChannelNotifications } from '../channels/subscriptions.js';
import type { TopicVisibility } from '../channels/topic-policies.js';
import type { UnixSeconds } from '../kernel/ids.js';
import type { UserSettings } from '../realms/user-settings.js';
import { OFFLINE_SECONDS, type PresenceTimes } from '../users/presence.js';

/** Reasons for which a message is due to a user, the strongest first (organization §15). */
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

/** Settings of a recipient that decide. */
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

/** All that decides whether a message is due to one recipient. */
export interface DueFacts {
  readonly recipient: {
    readonly isBot: boolean;
    readonly isActive: boolean;
    readonly settings: NotificationSettings;
  };
  readonly message: {
    readonly isFromRecipient: boolean;
    /** True for messages that are never notified of, such as those of the welcome bot. */
    readonly isSilent: boolean;
    readonly isDirect: boolean;
  };
  /** Null if the message is not the recipient's own, or no longer. Messages of users whom they mute arrive as read. */
  readonly flags: {
    readonly read: boolean;
    readonly mentioned: boolean;
    readonly channelWildcardMentioned: boolean;
    readonly topicWildcardMentioned: boolean;
    readonly hasAlertWord: boolean;
  } | null;
  /** True if no client shows the message to the recipient now; see `isIdle`. */
  readonly isIdle: boolean;
  /** Subscription to the message's channel; null for direct messages and without one. */
  readonly subscription: { readonly isMuted: boolean; readonly notifications: ChannelNotifications } | null;
  readonly topic: TopicVisibility;
}

/** Decision about one recipient. At least one of the reasons is set. */
export interface Due {
  /** Null if no push is due. */
  readonly push: DueReason | null;
  /** Null if no email is due. */
  readonly email: DueReason | null;
  /** Strongest reason; `alertWord` if nothing but an alert word makes the message due. */
  readonly reason: DueReason;
}

/** True if no client receives messages, or none was used in the last minutes (organization §15). */
export const isIdle = (receivesMessages: boolean, presence: PresenceTimes | null, now: UnixSeconds): boolean =>
  !receivesMessages || presence?.lastActive == null || now - presence.lastActive > OFFLINE_SECONDS;

/** Decides whether a message is due to a recipient, and why; null if it is not (organization §15, users §6). */
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

/** Returns the part of a decision that an earlier one does not include; null if there is none. */
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

/** Settings that correspond to each other for push and email. */
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

/** In a muted channel, only topics that the user has unmuted are heard. */
const isSilenced = (hasMutedChannel: boolean, topic: TopicVisibility): boolean =>
  topic === 'muted' || (hasMutedChannel && topic !== 'unmuted');

function strongest(one: DueReason | null, other: DueReason | null): DueReason | null {
  if (one === null || other === null) return one ?? other;
  return DUE_REASONS.indexOf(one) <= DUE_REASONS.indexOf(other) ? one : other;
}
