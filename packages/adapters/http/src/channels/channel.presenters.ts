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
  type ListedSubscription,
  type RetentionDays,
  type SubscribeUsersOutput,
  type Subscription,
  type SubscriptionProperty,
  type TopicsPolicy,
  type TopicVisibility,
  type UnsubscribeUsersOutput,
} from '@parley/domain/channels';
import type { ChannelId, UserId } from '@parley/domain/kernel';
import type { TopicSummary } from '@parley/domain/messages';
import { permissionTitle, presentGroupSetting, type WireGroupSetting } from '../groups/group-settings.js';
import { permissionFields } from '../groups/groups.js';
import { PresentedText, SharedList } from '../params/json-lists.js';
import { EncodedTexts, PresentedTexts } from '../wire/caches.js';
import type { WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

/** Wire value of each topics policy (channels §1). */
export const WIRE_TOPICS_POLICIES = {
  inherit: 'inherit',
  emptyTopicAllowed: 'allow_empty_topic',
  emptyTopicRefused: 'disable_empty_topic',
  emptyTopicOnly: 'empty_topic_only',
} as const satisfies Record<TopicsPolicy, string>;

export type WireTopicsPolicy = (typeof WIRE_TOPICS_POLICIES)[TopicsPolicy];

/** Presents retention: null inherits the organization's setting, -1 means unlimited (channels §1). */
export const presentRetention = (days: RetentionDays | null): number | null => (days === 'forever' ? -1 : days);

/** Channels §2.1. */
export const CHANNEL = {
  stream_id: wire.integer(),
  name: wire.text(),
  is_archived: wire.boolean(),
  description: wire.text(),
  rendered_description: wire.text(),
  date_created: wire.integer(),
  creator_id: wire.nullable(wire.integer()),
  invite_only: wire.boolean(),
  is_web_public: wire.boolean(),
  history_public_to_subscribers: wire.boolean(),
  stream_post_policy: wire.oneOf(1, 2, 3, 4),
  is_announcement_only: wire.boolean(),
  message_retention_days: wire.nullable(wire.integer()),
  topics_policy: wire.oneOf(...Object.values(WIRE_TOPICS_POLICIES)),
  first_message_id: wire.nullable(wire.integer()),
  folder_id: wire.nullable(wire.integer()),
  is_recently_active: wire.boolean(),
  ...permissionFields((Object.keys(CHANNEL_PERMISSIONS) as ChannelPermission[]).map(permissionTitle)),
  subscriber_count: wire.integer(),
  stream_weekly_traffic: wire.nullable(wire.integer()),
};

export const channel = wire.named('Channel', wire.fields(CHANNEL));

export const ONE_CHANNEL = wire.fields({ stream: channel });

/** Response with channels; `is_default` is present only on request (channels §4.1). */
export const CHANNEL_LIST = wire.fields({
  streams: wire.listOf(
    wire.named('ListedChannel', wire.fields({ ...CHANNEL, is_default: wire.optional(wire.boolean()) })),
  ),
});

const notification = wire.nullable(wire.boolean());

/** Personal settings of a subscription. */
export const OWN_SETTINGS = {
  color: wire.text(),
  is_muted: wire.boolean(),
  in_home_view: wire.boolean(),
  pin_to_top: wire.boolean(),
  desktop_notifications: notification,
  audible_notifications: notification,
  push_notifications: notification,
  email_notifications: notification,
  wildcard_mentions_notify: notification,
};

/** Present only if requested. */
const subscribers = wire.optional(wire.listOf(wire.integer()));

/** Channels §2.2. */
export const subscription = wire.named(
  'Subscription',
  wire.fields({
    ...CHANNEL,
    ...OWN_SETTINGS,
    subscribers,
  }),
);

/** Events §4.2. */
export const neverSubscribed = wire.named('NeverSubscribedChannel', wire.fields({ ...CHANNEL, subscribers }));

export const SUBSCRIPTIONS = wire.fields({ subscriptions: wire.listOf(subscription) });

const namesByUser = wire.dictionaryOf(wire.listOf(wire.text()));

/** Channels §4.5. */
const SUBSCRIBED_FIELDS = {
  subscribed: namesByUser,
  already_subscribed: namesByUser,
  unauthorized: wire.optional(wire.listOf(wire.text())),
  new_subscription_messages_sent: wire.optional(wire.boolean()),
};
export const SUBSCRIBED = wire.fields(SUBSCRIBED_FIELDS);

/** Channels §4.6. */
const UNSUBSCRIBED_FIELDS = { removed: wire.listOf(wire.text()), not_removed: wire.listOf(wire.text()) };
export const UNSUBSCRIBED = wire.fields(UNSUBSCRIBED_FIELDS);

/** Channels §4.7. */
export const CHANGED_SUBSCRIPTIONS = wire.fields({ ...SUBSCRIBED_FIELDS, ...UNSUBSCRIBED_FIELDS });

export const TOPICS = wire.fields({
  topics: wire.listOf(wire.fields({ name: wire.text(), max_id: wire.integer() })),
});

/** Channels §2.3. */
const CHANGEABLE_FOLDER = {
  name: wire.text(),
  description: wire.text(),
  rendered_description: wire.text(),
  is_archived: wire.boolean(),
};

export const channelFolder = wire.named(
  'ChannelFolder',
  wire.fields({
    id: wire.integer(),
    ...CHANGEABLE_FOLDER,
    order: wire.integer(),
    creator_id: wire.nullable(wire.integer()),
    date_created: wire.integer(),
  }),
);

export const folderChange = wire.fields(wire.optionalFields(CHANGEABLE_FOLDER));

export const FOLDERS = wire.fields({ channel_folders: wire.listOf(channelFolder) });

/** Channels §2.3. */
export const defaultChannelGroup = wire.named(
  'DefaultChannelGroup',
  wire.fields({
    id: wire.integer(),
    name: wire.text(),
    description: wire.text(),
    streams: wire.listOf(wire.integer()),
  }),
);

/** Channels §5.4. */
export const USER_TOPIC = {
  stream_id: wire.integer(),
  topic_name: wire.text(),
  last_updated: wire.integer(),
  visibility_policy: wire.oneOf(0, 1, 2, 3),
};

export const userTopic = wire.named('UserTopic', wire.fields(USER_TOPIC));

/** Channel name, topic and time: the format used before `user_topic`. */
export const mutedTopic = wire.listOf(wire.anyOf(wire.text(), wire.integer()));

/** `['canSubscribe', 'can_subscribe_group'], …` */
const WIRE_CHANNEL_PERMISSIONS = (Object.keys(CHANNEL_PERMISSIONS) as ChannelPermission[]).map(
  (name) => [name, permissionTitle(name)] as const,
);

/** Legacy numeric equivalents of can_send_message_group (channels §3.10). */
const POST_POLICIES = { everyone: 1, administrators: 2, fullMembers: 3, moderators: 4 } as const;
const ANNOUNCEMENT_ONLY = POST_POLICIES.administrators;

const postPolicyOf = (senders: ChannelView['sendersSystemGroup']) => POST_POLICIES[senders ?? 'everyone'];

export function presentPostPolicy(senders: ChannelView['sendersSystemGroup']) {
  const policy = postPolicyOf(senders);
  return { stream_post_policy: policy, is_announcement_only: policy === ANNOUNCEMENT_ONLY };
}

/** Channels §2.1: exactly these fields, because strict clients reject others. */
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

/** In characters; 5,000 typical channels take 4.5 million. */
const MAX_TEXTS = 24 * 1024 * 1024;
/** In bytes, including the texts; 5,000 typical channels take about 9 MB. */
const MAX_ENCODED = 32 * 1024 * 1024;

/** Storages return the same view object until the channel changes. */
const texts = new PresentedTexts<ChannelId, ChannelView>(MAX_TEXTS);
const encoded = new EncodedTexts(',', MAX_ENCODED);

function channelJson(channel: ChannelView): string {
  const existing = texts.get(channel.id);
  const text = existing?.version === channel ? existing.forms.get(0) : undefined;
  if (text !== undefined) return text;
  const made = JSON.stringify(presentChannel(channel));
  texts.put(channel.id, channel, 0, made);
  return made;
}

/** Presents channels for lists that add the reader's personal fields to each channel. */
export const channelText = (channel: ChannelView): PresentedText => new PresentedText(channelJson(channel));

/** Presents channels for lists shared by many readers. */
export const sharedChannels = (channels: readonly ChannelView[]): SharedList<ChannelView> =>
  new SharedList(channels, channelJson, encoded);

/** Presents a subscription (channels §2.2). `subscriberIds` is null if subscribers were not requested. */
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

/** Presents the personal settings of a subscription. */
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

/** Presents a listed channel; `is_default` is present only if requested (channels §4.1). */
export const presentListedChannel = (channel: ChannelView): PresentedText =>
  channelText(channel).with({ is_default: channel.isDefault });

export const presentOwnSubscription = ({ channel, subscription, subscriberIds }: ListedSubscription): PresentedText =>
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

/** Wire names of personal subscription settings (channels §4.9). */
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

/** Wire values of the topic `visibility_policy` (channels §5.4). */
export const VISIBILITY_POLICIES: Readonly<Record<TopicVisibility, number>> = {
  inherit: 0,
  muted: 1,
  unmuted: 2,
  followed: 3,
};

/** Returns a display name for the empty topic if the client cannot show it (channels §5.1). */
export const presentTopic = (topic: string, allowEmptyTopicName: boolean): string =>
  topic === '' && !allowEmptyTopicName ? EMPTY_TOPIC_DISPLAY_NAME : topic;
