import { CHANNEL_PERMISSIONS, type ChannelPermission } from '@parley/domain/channels';
import { permissionFields } from '../groups/group.answers.js';
import { permissionTitle } from '../groups/permission-title.js';
import * as wire from '../kernel/wire-schema.js';
import { WIRE_TOPICS_POLICIES } from './channel-words.js';

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

/** `is_default`: where it was asked for (channels §4.1). */
export const CHANNELS = wire.fields({
  streams: wire.listOf(
    wire.named('ListedChannel', wire.fields({ ...CHANNEL, is_default: wire.optional(wire.boolean()) })),
  ),
});

const notification = wire.nullable(wire.boolean());

/** What of a subscription is the subscriber's own. */
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

/** Where they were asked for. */
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

/** Name of the channel, topic, time: the form before `user_topic`. */
export const mutedTopic = wire.listOf(wire.anyOf(wire.text(), wire.integer()));
