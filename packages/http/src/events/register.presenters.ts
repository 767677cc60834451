import {
  type ChannelView,
  isAtLeast,
  isEmailPublic,
  NOTIFICATION_SOUNDS,
  publicAddress,
  type Snapshot,
  type Subscription,
  type UserId,
  type UserSettings,
} from '@parley/domain';
import {
  presentChannel,
  presentSubscription,
  presentTopic,
  VISIBILITY_POLICIES,
} from '../channels/channel.presenters.js';
import { presentGroup } from '../groups/group.presenters.js';
import type { PublicRealm } from '../realms/public-realm.js';
import { presentOwnRights, presentRealm, type ServerInfo } from '../realms/realm.presenters.js';
import type { ClientVariant } from '../routing/client-variant.js';
import { FEATURE_LEVEL, ZULIP_VERSION } from '../server-settings/server-version.js';
import { presentAvatar } from '../users/user.presenters.js';
import { USER_SETTING_FORMS } from '../users/user-settings.wire.js';
import { can, type QueuePresentation } from './queue-presentation.js';
import { isRequested, type RegisterSection } from './register-sections.js';

/** Everything the presenters of a snapshot read beside it. */
export interface SnapshotContext {
  readonly snapshot: Snapshot;
  /** The role requirements the client asked for; null: everything (events §3.2). */
  readonly fetchEventTypes: ReadonlySet<string> | null;
  readonly presentation: QueuePresentation;
  readonly includeSubscribers: boolean;
  readonly variant: ClientVariant;
  readonly publicRealm: PublicRealm;
  readonly serverInfo: ServerInfo;
  /** Whole seconds. */
  readonly now: number;
}

/**
 * What register answers beside the queue, but for the lists of people, which are joined from cached text. Groups whose
 * feature is still to come hold what a fresh organization has.
 */
export function presentSnapshot(context: SnapshotContext): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    zulip_version: ZULIP_VERSION,
    zulip_merge_base: ZULIP_VERSION,
    zulip_feature_level: FEATURE_LEVEL,
  };
  for (const [section, present] of Object.entries(SECTIONS) as [RegisterSection, Present][]) {
    if (isRequested(section, context.fetchEventTypes)) Object.assign(fields, present(context));
  }
  return fields;
}

type Present = (context: SnapshotContext) => Record<string, unknown>;
const staticSection =
  (fields: Record<string, unknown>): Present =>
  () =>
    fields;

const SECTIONS: Readonly<Record<RegisterSection, Present>> = {
  alert_words: staticSection({ alert_words: [] }),
  custom_profile_fields: () => ({ custom_profile_fields: [], custom_profile_field_types: PROFILE_FIELD_TYPES }),
  onboarding_steps: staticSection({ onboarding_steps: [], navigation_tour_video_url: null }),
  message: ({ snapshot }) => ({ max_message_id: snapshot.newestMessageId ?? -1 }),
  unread: (context) => ({ unread_msgs: presentUnread(context) }),
  starred_messages: ({ snapshot }) => ({ starred_messages: snapshot.starredIds ?? [] }),
  saved_snippets: staticSection({ saved_snippets: [] }),
  navigation_views: staticSection({ navigation_views: [] }),
  drafts: staticSection({ drafts: [] }),
  scheduled_messages: staticSection({ scheduled_messages: [] }),
  reminders: staticSection({ reminders: [] }),
  muted_topics: presentMutedTopics,
  user_topic: presentUserTopics,
  muted_users: staticSection({ muted_users: [] }),
  user_status: staticSection({ user_status: {} }),
  presence: ({ now }) => ({ presences: {}, presence_last_update_id: -1, server_timestamp: now }),
  realm: ({ snapshot, publicRealm, serverInfo }) =>
    presentRealm(snapshot.realm, snapshot.realmPermissions!, publicRealm, serverInfo),
  realm_user_settings_defaults: ({ snapshot }) => ({
    realm_user_settings_defaults: presentUserSettings(snapshot.realm.userDefaults, false),
  }),
  realm_domains: staticSection({ realm_domains: [] }),
  realm_emoji: staticSection({ realm_emoji: {} }),
  realm_linkifiers: staticSection({ realm_linkifiers: [] }),
  realm_filters: staticSection({ realm_filters: [] }),
  realm_playgrounds: staticSection({ realm_playgrounds: [] }),
  realm_billing: staticSection({ realm_billing: { has_pending_sponsorship_request: false } }),
  realm_user_groups: ({ snapshot, presentation }) => ({
    realm_user_groups: (snapshot.groups ?? [])
      .filter((group) => !group.isDeactivated || can(presentation, 'include_deactivated_groups'))
      .map(presentGroup),
  }),
  realm_user: presentSelf,
  realm_bot: staticSection({ realm_bots: [] }),
  realm_embedded_bots: staticSection({ realm_embedded_bots: [] }),
  realm_incoming_webhook_bots: staticSection({ realm_incoming_webhook_bots: [] }),
  recent_private_conversations: ({ snapshot }) => ({
    recent_private_conversations: (snapshot.recentConversations ?? []).map(({ userIds, lastMessageId }) => ({
      user_ids: userIds,
      max_message_id: lastMessageId,
    })),
  }),
  subscription: presentSubscriptions,
  channel_folders: staticSection({ channel_folders: [] }),
  stream: (context) => ({ streams: shownChannels(context).map((channel) => presentChannel(channel)) }),
  default_streams: ({ snapshot }) => ({ realm_default_streams: snapshot.defaultChannelIds ?? [] }),
  default_stream_groups: staticSection({ realm_default_stream_groups: [] }),
  stop_words: () => ({ stop_words: STOP_WORDS }),
  user_settings: (context) => ({
    user_settings: presentUserSettings(context.snapshot.user.settings, true),
    ...(context.variant.hasLegacyRegisterFields && presentLegacySettings(context.snapshot.user.settings)),
  }),
  video_calls: staticSection({ has_zoom_token: false, has_webex_token: false }),
  giphy: staticSection({ giphy_api_key: '' }),
  tenor: staticSection({ tenor_api_key: '' }),
  klipy: staticSection({ klipy_api_key: '' }),
  device: staticSection({ devices: {} }),
};

/** The viewer themselves; the lists of people come beside it (events §3.3). */
function presentSelf({ snapshot, presentation, publicRealm, serverInfo }: SnapshotContext): Record<string, unknown> {
  const { user, viewer, realm } = snapshot;
  const { role } = viewer;
  const avatarViewer = { seesEmail: true, clientGravatar: presentation.clientGravatar && isEmailPublic(user) };
  const { avatar_source, avatar_url, avatar_url_medium } = presentAvatar(user, publicRealm, avatarViewer);
  return {
    user_id: user.id,
    email: publicAddress(user, publicRealm.emailDomain),
    delivery_email: user.email,
    full_name: user.fullName,
    avatar_source,
    avatar_url,
    avatar_url_medium,
    is_owner: role === 'owner',
    is_admin: isAtLeast(role, 'administrator'),
    is_moderator: isAtLeast(role, 'moderator'),
    is_guest: role === 'guest',
    ...presentOwnRights(viewer, realm, serverInfo),
  };
}

function presentUserTopics({ snapshot, presentation }: SnapshotContext): Record<string, unknown> {
  return {
    user_topics: (snapshot.topicPolicies ?? []).map(({ channelId, topic, visibility, changedAt }) => ({
      stream_id: channelId,
      topic_name: presentTopic(topic, can(presentation, 'empty_topic_name')),
      last_updated: changedAt,
      visibility_policy: VISIBILITY_POLICIES[visibility],
    })),
  };
}

function presentMutedTopics({ snapshot, presentation }: SnapshotContext): Record<string, unknown> {
  return {
    muted_topics: (snapshot.topicPolicies ?? [])
      .filter(({ visibility, channelName }) => visibility === 'muted' && channelName !== null)
      .map(({ channelName, topic, changedAt }) => [
        channelName,
        presentTopic(topic, can(presentation, 'empty_topic_name')),
        changedAt,
      ]),
  };
}

/** Archived channels only for clients that know there are such (events §2). */
const shownChannels = ({ snapshot, presentation }: SnapshotContext): readonly ChannelView[] =>
  (snapshot.channels ?? []).filter((channel) => !channel.isArchived || can(presentation, 'archived_channels'));

function presentSubscriptions(context: SnapshotContext): Record<string, unknown> {
  const { snapshot, presentation, includeSubscribers } = context;
  const { viewer, user } = snapshot;
  const rows = new Map<number, Subscription>(snapshot.subscriptions?.rows.map((row) => [row.channelId, row]));
  const subscribersOf = (channel: ChannelView): readonly UserId[] | null =>
    includeSubscribers ? (snapshot.subscriptions?.subscriberIds.get(channel.id) ?? []) : null;
  const present = (channel: ChannelView) => {
    const subscription = rows.get(channel.id)!;
    const shown = can(presentation, 'notification_settings_null')
      ? subscription
      : inherited(subscription, user.settings);
    return presentSubscription(channel, shown, subscribersOf(channel));
  };
  const channels = shownChannels(context);
  const isFollowed = (channel: ChannelView) => rows.get(channel.id)?.isActive === true;
  const never = channels.filter(
    (channel) => !rows.has(channel.id) && (viewer.role !== 'guest' || channel.privacy === 'webPublic'),
  );
  return {
    subscriptions: channels.filter(isFollowed).map(present),
    unsubscribed: channels.filter((channel) => rows.has(channel.id) && !isFollowed(channel)).map(present),
    never_subscribed: never.map((channel) => ({
      ...presentChannel(channel),
      ...(includeSubscribers && { subscribers: subscribersOf(channel) }),
    })),
  };
}

/** For clients that know nothing of inheriting: what the general settings say, where the channel has none of its own. */
export function inherited(subscription: Subscription, settings: UserSettings): Subscription {
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

/** Events §4.4. */
function presentUnread({ snapshot, presentation }: SnapshotContext): Record<string, unknown> {
  const { conversations, mentionIds, recipients, oldOnesAreMissing } = snapshot.unread!;
  const self = snapshot.viewer.id;
  const pairs: { other_user_id: number; sender_id: number; unread_message_ids: readonly number[] }[] = [];
  const groups: { user_ids_string: string; unread_message_ids: readonly number[] }[] = [];
  const topics: { stream_id: number; topic: string; unread_message_ids: readonly number[] }[] = [];
  let count = 0;
  for (const { recipientId, channelId, topic, ids, isMuted } of conversations) {
    if (!isMuted) count += ids.length;
    if (channelId !== null) {
      const shown = presentTopic(topic, can(presentation, 'empty_topic_name'));
      topics.push({ stream_id: channelId, topic: shown, unread_message_ids: ids });
      continue;
    }
    const recipient = recipients.get(recipientId);
    const people = recipient?.kind === 'direct' ? recipient.userIds : [];
    const other = people.find((id) => id !== self) ?? self;
    if (people.length > 2) groups.push({ user_ids_string: people.join(','), unread_message_ids: ids });
    else pairs.push({ other_user_id: other, sender_id: other, unread_message_ids: ids });
  }
  return {
    count,
    pms: pairs.sort((a, b) => a.other_user_id - b.other_user_id),
    streams: topics.sort((a, b) => a.stream_id - b.stream_id || compareText(a.topic, b.topic)),
    huddles: groups.sort((a, b) => compareText(a.user_ids_string, b.user_ids_string)),
    mentions: mentionIds,
    old_unreads_missing: oldOnesAreMissing,
  };
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Events §5.3; the defaults for newcomers have no time zone. */
function presentUserSettings(settings: UserSettings, isPersonal: boolean): Record<string, unknown> {
  const { timezone, ...rest } = USER_SETTING_FORMS.present(settings);
  return {
    ...rest,
    emojiset_choices: EMOJI_SETS,
    available_notification_sounds: NOTIFICATION_SOUNDS,
    ...(isPersonal && { timezone }),
  };
}

/** What zulip-term 0.7 reads at the top level and dies without (clients.md). */
function presentLegacySettings(settings: UserSettings): Record<string, unknown> {
  return {
    twenty_four_hour_time: settings.twentyFourHourTime,
    pm_content_in_desktop_notifications: settings.pmContentInDesktopNotifications,
  };
}

const PROFILE_FIELD_TYPES = {
  SHORT_TEXT: { id: 1, name: 'Text (short)' },
  LONG_TEXT: { id: 2, name: 'Text (long)' },
  SELECT: { id: 3, name: 'List of options' },
  DATE: { id: 4, name: 'Date' },
  URL: { id: 5, name: 'Link' },
  USER: { id: 6, name: 'Users' },
  EXTERNAL_ACCOUNT: { id: 7, name: 'External account' },
  PRONOUNS: { id: 8, name: 'Pronouns' },
};

const EMOJI_SETS = [
  { key: 'google', text: 'Google' },
  { key: 'twitter', text: 'Twitter' },
  { key: 'text', text: 'Plain text' },
];

/** Words a search passes over. */
const STOP_WORDS = (
  'i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it ' +
  'its itself they them their theirs themselves what which who whom this that these those am is are was were be been ' +
  'being have has had having do does did doing a an the and but if or because as until while of at by for with about ' +
  'against between into through during before after above below to from up down in out on off over under again further ' +
  'then once here there when where why how all any both each few more most other some such no nor not only own same so ' +
  'than too very s t can will just don should now'
).split(' ');
