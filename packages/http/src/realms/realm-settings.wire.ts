import { isSettingValue, type SettingValue } from '@parley/domain/kernel';
import { REALM_SETTINGS } from '@parley/domain/realms';
import { MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { json, refine, text } from '../kernel/param-types.js';
import { badValue } from '../kernel/wire-error.js';
import { WireSettings, type WireTable } from './wire-settings.js';

const ORGANIZATION_TYPES = {
  unspecified: 0,
  business: 10,
  openSource: 20,
  educationNonprofit: 30,
  education: 35,
  research: 40,
  event: 50,
  nonprofit: 60,
  government: 70,
  politicalGroup: 80,
  community: 90,
  personal: 100,
  other: 1000,
};

/** Organization §20. */
const VIDEO_CHAT_PROVIDERS = { none: 0, jitsi: 1, bigBlueButton: 4 };
/** What is no provider at all is a number still. */
const providerCode = (value: SettingValue): unknown =>
  VIDEO_CHAT_PROVIDERS[value as keyof typeof VIDEO_CHAT_PROVIDERS] ?? value;

const DEFAULT_SERVER = 'default';
/** A URL, or what stands for the server's own. */
const jitsiServerUrl = refine(json(text({ max: MAX_TEXT_LENGTH })), (url) =>
  url === DEFAULT_SERVER || isSettingValue(REALM_SETTINGS.jitsiServerUrl, url)
    ? undefined
    : '{p} is not an allowed_type',
);

/** What clients call the settings of an organization, and their values (organization §2.1, §2.3). */
const REALM_SETTING_TABLE = {
  allowMessageEditing: 'allow_message_editing',
  avatarChangesDisabled: 'avatar_changes_disabled',
  defaultAvatarSource: { name: 'default_avatar_source', codes: { gravatar: 'G', generated: 'J' } },
  defaultCodeBlockLanguage: 'default_code_block_language',
  defaultLanguage: { name: 'default_language', refusal: (value) => ({ text: `Invalid language '${value}'` }) },
  description: 'description',
  digestEmailsEnabled: 'digest_emails_enabled',
  digestWeekday: 'digest_weekday',
  disallowDisposableEmailAddresses: 'disallow_disposable_email_addresses',
  emailChangesDisabled: 'email_changes_disabled',
  emailsRestrictedToDomains: 'emails_restricted_to_domains',
  enableGuestUserDmWarning: 'enable_guest_user_dm_warning',
  enableGuestUserIndicator: 'enable_guest_user_indicator',
  enableReadReceipts: 'enable_read_receipts',
  enableSpectatorAccess: 'enable_spectator_access',
  gifRatingPolicy: {
    name: 'gif_rating_policy',
    codes: { disabled: 0, y: 1, g: 2, pg: 3, 'pg-13': 4, r: 5 },
    refusal: (value) => ({ text: `Invalid gif_rating_policy ${value}` }),
  },
  inlineImagePreview: 'inline_image_preview',
  inlineUrlEmbedPreview: 'inline_url_embed_preview',
  inviteRequired: 'invite_required',
  jitsiServerUrl: {
    name: 'jitsi_server_url',
    type: jitsiServerUrl,
    fromWire: (url) => (url === DEFAULT_SERVER ? null : (url as string)),
  },
  mediaPreviewSize: 'media_preview_size',
  messageContentAllowedInEmailNotifications: 'message_content_allowed_in_email_notifications',
  messageContentDeleteLimitSeconds: {
    name: 'message_content_delete_limit_seconds',
    refusal: badValue('message_content_delete_limit_seconds'),
  },
  messageContentEditLimitSeconds: {
    name: 'message_content_edit_limit_seconds',
    refusal: badValue('message_content_edit_limit_seconds'),
  },
  messageEditHistoryVisibilityPolicy: 'message_edit_history_visibility_policy',
  messageRetentionDays: { name: 'message_retention_days', nullAs: -1, refusal: badValue('message_retention_days') },
  moveMessagesBetweenChannelsLimitSeconds: {
    name: 'move_messages_between_streams_limit_seconds',
    refusal: badValue('move_messages_between_streams_limit_seconds'),
  },
  moveMessagesWithinChannelLimitSeconds: {
    name: 'move_messages_within_stream_limit_seconds',
    refusal: badValue('move_messages_within_stream_limit_seconds'),
  },
  nameChangesDisabled: 'name_changes_disabled',
  organizationType: { name: 'org_type', codes: ORGANIZATION_TYPES },
  ownerFullContentAccess: 'owner_full_content_access',
  presenceDisabled: 'presence_disabled',
  requireE2eePushNotifications: 'require_e2ee_push_notifications',
  requireUniqueNames: 'require_unique_names',
  sendChannelEventsMessages: 'send_channel_events_messages',
  sendWelcomeEmails: 'send_welcome_emails',
  topicsPolicy: {
    name: 'topics_policy',
    codes: { emptyTopicAllowed: 'allow_empty_topic', emptyTopicRefused: 'disable_empty_topic' },
  },
  videoChatProvider: {
    name: 'video_chat_provider',
    codes: VIDEO_CHAT_PROVIDERS,
    refusal: (value) => ({ text: `Invalid video_chat_provider ${providerCode(value)}` }),
  },
  waitingPeriodThreshold: 'waiting_period_threshold',
  wantAdvertiseInCommunitiesDirectory: 'want_advertise_in_communities_directory',
  welcomeMessageCustomText: 'welcome_message_custom_text',
  moderationRequestChannelId: {
    name: 'moderation_request_channel_id',
    nullAs: -1,
    refusal: () => ({ text: 'Invalid channel ID' }),
  },
  newChannelAnnouncementsChannelId: {
    name: 'new_stream_announcements_stream_id',
    nullAs: -1,
    refusal: () => ({ text: 'Invalid channel ID' }),
  },
  signupAnnouncementsChannelId: {
    name: 'signup_announcements_stream_id',
    nullAs: -1,
    refusal: () => ({ text: 'Invalid channel ID' }),
  },
  updateAnnouncementsChannelId: {
    name: 'zulip_update_announcements_stream_id',
    nullAs: -1,
    refusal: () => ({ text: 'Invalid channel ID' }),
  },
} as const satisfies WireTable<typeof REALM_SETTINGS>;

export const REALM_SETTING_FORMS = new WireSettings(REALM_SETTINGS, REALM_SETTING_TABLE);
