import {
  type ChannelView,
  loadChannelFolders,
  loadChannels,
  loadDefaultChannelGroups,
  loadDefaultChannelIds,
  loadOwnSubscriptions,
  loadSubscriberIds,
  loadTopicPolicies,
  type NamedTopicPolicy,
  type Subscription,
} from '@parley/domain/channels';
import { conversationAt, getOrThrow, type TokenScope, type UserId } from '@parley/domain/kernel';
import type { UserSettings } from '@parley/domain/realms';
import { type RegisterSection, registerSection, type SectionContext } from '../declarations/register-section.js';
import { can } from '../delivery/event-presenter.js';
import { PresentedList } from '../params/json-lists.js';
import * as wire from '../wire/schema.js';
import {
  channel,
  channelFolder,
  channelText,
  defaultChannelGroup,
  mutedTopic,
  neverSubscribed,
  presentDefaultChannelGroup,
  presentFolder,
  presentSubscription,
  presentTopic,
  sharedChannels,
  subscription,
  userTopic,
  VISIBILITY_POLICIES,
} from './channel.presenters.js';

export const mutedTopicsSection: RegisterSection = registerSection({
  name: 'muted_topics',
  fields: { muted_topics: wire.listOf(mutedTopic) },
  forSpectators: { muted_topics: [] },
  // Clients that request user_topic do not need the older form.
  replacedBy: 'user_topic',
  load: (snapshot) => snapshot.load(loadTopicPolicies),
  present: (policies, { presentation }) => ({
    muted_topics: new PresentedList(
      policies.filter(({ visibility }) => visibility === 'muted'),
      ({ channelName, topic, changedAt }: NamedTopicPolicy) => [
        channelName,
        presentTopic(topic, can(presentation, 'empty_topic_name')),
        changedAt,
      ],
    ),
  }),
});

export const userTopicsSection: RegisterSection = registerSection({
  name: 'user_topic',
  fields: { user_topics: wire.listOf(userTopic) },
  forSpectators: { user_topics: [] },
  load: (snapshot) => snapshot.load(loadTopicPolicies),
  forTokens: (policies, scope) =>
    policies.filter(({ channelId, topic }) => conversationAt(scope, { kind: 'channel', channelId, topic })),
  present: (policies, { presentation }) => ({
    user_topics: new PresentedList(policies, ({ channelId, topic, visibility, changedAt }: NamedTopicPolicy) => ({
      stream_id: channelId,
      topic_name: presentTopic(topic, can(presentation, 'empty_topic_name')),
      last_updated: changedAt,
      visibility_policy: VISIBILITY_POLICIES[visibility],
    })),
  }),
});

export const channelsSection: RegisterSection = registerSection<Omit<SubscriptionData, 'subscriberIds'>>({
  name: 'stream',
  fields: { streams: wire.listOf(channel) },
  forSpectators: 'likeGuests',
  forTokens: ({ channels, rows }, scope) => ({ channels: channelsWithin(channels, scope), rows }),
  load: async (snapshot) => ({
    channels: await snapshot.load(loadChannels),
    rows: await snapshot.load(loadOwnSubscriptions),
  }),
  present: ({ channels, rows }, context) => {
    const shown = shownChannels(channels, context);
    if (!can(context.presentation, 'partial_state')) return { streams: sharedChannels(shown) };
    const subscribed = new Set<number>(rows.map(({ channelId }) => channelId));
    const isListed = (channel: ChannelView) => subscribed.has(channel.id) || isListedUnsubscribed(channel, context);
    return { streams: sharedChannels(shown.filter((channel) => !isListed(channel))) };
  },
});

/** True for channels that `never_subscribed` contains if the viewer was never subscribed. */
const isListedUnsubscribed = (channel: ChannelView, { viewer }: SectionContext): boolean =>
  viewer.role !== 'guest' || channel.privacy === 'webPublic';

export const defaultChannelsSection: RegisterSection = registerSection({
  name: 'default_streams',
  fields: { realm_default_streams: wire.listOf(wire.integer()) },
  forSpectators: { realm_default_streams: [] },
  load: (snapshot) => snapshot.load(loadDefaultChannelIds),
  present: (ids) => ({ realm_default_streams: ids }),
});

export const defaultChannelGroupsSection: RegisterSection = registerSection({
  name: 'default_stream_groups',
  fields: { realm_default_stream_groups: wire.listOf(defaultChannelGroup) },
  forSpectators: { realm_default_stream_groups: [] },
  load: (snapshot) => snapshot.load(loadDefaultChannelGroups),
  present: (groups) => ({ realm_default_stream_groups: groups.map(presentDefaultChannelGroup) }),
});

export const channelFoldersSection: RegisterSection = registerSection({
  name: 'channel_folders',
  fields: { channel_folders: wire.listOf(channelFolder) },
  forSpectators: { channel_folders: [] },
  // Deliberate: the reference server uses the singular for the event and the plural for the section.
  load: (snapshot) => snapshot.load(loadChannelFolders),
  present: (folders) => ({ channel_folders: new PresentedList(folders, presentFolder) }),
});

interface SubscriptionData {
  readonly channels: readonly ChannelView[];
  /** Subscriptions of the viewer, including former ones. */
  readonly rows: readonly Subscription[];
  /** Null if subscribers were not requested. */
  readonly subscriberIds: ReadonlyMap<number, readonly UserId[]> | null;
}

export const subscriptionsSection: RegisterSection = registerSection<SubscriptionData>({
  name: 'subscription',
  fields: {
    subscriptions: wire.listOf(subscription),
    unsubscribed: wire.listOf(subscription),
    never_subscribed: wire.listOf(neverSubscribed),
  },
  forSpectators: 'likeGuests',
  forTokens: ({ channels, rows }, scope) => ({ channels: channelsWithin(channels, scope), rows, subscriberIds: null }),
  load: async (snapshot, { includeSubscribers }) => ({
    channels: await snapshot.load(loadChannels),
    rows: await snapshot.load(loadOwnSubscriptions),
    subscriberIds: includeSubscribers ? await snapshot.load(loadSubscriberIds) : null,
  }),
  present: presentSubscriptionLists,
});

function channelsWithin(channels: readonly ChannelView[], { conversations }: TokenScope): readonly ChannelView[] {
  return channels.filter(({ id }) => conversations.some((one) => one.kind === 'channel' && one.channelId === id));
}

function presentSubscriptionLists(
  { channels, rows: ownRows, subscriberIds }: SubscriptionData,
  context: SectionContext,
) {
  const { presentation, user } = context;
  const rows = new Map<number, Subscription>(ownRows.map((row) => [row.channelId, row]));
  const subscribersOf = (channel: ChannelView): readonly UserId[] | null =>
    subscriberIds && (subscriberIds.get(channel.id) ?? []);
  const present = (channel: ChannelView) => {
    const subscription = getOrThrow(rows, channel.id);
    const shown = can(presentation, 'notification_settings_null')
      ? subscription
      : inherited(subscription, user.settings);
    return presentSubscription(channel, shown, subscribersOf(channel));
  };
  const shown = shownChannels(channels, context);
  const isSubscribed = (channel: ChannelView) => rows.get(channel.id)?.isActive === true;
  const never = shown.filter((channel) => !rows.has(channel.id) && isListedUnsubscribed(channel, context));
  return {
    subscriptions: new PresentedList(shown.filter(isSubscribed), present),
    unsubscribed: new PresentedList(
      shown.filter((channel) => rows.has(channel.id) && !isSubscribed(channel)),
      present,
    ),
    never_subscribed: new PresentedList(never, (channel) =>
      channelText(channel).with(subscriberIds ? { subscribers: subscribersOf(channel) } : {}),
    ),
  };
}

/** Hides archived channels from clients that do not support them (events §2). */
const shownChannels = (channels: readonly ChannelView[], { presentation }: SectionContext): readonly ChannelView[] =>
  channels.filter((channel) => !channel.isArchived || can(presentation, 'archived_channels'));

/** Replaces inherited settings with the user's general settings, for clients that do not support inheritance. */
function inherited(subscription: Subscription, settings: UserSettings): Subscription {
  const { notifications } = subscription;
  return {
    ...subscription,
    notifications: {
      desktop: notifications.desktop ?? settings.enableChannelDesktopNotifications,
      audible: notifications.audible ?? settings.enableChannelAudibleNotifications,
      push: notifications.push ?? settings.enableChannelPushNotifications,
      email: notifications.email ?? settings.enableChannelEmailNotifications,
      wildcardMentions: notifications.wildcardMentions ?? settings.wildcardMentionsNotify,
    },
  };
}
