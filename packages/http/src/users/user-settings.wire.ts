import { isSettingValue } from '@parley/domain/kernel';
import { type EmailVisibility, USER_SETTINGS } from '@parley/domain/realms';
import { MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { refine, text } from '../kernel/param-types.js';
import { WireSettings, type WireTable } from '../realms/wire-settings.js';

const timeZone = refine(text({ max: MAX_TEXT_LENGTH }), (name) =>
  isSettingValue(USER_SETTINGS.timezone, name) ? undefined : '{p} is not a recognized time zone',
);
const TOPIC_POLICY = { participating: 1, sending: 2, starting: 3, never: 4 };

/** What clients call the settings of users, and their values (users §6.1). */
const USER_SETTING_TABLE = {
  allowPrivateDataExport: 'allow_private_data_export',
  automaticallyFollowTopicsPolicy: { name: 'automatically_follow_topics_policy', codes: TOPIC_POLICY },
  automaticallyFollowTopicsWhereMentioned: 'automatically_follow_topics_where_mentioned',
  automaticallyUnmuteTopicsInMutedChannelsPolicy: {
    name: 'automatically_unmute_topics_in_muted_streams_policy',
    codes: TOPIC_POLICY,
  },
  colorScheme: { name: 'color_scheme', codes: { automatic: 1, dark: 2, light: 3 } },
  defaultLanguage: { name: 'default_language', refusal: () => ({ text: 'Invalid default_language' }) },
  demoteInactiveChannels: { name: 'demote_inactive_streams', codes: { automatic: 1, always: 2, never: 3 } },
  desktopIconCountDisplay: {
    name: 'desktop_icon_count_display',
    codes: { allUnreads: 1, directMentionsAndFollowed: 2, directAndMentions: 3, none: 4 },
  },
  displayEmojiReactionUsers: 'display_emoji_reaction_users',
  emailAddressVisibility: {
    name: 'email_address_visibility',
    codes: { everyone: 1, members: 2, administrators: 3, nobody: 4, moderators: 5 },
  },
  emailNotificationsBatchingPeriodSeconds: {
    name: 'email_notifications_batching_period_seconds',
    refusal: (value) => ({ text: `Invalid email batching period: ${value} seconds` }),
  },
  emojiset: 'emojiset',
  enableDesktopNotifications: 'enable_desktop_notifications',
  enableDigestEmails: 'enable_digest_emails',
  enableDraftsSynchronization: 'enable_drafts_synchronization',
  enableFollowedTopicAudibleNotifications: 'enable_followed_topic_audible_notifications',
  enableFollowedTopicDesktopNotifications: 'enable_followed_topic_desktop_notifications',
  enableFollowedTopicEmailNotifications: 'enable_followed_topic_email_notifications',
  enableFollowedTopicPushNotifications: 'enable_followed_topic_push_notifications',
  enableFollowedTopicWildcardMentionsNotify: 'enable_followed_topic_wildcard_mentions_notify',
  enableLoginEmails: 'enable_login_emails',
  enableMarketingEmails: 'enable_marketing_emails',
  enableOfflineEmailNotifications: 'enable_offline_email_notifications',
  enableOfflinePushNotifications: 'enable_offline_push_notifications',
  enableOnlinePushNotifications: 'enable_online_push_notifications',
  enableSounds: 'enable_sounds',
  enableChannelAudibleNotifications: 'enable_stream_audible_notifications',
  enableChannelDesktopNotifications: 'enable_stream_desktop_notifications',
  enableChannelEmailNotifications: 'enable_stream_email_notifications',
  enableChannelPushNotifications: 'enable_stream_push_notifications',
  enterSends: 'enter_sends',
  fluidLayoutWidth: 'fluid_layout_width',
  hideAiFeatures: 'hide_ai_features',
  highContrastMode: 'high_contrast_mode',
  leftSideUserlist: 'left_side_userlist',
  messageContentInEmailNotifications: 'message_content_in_email_notifications',
  notificationSound: {
    name: 'notification_sound',
    refusal: (value) => ({ text: `Invalid notification sound '${value}'` }),
  },
  pmContentInDesktopNotifications: 'pm_content_in_desktop_notifications',
  presenceEnabled: 'presence_enabled',
  realmNameInEmailNotificationsPolicy: {
    name: 'realm_name_in_email_notifications_policy',
    codes: { automatic: 1, always: 2, never: 3 },
  },
  receivesTypingNotifications: 'receives_typing_notifications',
  resolvedTopicNoticeAutoReadPolicy: {
    name: 'resolved_topic_notice_auto_read_policy',
    codes: { always: 'always', exceptFollowed: 'except_followed', never: 'never' },
  },
  sendPrivateTypingNotifications: 'send_private_typing_notifications',
  sendReadReceipts: 'send_read_receipts',
  sendChannelTypingNotifications: 'send_stream_typing_notifications',
  starredMessageCounts: 'starred_message_counts',
  timezone: { name: 'timezone', type: timeZone },
  translateEmoticons: 'translate_emoticons',
  twentyFourHourTime: 'twenty_four_hour_time',
  userListStyle: { name: 'user_list_style', codes: { compact: 1, withStatus: 2, withAvatar: 3 } },
  webAnimateImagePreviews: {
    name: 'web_animate_image_previews',
    codes: { always: 'always', onHover: 'on_hover', never: 'never' },
  },
  webChannelDefaultView: {
    name: 'web_channel_default_view',
    codes: { topTopic: 1, channelFeed: 2, topicList: 3, topUnreadTopic: 4 },
  },
  webEscapeNavigatesToHomeView: 'web_escape_navigates_to_home_view',
  webFontSizePx: 'web_font_size_px',
  webHomeView: { name: 'web_home_view', codes: { inbox: 'inbox', recent: 'recent', allMessages: 'all_messages' } },
  webInboxShowChannelFolders: 'web_inbox_show_channel_folders',
  webLeftSidebarShowChannelFolders: 'web_left_sidebar_show_channel_folders',
  webLeftSidebarUnreadsCountSummary: 'web_left_sidebar_unreads_count_summary',
  webLineHeightPercent: 'web_line_height_percent',
  webMarkReadOnScrollPolicy: {
    name: 'web_mark_read_on_scroll_policy',
    codes: { always: 1, conversationViews: 2, never: 3 },
  },
  webNavigateToSentMessage: 'web_navigate_to_sent_message',
  webChannelUnreadsCountDisplayPolicy: {
    name: 'web_stream_unreads_count_display_policy',
    codes: { all: 1, unmuted: 2, none: 3 },
  },
  webSuggestUpdateTimezone: 'web_suggest_update_timezone',
  wildcardMentionsNotify: 'wildcard_mentions_notify',
} as const satisfies WireTable<typeof USER_SETTINGS>;

export const USER_SETTING_FORMS = new WireSettings(USER_SETTINGS, USER_SETTING_TABLE);

/** By the number that clients know it by, which was checked; null: none was given. */
export const toEmailVisibility = (email_address_visibility: number | undefined): EmailVisibility | null =>
  (USER_SETTING_FORMS.read({ email_address_visibility }).emailAddressVisibility as EmailVisibility | undefined) ?? null;
