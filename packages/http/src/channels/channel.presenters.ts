import {
  CHANNEL_PERMISSIONS,
  type ChangeSubscriptionsOutput,
  type ChannelFolder,
  type ChannelPermission,
  type ChannelView,
  type DefaultChannelGroupView,
  EMPTY_TOPIC_DISPLAY_NAME,
  hasSharedHistory,
  isPrivate,
  isWebPublic,
  type OwnSubscription,
  type SubscribeUsersOutput,
  type Subscription,
  type SubscriptionProperty,
  type TopicVisibility,
  type UnsubscribeUsersOutput,
} from '@parley/domain/channels';
import type { ChannelId, UserId } from '@parley/domain/kernel';
import type { TopicSummary } from '@parley/domain/messages';
import { presentGroupSetting } from '../groups/group-setting.presenters.js';
import { permissionTitle } from '../groups/permission-title.js';
import { EncodedTexts } from '../kernel/encoded-texts.js';
import { PresentedText, SharedList } from '../kernel/json-lists.js';
import type { WireGroupSetting } from '../kernel/param-types.js';
import { PresentedTexts } from '../kernel/presented-texts.js';
import type { WireFields } from '../kernel/reply.js';
import { presentRetention, WIRE_TOPICS_POLICIES } from './channel-words.js';

/** `['canSubscribe', 'can_subscribe_group'], …` */
const WIRE_CHANNEL_PERMISSIONS = (Object.keys(CHANNEL_PERMISSIONS) as ChannelPermission[]).map(
  (name) => [name, permissionTitle(name)] as const,
);

/** What can_send_message_group was called before there were groups (channels §3.10). */
const POST_POLICIES = { everyone: 1, administrators: 2, fullMembers: 3, moderators: 4 } as const;
const ANNOUNCEMENT_ONLY = POST_POLICIES.administrators;

const postPolicyOf = (senders: ChannelView['sendersSystemGroup']) => POST_POLICIES[senders ?? 'everyone'];

export function presentPostPolicy(senders: ChannelView['sendersSystemGroup']) {
  const policy = postPolicyOf(senders);
  return { stream_post_policy: policy, is_announcement_only: policy === ANNOUNCEMENT_ONLY };
}

/** Channels §2.1: exactly these fields, since strict clients refuse others. */
export const presentChannel = (channel: ChannelView) => ({
  stream_id: channel.id,
  name: channel.name,
  is_archived: channel.isArchived,
  description: channel.description,
  rendered_description: channel.renderedDescription,
  date_created: channel.createdAt,
  creator_id: channel.creatorId,
  invite_only: isPrivate(channel),
  is_web_public: isWebPublic(channel),
  history_public_to_subscribers: hasSharedHistory(channel),
  ...presentPostPolicy(channel.sendersSystemGroup),
  message_retention_days: presentRetention(channel.messageRetentionDays),
  topics_policy: WIRE_TOPICS_POLICIES[channel.topicsPolicy],
  first_message_id: channel.firstMessageId,
  folder_id: channel.folderId,
  is_recently_active: channel.isRecentlyActive,
  subscriber_count: channel.subscriberCount,
  stream_weekly_traffic: channel.weeklyTraffic,
  ...presentPermissions(channel.permissions),
});

function presentPermissions(permissions: ChannelView['permissions']): Readonly<Record<string, WireGroupSetting>> {
  const wire: Record<string, WireGroupSetting> = {};
  for (const [name, wireName] of WIRE_CHANNEL_PERMISSIONS) wire[wireName] = presentGroupSetting(permissions[name]);
  return wire;
}

/** In characters: five thousand usual channels are 4.5 million. */
const MAX_TEXTS = 24 * 1024 * 1024;
/** In bytes, with the texts: the same channels are about 9 MB. */
const MAX_ENCODED = 32 * 1024 * 1024;

/** Storages return the same view as long as nothing of the channel changes. */
const texts = new PresentedTexts<ChannelId, ChannelView>(MAX_TEXTS);
const encoded = new EncodedTexts(',', MAX_ENCODED);

function channelJson(channel: ChannelView): string {
  const known = texts.get(channel.id);
  const text = known?.version === channel ? known.forms.get(0) : undefined;
  if (text !== undefined) return text;
  const made = JSON.stringify(presentChannel(channel));
  texts.put(channel.id, channel, 0, made);
  return made;
}

/** For lists in which each channel has fields of the reader's own beside it. */
export const channelText = (channel: ChannelView): PresentedText => new PresentedText(channelJson(channel));

/** For lists that are the same for many readers. */
export const sharedChannels = (channels: readonly ChannelView[]): SharedList<ChannelView> =>
  new SharedList(channels, channelJson, encoded);

/** Channels §2.2. `subscriberIds`: null where nobody asked for them. */
export function presentSubscription(
  channel: ChannelView,
  subscription: Subscription,
  subscriberIds: readonly UserId[] | null,
): PresentedText {
  return channelText(channel).with({
    ...presentOwnSettings(subscription),
    ...(subscriberIds && { subscribers: subscriberIds }),
  });
}

/** What of a subscription is the subscriber's own. */
export function presentOwnSettings({ color, isMuted, isPinned, notifications }: Subscription) {
  return {
    color,
    is_muted: isMuted,
    in_home_view: !isMuted,
    pin_to_top: isPinned,
    desktop_notifications: notifications.desktop,
    audible_notifications: notifications.audible,
    push_notifications: notifications.push,
    email_notifications: notifications.email,
    wildcard_mentions_notify: notifications.wildcardMentions,
  };
}

/** `is_default` is there only where it was asked for (channels §4.1). */
export const presentListedChannel = (channel: ChannelView): PresentedText =>
  channelText(channel).with({ is_default: channel.isDefault });

export const presentOwnSubscription = ({ channel, subscription, subscriberIds }: OwnSubscription): PresentedText =>
  presentSubscription(channel, subscription, subscriberIds);

/** Channels §4.5. */
export function presentSubscribeUsers(
  output: SubscribeUsersOutput,
  asked: { readonly authorization_errors_fatal: boolean; readonly send_new_subscription_messages: boolean },
): WireFields {
  return {
    subscribed: Object.fromEntries(output.subscribed),
    already_subscribed: Object.fromEntries(output.alreadySubscribed),
    ...(!asked.authorization_errors_fatal && { unauthorized: output.inaccessible }),
    ...(asked.send_new_subscription_messages && { new_subscription_messages_sent: output.areNewSubscribersNotified }),
  };
}

export const presentUnsubscribeUsers = ({ removed, notSubscribed }: UnsubscribeUsersOutput): WireFields => ({
  removed,
  not_removed: notSubscribed,
});

export const presentTopics = (topics: readonly TopicSummary[], allowEmptyTopicName: boolean): WireFields => ({
  topics: topics.map(({ name, maxMessageId }) => ({
    name: presentTopic(name, allowEmptyTopicName),
    max_id: maxMessageId,
  })),
});

export const presentDefaultChannelGroup = ({
  id,
  name,
  description,
  channelIds,
}: DefaultChannelGroupView): WireFields => ({
  id,
  name,
  description,
  streams: channelIds,
});

export const presentFolder = (folder: ChannelFolder): WireFields => ({
  id: folder.id,
  name: folder.name,
  order: folder.order,
  date_created: folder.createdAt,
  creator_id: folder.creatorId,
  description: folder.description,
  rendered_description: folder.renderedDescription,
  is_archived: folder.isArchived,
});

/** Channels §4.7. */
export const presentChangeSubscriptions = ({ added, removed }: ChangeSubscriptionsOutput): WireFields => ({
  ...presentSubscribeUsers(added, { authorization_errors_fatal: true, send_new_subscription_messages: true }),
  ...presentUnsubscribeUsers(removed),
});

/** Names of what subscribers choose for themselves (channels §4.9). */
export const WIRE_SUBSCRIPTION_PROPERTIES: Readonly<Record<SubscriptionProperty, string>> = {
  color: 'color',
  isMuted: 'is_muted',
  isUnmuted: 'in_home_view',
  isPinned: 'pin_to_top',
  desktop: 'desktop_notifications',
  audible: 'audible_notifications',
  push: 'push_notifications',
  email: 'email_notifications',
  wildcardMentions: 'wildcard_mentions_notify',
};

/** `visibility_policy` of topics (channels §5.4). */
export const VISIBILITY_POLICIES: Readonly<Record<TopicVisibility, number>> = {
  inherit: 0,
  muted: 1,
  unmuted: 2,
  followed: 3,
};

/** Older clients cannot show a topic without a name (channels §5.1). */
export const presentTopic = (topic: string, allowEmptyTopicName: boolean): string =>
  topic === '' && !allowEmptyTopicName ? EMPTY_TOPIC_DISPLAY_NAME : topic;
