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
import type { TopicSummary } from '@parley/domain/messages';
import type { UserId } from '@parley/domain/shared';
import { BoundedCache } from '../caching/bounded-cache.js';
import { EncodedTexts } from '../caching/encoded-texts.js';
import { presentGroupSetting } from '../groups/group-setting.presenters.js';
import { permissionTitle } from '../groups/permission-title.js';
import { PresentedText, SharedList } from '../routing/json-lists.js';
import type { WireGroupSetting } from '../routing/param-types.js';
import type { WireFields } from '../routing/reply.js';
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

/**
 * Channels §2.1: exactly these fields, since strict clients refuse others. Put together by hand, as lists are long: an object for
 * JSON.stringify takes twice the time.
 */
function channelJson(channel: ChannelView): string {
  const postPolicy = postPolicyOf(channel.sendersSystemGroup);
  return (
    `{"stream_id":${channel.id},"name":${JSON.stringify(channel.name)},"is_archived":${channel.isArchived},` +
    `"description":${JSON.stringify(channel.description)},` +
    `"rendered_description":${JSON.stringify(channel.renderedDescription)},` +
    `"date_created":${channel.createdAt},"creator_id":${channel.creatorId},` +
    `"invite_only":${isPrivate(channel)},"is_web_public":${isWebPublic(channel)},` +
    `"history_public_to_subscribers":${hasSharedHistory(channel)},` +
    `"stream_post_policy":${postPolicy},"is_announcement_only":${postPolicy === ANNOUNCEMENT_ONLY},` +
    `"message_retention_days":${presentRetention(channel.messageRetentionDays)},` +
    `"topics_policy":"${WIRE_TOPICS_POLICIES[channel.topicsPolicy]}",` +
    `"first_message_id":${channel.firstMessageId},"folder_id":${channel.folderId},` +
    `"is_recently_active":${channel.isRecentlyActive},"subscriber_count":${channel.subscriberCount},` +
    `"stream_weekly_traffic":${channel.weeklyTraffic},${permissionsJson(channel.permissions)}`
  );
}

/** In characters of all texts together. */
const ROOM_FOR_TEXTS = 24 * 1024 * 1024;
/** What a view takes that is kept for its text. */
const WEIGHT_OF_VIEW = 500;

/** Storages answer the same view until something of it changes, and lists are long. */
const channelTexts = new BoundedCache<ChannelView, { readonly text: PresentedText; readonly weight: number }>(
  ROOM_FOR_TEXTS,
);

/** For lists in which each channel has something of the reader's own beside it. */
export function channelText(channel: ChannelView): PresentedText {
  const known = channelTexts.get(channel);
  if (known) return known.text;
  const json = channelJson(channel);
  // V8 joins the forty texts that it consists of only when somebody looks into it; kept apart they take three times the memory.
  json.charCodeAt(0);
  const text = new PresentedText(json);
  channelTexts.put(channel, { text, weight: WEIGHT_OF_VIEW + text.json.length });
  return text;
}

/** The same as an object, where more is to be done with it. */
export const presentChannel = (channel: ChannelView): WireFields => JSON.parse(channelJson(channel));

/** In bytes, with the views: five thousand channels of a usual kind are about 12 MB. */
const ROOM_FOR_LISTS = 32 * 1024 * 1024;
const encodedChannels = new EncodedTexts<ChannelView>(
  (channels) => channels.map(channelJson).join(','),
  ROOM_FOR_LISTS,
);

export const sharedChannels = (channels: readonly ChannelView[]): SharedList<ChannelView> =>
  new SharedList(channels, encodedChannels);

/** Storages answer the same object for all channels whose permissions are the same. */
const permissionTexts = new WeakMap<ChannelView['permissions'], string>();

/** With the brace at the end. */
function permissionsJson(permissions: ChannelView['permissions']): string {
  const known = permissionTexts.get(permissions);
  if (known !== undefined) return known;
  const text = JSON.stringify(presentPermissions(permissions)).slice(1);
  permissionTexts.set(permissions, text);
  return text;
}

function presentPermissions(permissions: ChannelView['permissions']): Readonly<Record<string, WireGroupSetting>> {
  const wire: Record<string, WireGroupSetting> = {};
  for (const [name, wireName] of WIRE_CHANNEL_PERMISSIONS) wire[wireName] = presentGroupSetting(permissions[name]);
  return wire;
}

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
