// Made of the route table by `npm run client-api`: change that instead.

export type User = {
  user_id: number;
  delivery_email: string | null;
  email: string;
  full_name: string;
  date_joined: string;
  is_active?: boolean;
  is_deleted?: boolean;
  is_owner: boolean;
  is_admin: boolean;
  is_guest: boolean;
  is_bot: boolean;
  role: 100 | 200 | 300 | 400 | 600;
  timezone: string;
  avatar_url: string | null;
  avatar_version: number;
  is_imported_stub: boolean;
  bot_type?: number | null;
  bot_owner_id?: number | null;
  is_system_bot?: boolean;
  profile_data?: Record<string, {
    value: string;
    rendered_value?: string;
  }>;
};

export type CustomEmoji = {
  id: string;
  name: string;
  source_url: string;
  still_url: string | null;
  deactivated: boolean;
  author_id: number | null;
};

export type AllowedDomain = {
  domain: string;
  allow_subdomains: boolean;
};

export type Linkifier = {
  pattern: string;
  url_template: string;
  id: number;
  example_input: string | null;
  reverse_template: string | null;
  alternative_url_templates: string[];
};

export type Playground = {
  id: number;
  name: string;
  pygments_language: string;
  url_template: string;
};

export type UnreadMessages = {
  count: number;
  pms: ({
    other_user_id: number;
    sender_id: number;
    unread_message_ids: number[];
  })[];
  streams: ({
    stream_id: number;
    topic: string;
    unread_message_ids: number[];
  })[];
  huddles: ({
    user_ids_string: string;
    unread_message_ids: number[];
  })[];
  mentions: number[];
  old_unreads_missing: boolean;
};

export type RecentConversation = {
  user_ids: number[];
  max_message_id: number;
};

export type Bot = {
  user_id: number;
  default_sending_stream: string | null;
  default_events_register_stream: string | null;
  default_all_public_streams: boolean;
  services: ({
    base_url: string;
    interface: number;
    token: string;
  })[];
};

export type Device = {
  push_key_id: number | null;
  push_token_id: string | null;
  pending_push_token_id: string | null;
  push_token_last_updated_timestamp: number | null;
  push_registration_error_code: string | null;
};

export type UserStatus = {
  away?: boolean;
  status_text?: string;
  emoji_name?: string;
  emoji_code?: string;
  reaction_type?: 'unicode_emoji' | 'realm_emoji' | 'service_extra_emoji' | 'zulip_extra_emoji';
};

export type ScheduledMessage = {
  scheduled_message_id: number;
  type: 'stream' | 'private';
  to: number | number[];
  topic?: string;
  content: string;
  rendered_content: string;
  scheduled_delivery_timestamp: number;
  failed: boolean;
};

export type Reminder = {
  reminder_id: number;
  type: 'private';
  to: number[];
  content: string;
  rendered_content: string;
  scheduled_delivery_timestamp: number;
  failed: boolean;
  reminder_target_message_id: number;
};

export type Draft = {
  id: number;
  type: 'stream' | 'private' | '';
  to: number[];
  topic: string;
  content: string;
  timestamp: number;
};

export type SavedSnippet = {
  id: number;
  title: string;
  content: string;
  date_created: number;
};

export type NavigationView = {
  fragment: string;
  is_pinned: boolean;
  name: string | null;
};

export type OnboardingStep = {
  type: 'one_time_notice';
  name: string;
};

export type MutedUser = {
  id: number;
  timestamp: number;
};

export type UserTopic = {
  stream_id: number;
  topic_name: string;
  last_updated: number;
  visibility_policy: 0 | 1 | 2 | 3;
};

export type GroupSetting = number | {
  direct_members: number[];
  direct_subgroups: number[];
};

export type Subscription = {
  stream_id: number;
  name: string;
  is_archived: boolean;
  description: string;
  rendered_description: string;
  date_created: number;
  creator_id: number | null;
  invite_only: boolean;
  is_web_public: boolean;
  history_public_to_subscribers: boolean;
  stream_post_policy: 1 | 2 | 3 | 4;
  is_announcement_only: boolean;
  message_retention_days: number | null;
  topics_policy: 'inherit' | 'allow_empty_topic' | 'disable_empty_topic' | 'empty_topic_only';
  first_message_id: number | null;
  folder_id: number | null;
  is_recently_active: boolean;
  can_add_subscribers_group: GroupSetting;
  can_administer_channel_group: GroupSetting;
  can_create_topic_group: GroupSetting;
  can_delete_any_message_group: GroupSetting;
  can_delete_own_message_group: GroupSetting;
  can_move_messages_out_of_channel_group: GroupSetting;
  can_move_messages_within_channel_group: GroupSetting;
  can_remove_subscribers_group: GroupSetting;
  can_resolve_topics_group: GroupSetting;
  can_send_message_group: GroupSetting;
  can_subscribe_group: GroupSetting;
  subscriber_count: number;
  stream_weekly_traffic: number | null;
  color: string;
  is_muted: boolean;
  in_home_view: boolean;
  pin_to_top: boolean;
  desktop_notifications: boolean | null;
  audible_notifications: boolean | null;
  push_notifications: boolean | null;
  email_notifications: boolean | null;
  wildcard_mentions_notify: boolean | null;
  subscribers?: number[];
};

export type NeverSubscribedChannel = {
  stream_id: number;
  name: string;
  is_archived: boolean;
  description: string;
  rendered_description: string;
  date_created: number;
  creator_id: number | null;
  invite_only: boolean;
  is_web_public: boolean;
  history_public_to_subscribers: boolean;
  stream_post_policy: 1 | 2 | 3 | 4;
  is_announcement_only: boolean;
  message_retention_days: number | null;
  topics_policy: 'inherit' | 'allow_empty_topic' | 'disable_empty_topic' | 'empty_topic_only';
  first_message_id: number | null;
  folder_id: number | null;
  is_recently_active: boolean;
  can_add_subscribers_group: GroupSetting;
  can_administer_channel_group: GroupSetting;
  can_create_topic_group: GroupSetting;
  can_delete_any_message_group: GroupSetting;
  can_delete_own_message_group: GroupSetting;
  can_move_messages_out_of_channel_group: GroupSetting;
  can_move_messages_within_channel_group: GroupSetting;
  can_remove_subscribers_group: GroupSetting;
  can_resolve_topics_group: GroupSetting;
  can_send_message_group: GroupSetting;
  can_subscribe_group: GroupSetting;
  subscriber_count: number;
  stream_weekly_traffic: number | null;
  subscribers?: number[];
};

export type Channel = {
  stream_id: number;
  name: string;
  is_archived: boolean;
  description: string;
  rendered_description: string;
  date_created: number;
  creator_id: number | null;
  invite_only: boolean;
  is_web_public: boolean;
  history_public_to_subscribers: boolean;
  stream_post_policy: 1 | 2 | 3 | 4;
  is_announcement_only: boolean;
  message_retention_days: number | null;
  topics_policy: 'inherit' | 'allow_empty_topic' | 'disable_empty_topic' | 'empty_topic_only';
  first_message_id: number | null;
  folder_id: number | null;
  is_recently_active: boolean;
  can_add_subscribers_group: GroupSetting;
  can_administer_channel_group: GroupSetting;
  can_create_topic_group: GroupSetting;
  can_delete_any_message_group: GroupSetting;
  can_delete_own_message_group: GroupSetting;
  can_move_messages_out_of_channel_group: GroupSetting;
  can_move_messages_within_channel_group: GroupSetting;
  can_remove_subscribers_group: GroupSetting;
  can_resolve_topics_group: GroupSetting;
  can_send_message_group: GroupSetting;
  can_subscribe_group: GroupSetting;
  subscriber_count: number;
  stream_weekly_traffic: number | null;
};

export type DefaultChannelGroup = {
  id: number;
  name: string;
  description: string;
  streams: number[];
};

export type ChannelFolder = {
  id: number;
  name: string;
  description: string;
  rendered_description: string;
  is_archived: boolean;
  order: number;
  creator_id: number | null;
  date_created: number;
};

export type UserGroup = {
  id: number;
  name: string;
  description: string;
  deactivated: boolean;
  can_add_members_group: GroupSetting;
  can_join_group: GroupSetting;
  can_leave_group: GroupSetting;
  can_manage_group: GroupSetting;
  can_mention_group: GroupSetting;
  can_remove_members_group: GroupSetting;
  creator_id: number | null;
  date_created: number | null;
  members: number[];
  direct_subgroup_ids: number[];
  is_system_group: boolean;
};

export type PermissionDefinition = {
  require_system_group: boolean;
  allow_internet_group: boolean;
  allow_nobody_group: boolean;
  allow_everyone_group: boolean;
  default_group_name: string;
  default_for_system_groups: string | null;
  allowed_system_groups: string[];
};

export type ProfileField = {
  id: number;
  name: string;
  type: number;
  hint: string;
  field_data: string;
  order: number;
  required: boolean;
  editable_by_user: boolean;
  use_for_user_matching: boolean;
  display_in_profile_summary?: boolean;
};

export type UserSettingsDefaults = {
  allow_private_data_export: boolean;
  automatically_follow_topics_policy: 1 | 2 | 3 | 4;
  automatically_follow_topics_where_mentioned: boolean;
  automatically_unmute_topics_in_muted_streams_policy: 1 | 2 | 3 | 4;
  color_scheme: 1 | 2 | 3;
  default_language: string;
  demote_inactive_streams: 1 | 2 | 3;
  desktop_icon_count_display: 1 | 2 | 3 | 4;
  display_emoji_reaction_users: boolean;
  email_address_visibility: 1 | 2 | 3 | 4 | 5;
  email_notifications_batching_period_seconds: number;
  emojiset: 'google' | 'google-blob' | 'twitter' | 'text';
  enable_desktop_notifications: boolean;
  enable_digest_emails: boolean;
  enable_drafts_synchronization: boolean;
  enable_followed_topic_audible_notifications: boolean;
  enable_followed_topic_desktop_notifications: boolean;
  enable_followed_topic_email_notifications: boolean;
  enable_followed_topic_push_notifications: boolean;
  enable_followed_topic_wildcard_mentions_notify: boolean;
  enable_login_emails: boolean;
  enable_marketing_emails: boolean;
  enable_offline_email_notifications: boolean;
  enable_offline_push_notifications: boolean;
  enable_online_push_notifications: boolean;
  enable_sounds: boolean;
  enable_stream_audible_notifications: boolean;
  enable_stream_desktop_notifications: boolean;
  enable_stream_email_notifications: boolean;
  enable_stream_push_notifications: boolean;
  enter_sends: boolean;
  fluid_layout_width: boolean;
  hide_ai_features: boolean;
  high_contrast_mode: boolean;
  left_side_userlist: boolean;
  message_content_in_email_notifications: boolean;
  notification_sound: string;
  pm_content_in_desktop_notifications: boolean;
  presence_enabled: boolean;
  realm_name_in_email_notifications_policy: 1 | 2 | 3;
  receives_typing_notifications: boolean;
  resolved_topic_notice_auto_read_policy: 'always' | 'except_followed' | 'never';
  send_private_typing_notifications: boolean;
  send_read_receipts: boolean;
  send_stream_typing_notifications: boolean;
  starred_message_counts: boolean;
  translate_emoticons: boolean;
  twenty_four_hour_time: boolean | null;
  user_list_style: 1 | 2 | 3;
  web_animate_image_previews: 'always' | 'on_hover' | 'never';
  web_channel_default_view: 1 | 2 | 3 | 4;
  web_escape_navigates_to_home_view: boolean;
  web_font_size_px: number;
  web_home_view: 'inbox' | 'recent' | 'all_messages';
  web_inbox_show_channel_folders: boolean;
  web_left_sidebar_show_channel_folders: boolean;
  web_left_sidebar_unreads_count_summary: boolean;
  web_line_height_percent: number;
  web_mark_read_on_scroll_policy: 1 | 2 | 3;
  web_navigate_to_sent_message: boolean;
  web_stream_unreads_count_display_policy: 1 | 2 | 3;
  web_suggest_update_timezone: boolean;
  wildcard_mentions_notify: boolean;
  emojiset_choices: ({
    key: string;
    text: string;
  })[];
  available_notification_sounds: string[];
};

export type UserSettings = {
  allow_private_data_export: boolean;
  automatically_follow_topics_policy: 1 | 2 | 3 | 4;
  automatically_follow_topics_where_mentioned: boolean;
  automatically_unmute_topics_in_muted_streams_policy: 1 | 2 | 3 | 4;
  color_scheme: 1 | 2 | 3;
  default_language: string;
  demote_inactive_streams: 1 | 2 | 3;
  desktop_icon_count_display: 1 | 2 | 3 | 4;
  display_emoji_reaction_users: boolean;
  email_address_visibility: 1 | 2 | 3 | 4 | 5;
  email_notifications_batching_period_seconds: number;
  emojiset: 'google' | 'google-blob' | 'twitter' | 'text';
  enable_desktop_notifications: boolean;
  enable_digest_emails: boolean;
  enable_drafts_synchronization: boolean;
  enable_followed_topic_audible_notifications: boolean;
  enable_followed_topic_desktop_notifications: boolean;
  enable_followed_topic_email_notifications: boolean;
  enable_followed_topic_push_notifications: boolean;
  enable_followed_topic_wildcard_mentions_notify: boolean;
  enable_login_emails: boolean;
  enable_marketing_emails: boolean;
  enable_offline_email_notifications: boolean;
  enable_offline_push_notifications: boolean;
  enable_online_push_notifications: boolean;
  enable_sounds: boolean;
  enable_stream_audible_notifications: boolean;
  enable_stream_desktop_notifications: boolean;
  enable_stream_email_notifications: boolean;
  enable_stream_push_notifications: boolean;
  enter_sends: boolean;
  fluid_layout_width: boolean;
  hide_ai_features: boolean;
  high_contrast_mode: boolean;
  left_side_userlist: boolean;
  message_content_in_email_notifications: boolean;
  notification_sound: string;
  pm_content_in_desktop_notifications: boolean;
  presence_enabled: boolean;
  realm_name_in_email_notifications_policy: 1 | 2 | 3;
  receives_typing_notifications: boolean;
  resolved_topic_notice_auto_read_policy: 'always' | 'except_followed' | 'never';
  send_private_typing_notifications: boolean;
  send_read_receipts: boolean;
  send_stream_typing_notifications: boolean;
  starred_message_counts: boolean;
  translate_emoticons: boolean;
  twenty_four_hour_time: boolean | null;
  user_list_style: 1 | 2 | 3;
  web_animate_image_previews: 'always' | 'on_hover' | 'never';
  web_channel_default_view: 1 | 2 | 3 | 4;
  web_escape_navigates_to_home_view: boolean;
  web_font_size_px: number;
  web_home_view: 'inbox' | 'recent' | 'all_messages';
  web_inbox_show_channel_folders: boolean;
  web_left_sidebar_show_channel_folders: boolean;
  web_left_sidebar_unreads_count_summary: boolean;
  web_line_height_percent: number;
  web_mark_read_on_scroll_policy: 1 | 2 | 3;
  web_navigate_to_sent_message: boolean;
  web_stream_unreads_count_display_policy: 1 | 2 | 3;
  web_suggest_update_timezone: boolean;
  wildcard_mentions_notify: boolean;
  emojiset_choices: ({
    key: string;
    text: string;
  })[];
  available_notification_sounds: string[];
  timezone: string;
};

export type ShownUser = {
  user_id: number;
  delivery_email: string | null;
  email: string;
  full_name: string;
  date_joined: string;
  is_active?: boolean;
  is_deleted?: boolean;
  is_owner: boolean;
  is_admin: boolean;
  is_guest: boolean;
  is_bot: boolean;
  role: 100 | 200 | 300 | 400 | 600;
  timezone?: string;
  avatar_url: string | null;
  avatar_version: number;
  is_imported_stub: boolean;
  bot_type?: number | null;
  bot_owner_id?: number | null;
  is_system_bot?: boolean;
  profile_data?: Record<string, {
    value: string;
    rendered_value?: string;
  }>;
};

export type AlertWordsEvent = {
  id: number;
  type: 'alert_words';
  alert_words: string[];
};

export type Attachment = {
  id: number;
  name: string;
  path_id: string;
  size: number;
  create_time: number;
  message_ids: number[];
};

export type AttachmentEvent = {
  id: number;
  type: 'attachment';
  op: 'add';
  attachment: Attachment;
  upload_space_used: number;
} | {
  id: number;
  type: 'attachment';
  op: 'update';
  attachment: Attachment;
  upload_space_used: number;
} | {
  id: number;
  type: 'attachment';
  op: 'remove';
  attachment: {
    id: number;
  };
  upload_space_used: number;
};

export type ChannelFolderEvent = {
  id: number;
  type: 'channel_folder';
  op: 'add';
  channel_folder: ChannelFolder;
} | {
  id: number;
  type: 'channel_folder';
  op: 'update';
  channel_folder_id: number;
  data: {
    name?: string;
    description?: string;
    rendered_description?: string;
    is_archived?: boolean;
  };
} | {
  id: number;
  type: 'channel_folder';
  op: 'reorder';
  order: number[];
};

export type CustomProfileFieldsEvent = {
  id: number;
  type: 'custom_profile_fields';
  fields: ProfileField[];
};

export type DefaultStreamGroupsEvent = {
  id: number;
  type: 'default_stream_groups';
  default_stream_groups: DefaultChannelGroup[];
};

export type DefaultStreamsEvent = {
  id: number;
  type: 'default_streams';
  default_streams: number[];
};

export type DeleteMessageEvent = {
  id: number;
  type: 'delete_message';
  message_ids: number[];
  message_type: 'stream';
  stream_id: number;
  topic: string;
} | {
  id: number;
  type: 'delete_message';
  message_ids: number[];
  message_type: 'private';
};

export type DeviceEvent = {
  id: number;
  type: 'device';
  op: 'add';
  device_id: number;
} | {
  id: number;
  type: 'device';
  op: 'remove';
  device_id: number;
} | {
  id: number;
  type: 'device';
  op: 'update';
  device_id: number;
  push_key_id?: number | null;
  push_token_id?: string | null;
  pending_push_token_id?: string | null;
  push_token_last_updated_timestamp?: number | null;
  push_registration_error_code?: string | null;
};

export type DraftsEvent = {
  id: number;
  type: 'drafts';
  op: 'add';
  drafts: Draft[];
} | {
  id: number;
  type: 'drafts';
  op: 'update';
  draft: Draft;
} | {
  id: number;
  type: 'drafts';
  op: 'remove';
  draft_id: number;
};

export type HeartbeatEvent = {
  id: number;
  type: 'heartbeat';
};

export type InvitesChangedEvent = {
  id: number;
  type: 'invites_changed';
};

export type Participant = {
  id: number;
  email: string;
  full_name: string;
  is_mirror_dummy: boolean;
};

export type Reaction = {
  emoji_name: string;
  emoji_code: string;
  reaction_type: 'unicode_emoji' | 'realm_emoji' | 'service_extra_emoji' | 'zulip_extra_emoji';
  user_id: number;
};

export type Submessage = {
  id: number;
  message_id: number;
  sender_id: number;
  msg_type: string;
  content: string;
};

export type MessageEdit = {
  user_id: number | null;
  timestamp: number;
  topic?: string;
  prev_topic?: string;
  prev_stream?: number;
  stream?: number;
  prev_content?: string;
  prev_rendered_content?: string;
};

export type ReceivedMessage = {
  id: number;
  sender_id: number;
  sender_full_name: string;
  sender_email: string;
  sender_realm_str: string;
  avatar_url: string | null;
  client: string;
  content: string;
  content_type: 'text/html' | 'text/x-markdown';
  type: 'stream' | 'private';
  display_recipient: string | Participant[];
  recipient_id: number;
  stream_id?: number;
  subject: string;
  topic_links: ({
    text: string;
    url: string;
  })[];
  timestamp: number;
  is_me_message: boolean;
  reactions: Reaction[];
  submessages: Submessage[];
  edit_history?: MessageEdit[];
  last_edit_timestamp?: number;
  last_moved_timestamp?: number;
};

export type MessageEvent = {
  id: number;
  type: 'message';
  message: ReceivedMessage;
  flags: string[];
  local_message_id?: string;
};

export type MutedTopicsEvent = {
  id: number;
  type: 'muted_topics';
  muted_topics: ((string | number)[])[];
};

export type MutedUsersEvent = {
  id: number;
  type: 'muted_users';
  muted_users: MutedUser[];
};

export type NavigationViewEvent = {
  id: number;
  type: 'navigation_view';
  op: 'add';
  navigation_view: NavigationView;
} | {
  id: number;
  type: 'navigation_view';
  op: 'update';
  fragment: string;
  data: {
    is_pinned?: boolean;
    name?: string | null;
  };
} | {
  id: number;
  type: 'navigation_view';
  op: 'remove';
  fragment: string;
};

export type OnboardingStepsEvent = {
  id: number;
  type: 'onboarding_steps';
  onboarding_steps: OnboardingStep[];
};

export type PresenceEvent = {
  id: number;
  type: 'presence';
  presences: Record<string, {
    active_timestamp: number;
    idle_timestamp: number;
  }>;
};

export type ReactionEvent = {
  id: number;
  type: 'reaction';
  op: 'add' | 'remove';
  message_id: number;
  user_id: number;
  emoji_name: string;
  emoji_code: string;
  reaction_type: 'unicode_emoji' | 'realm_emoji' | 'service_extra_emoji' | 'zulip_extra_emoji';
  user: {
    user_id: number;
    email: string;
    full_name: string;
  };
};

export type RealmEvent = {
  id: number;
  type: 'realm';
  op: 'deactivated';
  realm_id: number;
} | {
  id: number;
  type: 'realm';
  op: 'update_dict';
  property: 'icon';
  data: {
    icon_source: 'U' | 'G';
    icon_url: string;
  };
} | {
  id: number;
  type: 'realm';
  op: 'update_dict';
  property: 'logo';
  data: {
    logo_source: 'U' | 'D';
    logo_url: string;
  };
} | {
  id: number;
  type: 'realm';
  op: 'update_dict';
  property: 'night_logo';
  data: {
    night_logo_source: 'U' | 'D';
    night_logo_url: string;
  };
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'name';
  value: string;
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'avatar_changes_disabled' | 'digest_emails_enabled' | 'disallow_disposable_email_addresses' | 'email_changes_disabled' | 'emails_restricted_to_domains' | 'enable_guest_user_dm_warning' | 'enable_guest_user_indicator' | 'enable_read_receipts' | 'enable_spectator_access' | 'inline_image_preview' | 'inline_url_embed_preview' | 'invite_required' | 'message_content_allowed_in_email_notifications' | 'name_changes_disabled' | 'owner_full_content_access' | 'presence_disabled' | 'require_e2ee_push_notifications' | 'require_unique_names' | 'send_channel_events_messages' | 'send_welcome_emails' | 'want_advertise_in_communities_directory';
  value: boolean;
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'default_avatar_source';
  value: 'G' | 'J';
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'default_code_block_language' | 'default_language' | 'welcome_message_custom_text';
  value: string;
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'digest_weekday';
  value: 0 | 1 | 2 | 3 | 4 | 5 | 6;
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'gif_rating_policy';
  value: 0 | 1 | 2 | 3 | 4 | 5;
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'jitsi_server_url';
  value: string | null;
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'media_preview_size';
  value: 100 | 150 | 200;
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'message_content_delete_limit_seconds' | 'move_messages_between_streams_limit_seconds' | 'move_messages_within_stream_limit_seconds';
  value: number | null;
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'message_retention_days' | 'waiting_period_threshold' | 'moderation_request_channel_id' | 'new_stream_announcements_stream_id' | 'signup_announcements_stream_id' | 'zulip_update_announcements_stream_id';
  value: number;
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'org_type';
  value: 0 | 10 | 20 | 30 | 35 | 40 | 50 | 60 | 70 | 80 | 90 | 100 | 1000;
} | {
  id: number;
  type: 'realm';
  op: 'update';
  property: 'video_chat_provider';
  value: 0 | 1 | 4;
} | {
  id: number;
  type: 'realm';
  op: 'update_dict';
  property: 'default';
  data: {
    allow_message_editing?: boolean;
    description?: string;
    message_content_edit_limit_seconds?: number | null;
    message_edit_history_visibility_policy?: 'all' | 'moves' | 'none';
    topics_policy?: 'allow_empty_topic' | 'disable_empty_topic';
    moderation_request_channel_id?: number;
    new_stream_announcements_stream_id?: number;
    signup_announcements_stream_id?: number;
    zulip_update_announcements_stream_id?: number;
    rendered_description?: string;
    allow_edit_history?: boolean;
    mandatory_topics?: boolean;
    authentication_methods?: Record<string, {
      enabled: boolean;
      available: boolean;
    }>;
    can_access_all_users_group?: GroupSetting;
    can_add_custom_emoji_group?: GroupSetting;
    can_add_subscribers_group?: GroupSetting;
    can_create_bots_group?: GroupSetting;
    can_create_groups?: GroupSetting;
    can_create_private_channel_group?: GroupSetting;
    can_create_public_channel_group?: GroupSetting;
    can_create_web_public_channel_group?: GroupSetting;
    can_create_write_only_bots_group?: GroupSetting;
    can_delete_any_message_group?: GroupSetting;
    can_delete_own_message_group?: GroupSetting;
    can_invite_users_group?: GroupSetting;
    can_manage_all_groups?: GroupSetting;
    can_manage_billing_group?: GroupSetting;
    can_mention_many_users_group?: GroupSetting;
    can_move_messages_between_channels_group?: GroupSetting;
    can_move_messages_between_topics_group?: GroupSetting;
    can_resolve_topics_group?: GroupSetting;
    can_set_delete_message_policy_group?: GroupSetting;
    can_set_topics_policy_group?: GroupSetting;
    can_summarize_topics_group?: GroupSetting;
    create_multiuse_invite_group?: GroupSetting;
    direct_message_initiator_group?: GroupSetting;
    direct_message_permission_group?: GroupSetting;
    workplace_users_group?: GroupSetting;
  };
};

export type RealmBotEvent = {
  id: number;
  type: 'realm_bot';
  op: 'add';
  bot: Bot;
} | {
  id: number;
  type: 'realm_bot';
  op: 'update';
  bot: {
    user_id: number;
    default_sending_stream?: string | null;
    default_events_register_stream?: string | null;
    default_all_public_streams?: boolean;
    services?: ({
      base_url: string;
      interface: number;
      token: string;
    })[];
  };
} | {
  id: number;
  type: 'realm_bot';
  op: 'delete';
  bot: {
    user_id: number;
  };
};

export type RealmDomainsEvent = {
  id: number;
  type: 'realm_domains';
  op: 'add';
  realm_domain: AllowedDomain;
} | {
  id: number;
  type: 'realm_domains';
  op: 'change';
  realm_domain: AllowedDomain;
} | {
  id: number;
  type: 'realm_domains';
  op: 'remove';
  domain: string;
};

export type RealmEmojiEvent = {
  id: number;
  type: 'realm_emoji';
  op: 'add';
  emoji: CustomEmoji;
} | {
  id: number;
  type: 'realm_emoji';
  op: 'update_one';
  emoji_id: string;
  data: {
    deactivated: boolean;
  };
};

export type DataExport = {
  id: number;
  acting_user_id: number;
  export_time: number;
  deleted_timestamp: number | null;
  failed_timestamp: number | null;
  export_url: string | null;
  pending: boolean;
  export_type: string;
};

export type RealmExportEvent = {
  id: number;
  type: 'realm_export';
  exports: DataExport[];
};

export type RealmExportConsentEvent = {
  id: number;
  type: 'realm_export_consent';
  user_id: number;
  consented: boolean;
};

export type RealmLinkifiersEvent = {
  id: number;
  type: 'realm_linkifiers';
  realm_linkifiers: Linkifier[];
};

export type RealmPlaygroundsEvent = {
  id: number;
  type: 'realm_playgrounds';
  realm_playgrounds: Playground[];
};

export type RealmUserEvent = {
  id: number;
  type: 'realm_user';
  op: 'update';
  person: {
    user_id: number;
    bot_owner_id: number | null;
  };
} | {
  id: number;
  type: 'realm_user';
  op: 'add';
  person: User;
} | {
  id: number;
  type: 'realm_user';
  op: 'update';
  person: {
    user_id: number;
    role: 100 | 200 | 300 | 400 | 600;
  };
} | {
  id: number;
  type: 'realm_user';
  op: 'update';
  person: {
    user_id: number;
    delivery_email: string | null;
  };
} | {
  id: number;
  type: 'realm_user';
  op: 'update';
  person: {
    user_id: number;
    new_email: string;
  };
} | {
  id: number;
  type: 'realm_user';
  op: 'update';
  person: {
    user_id: number;
    avatar_source: 'G' | 'J' | 'U';
    avatar_url: string | null;
    avatar_url_medium: string | null;
    avatar_version: number;
  };
} | {
  id: number;
  type: 'realm_user';
  op: 'update';
  person: {
    user_id: number;
    is_active: boolean;
  };
} | {
  id: number;
  type: 'realm_user';
  op: 'remove';
  person: {
    user_id: number;
    full_name: string;
  };
} | {
  id: number;
  type: 'realm_user';
  op: 'update';
  person: {
    user_id: number;
    full_name: string;
  };
} | {
  id: number;
  type: 'realm_user';
  op: 'update';
  person: {
    user_id: number;
    email: string;
    timezone: string;
  };
} | {
  id: number;
  type: 'realm_user';
  op: 'update';
  person: {
    user_id: number;
    custom_profile_field: {
      id: number;
      value: string | null;
      rendered_value?: string;
    };
  };
};

export type RealmUserSettingsDefaultsEvent = {
  id: number;
  type: 'realm_user_settings_defaults';
  op: 'update';
  property: 'allow_private_data_export' | 'automatically_follow_topics_where_mentioned' | 'display_emoji_reaction_users' | 'enable_desktop_notifications' | 'enable_digest_emails' | 'enable_drafts_synchronization' | 'enable_followed_topic_audible_notifications' | 'enable_followed_topic_desktop_notifications' | 'enable_followed_topic_email_notifications' | 'enable_followed_topic_push_notifications' | 'enable_followed_topic_wildcard_mentions_notify' | 'enable_login_emails' | 'enable_marketing_emails' | 'enable_offline_email_notifications' | 'enable_offline_push_notifications' | 'enable_online_push_notifications' | 'enable_sounds' | 'enable_stream_audible_notifications' | 'enable_stream_desktop_notifications' | 'enable_stream_email_notifications' | 'enable_stream_push_notifications' | 'enter_sends' | 'fluid_layout_width' | 'hide_ai_features' | 'high_contrast_mode' | 'left_side_userlist' | 'message_content_in_email_notifications' | 'pm_content_in_desktop_notifications' | 'presence_enabled' | 'receives_typing_notifications' | 'send_private_typing_notifications' | 'send_read_receipts' | 'send_stream_typing_notifications' | 'starred_message_counts' | 'translate_emoticons' | 'web_escape_navigates_to_home_view' | 'web_inbox_show_channel_folders' | 'web_left_sidebar_show_channel_folders' | 'web_left_sidebar_unreads_count_summary' | 'web_navigate_to_sent_message' | 'web_suggest_update_timezone' | 'wildcard_mentions_notify';
  value: boolean;
} | {
  id: number;
  type: 'realm_user_settings_defaults';
  op: 'update';
  property: 'automatically_follow_topics_policy' | 'automatically_unmute_topics_in_muted_streams_policy' | 'desktop_icon_count_display' | 'web_channel_default_view';
  value: 1 | 2 | 3 | 4;
} | {
  id: number;
  type: 'realm_user_settings_defaults';
  op: 'update';
  property: 'color_scheme' | 'demote_inactive_streams' | 'realm_name_in_email_notifications_policy' | 'user_list_style' | 'web_mark_read_on_scroll_policy' | 'web_stream_unreads_count_display_policy';
  value: 1 | 2 | 3;
} | {
  id: number;
  type: 'realm_user_settings_defaults';
  op: 'update';
  property: 'default_language' | 'notification_sound' | 'timezone';
  value: string;
} | {
  id: number;
  type: 'realm_user_settings_defaults';
  op: 'update';
  property: 'email_address_visibility';
  value: 1 | 2 | 3 | 4 | 5;
} | {
  id: number;
  type: 'realm_user_settings_defaults';
  op: 'update';
  property: 'email_notifications_batching_period_seconds' | 'web_font_size_px' | 'web_line_height_percent';
  value: number;
} | {
  id: number;
  type: 'realm_user_settings_defaults';
  op: 'update';
  property: 'emojiset';
  value: 'google' | 'google-blob' | 'twitter' | 'text';
} | {
  id: number;
  type: 'realm_user_settings_defaults';
  op: 'update';
  property: 'resolved_topic_notice_auto_read_policy';
  value: 'always' | 'except_followed' | 'never';
} | {
  id: number;
  type: 'realm_user_settings_defaults';
  op: 'update';
  property: 'twenty_four_hour_time';
  value: boolean | null;
} | {
  id: number;
  type: 'realm_user_settings_defaults';
  op: 'update';
  property: 'web_animate_image_previews';
  value: 'always' | 'on_hover' | 'never';
} | {
  id: number;
  type: 'realm_user_settings_defaults';
  op: 'update';
  property: 'web_home_view';
  value: 'inbox' | 'recent' | 'all_messages';
};

export type RemindersEvent = {
  id: number;
  type: 'reminders';
  op: 'add';
  reminders: Reminder[];
} | {
  id: number;
  type: 'reminders';
  op: 'remove';
  reminder_id: number;
};

export type SavedSnippetsEvent = {
  id: number;
  type: 'saved_snippets';
  op: 'add';
  saved_snippet: SavedSnippet;
} | {
  id: number;
  type: 'saved_snippets';
  op: 'update';
  saved_snippet: SavedSnippet;
} | {
  id: number;
  type: 'saved_snippets';
  op: 'remove';
  saved_snippet_id: number;
};

export type ScheduledMessagesEvent = {
  id: number;
  type: 'scheduled_messages';
  op: 'add';
  scheduled_messages: ScheduledMessage[];
} | {
  id: number;
  type: 'scheduled_messages';
  op: 'update';
  scheduled_message: ScheduledMessage;
} | {
  id: number;
  type: 'scheduled_messages';
  op: 'remove';
  scheduled_message_id: number;
};

export type StreamEvent = {
  id: number;
  type: 'stream';
  op: 'create';
  streams: Channel[];
} | {
  id: number;
  type: 'stream';
  op: 'delete';
  streams: ({
    stream_id: number;
  })[];
  stream_ids: number[];
} | {
  id: number;
  type: 'stream';
  op: 'update';
  stream_id: number;
  name: string;
  property: 'name';
  value: string;
} | {
  id: number;
  type: 'stream';
  op: 'update';
  stream_id: number;
  name: string;
  property: 'message_retention_days' | 'folder_id' | 'first_message_id';
  value: number | null;
} | {
  id: number;
  type: 'stream';
  op: 'update';
  stream_id: number;
  name: string;
  property: 'topics_policy';
  value: 'inherit' | 'allow_empty_topic' | 'disable_empty_topic' | 'empty_topic_only';
} | {
  id: number;
  type: 'stream';
  op: 'update';
  stream_id: number;
  name: string;
  property: 'is_recently_active';
  value: boolean;
} | {
  id: number;
  type: 'stream';
  op: 'update';
  stream_id: number;
  name: string;
  property: 'description';
  value: string;
  rendered_description: string;
} | {
  id: number;
  type: 'stream';
  op: 'update';
  stream_id: number;
  name: string;
  property: 'invite_only';
  value: boolean;
  history_public_to_subscribers: boolean;
  is_web_public: boolean;
} | {
  id: number;
  type: 'stream';
  op: 'update';
  stream_id: number;
  name: string;
  property: 'can_add_subscribers_group' | 'can_administer_channel_group' | 'can_create_topic_group' | 'can_delete_any_message_group' | 'can_delete_own_message_group' | 'can_move_messages_out_of_channel_group' | 'can_move_messages_within_channel_group' | 'can_remove_subscribers_group' | 'can_resolve_topics_group' | 'can_send_message_group' | 'can_subscribe_group';
  value: GroupSetting;
} | {
  id: number;
  type: 'stream';
  op: 'update';
  stream_id: number;
  name: string;
  property: 'stream_post_policy';
  value: 1 | 2 | 3 | 4;
} | {
  id: number;
  type: 'stream';
  op: 'update';
  stream_id: number;
  name: string;
  property: 'is_announcement_only';
  value: boolean;
} | {
  id: number;
  type: 'stream';
  op: 'update';
  stream_id: number;
  name: string;
  property: 'is_archived';
  value: boolean;
};

export type SubmessageEvent = {
  id: number;
  type: 'submessage';
  submessage_id: number;
  message_id: number;
  sender_id: number;
  msg_type: string;
  content: string;
};

export type SubscriptionEvent = {
  id: number;
  type: 'subscription';
  op: 'add';
  subscriptions: Subscription[];
} | {
  id: number;
  type: 'subscription';
  op: 'update';
  stream_id: number;
  property: 'color';
  value: string;
} | {
  id: number;
  type: 'subscription';
  op: 'update';
  stream_id: number;
  property: 'is_muted' | 'in_home_view' | 'pin_to_top';
  value: boolean;
} | {
  id: number;
  type: 'subscription';
  op: 'update';
  stream_id: number;
  property: 'desktop_notifications' | 'audible_notifications' | 'push_notifications' | 'email_notifications' | 'wildcard_mentions_notify';
  value: boolean | null;
} | {
  id: number;
  type: 'subscription';
  op: 'remove';
  subscriptions: ({
    stream_id: number;
    name: string;
  })[];
} | {
  id: number;
  type: 'subscription';
  op: 'peer_add';
  stream_ids: number[];
  user_ids: number[];
} | {
  id: number;
  type: 'subscription';
  op: 'peer_remove';
  stream_ids: number[];
  user_ids: number[];
};

export type TypingEvent = {
  id: number;
  type: 'typing';
  op: 'start' | 'stop';
  message_type: 'direct';
  sender: {
    user_id: number;
    email: string;
  };
  recipients: ({
    user_id: number;
    email: string;
  })[];
} | {
  id: number;
  type: 'typing';
  op: 'start' | 'stop';
  message_type: 'stream';
  sender: {
    user_id: number;
    email: string;
  };
  stream_id: number;
  topic: string;
};

export type TypingEditMessageEvent = {
  id: number;
  type: 'typing_edit_message';
  op: 'start' | 'stop';
  sender_id: number;
  message_id: number;
  recipient: {
    type: 'channel';
    channel_id: number;
    topic: string;
  } | {
    type: 'direct';
    user_ids: number[];
  };
};

export type UpdateMessageEvent = {
  id: number;
  type: 'update_message';
  rendering_only: false;
  user_id: number | null;
  message_id: number;
  message_ids: number[];
  flags: string[];
  edit_timestamp: number;
  stream_id?: number;
  stream_name?: string;
  new_stream_id?: number;
  propagate_mode?: 'change_one' | 'change_later' | 'change_all';
  orig_subject?: string;
  subject?: string;
  topic_links?: ({
    text: string;
    url: string;
  })[];
  orig_content?: string;
  orig_rendered_content?: string;
  content?: string;
  rendered_content?: string;
  is_me_message?: boolean;
} | {
  id: number;
  type: 'update_message';
  rendering_only: true;
  user_id: number | null;
  message_id: number;
  message_ids: number[];
  flags: string[];
  edit_timestamp: number;
  content: string;
  rendered_content: string;
};

export type UpdateMessageFlagsEvent = {
  id: number;
  type: 'update_message_flags';
  op: 'add';
  operation: 'add';
  flag: string;
  messages: number[];
  all: boolean;
} | {
  id: number;
  type: 'update_message_flags';
  op: 'remove';
  operation: 'remove';
  flag: string;
  messages: number[];
  all: boolean;
  message_details?: Record<string, {
    type: 'stream';
    stream_id: number;
    topic: string;
    unmuted_stream_msg: boolean;
    mentioned?: true;
  } | {
    type: 'private';
    user_ids: number[];
    mentioned?: true;
  }>;
};

export type UserGroupEvent = {
  id: number;
  type: 'user_group';
  op: 'add';
  group: UserGroup;
} | {
  id: number;
  type: 'user_group';
  op: 'add_members' | 'remove_members';
  group_id: number;
  user_ids: number[];
} | {
  id: number;
  type: 'user_group';
  op: 'add_subgroups' | 'remove_subgroups';
  group_id: number;
  direct_subgroup_ids: number[];
} | {
  id: number;
  type: 'user_group';
  op: 'update';
  group_id: number;
  data: {
    name?: string;
    description?: string;
    deactivated?: boolean;
    can_add_members_group?: GroupSetting;
    can_join_group?: GroupSetting;
    can_leave_group?: GroupSetting;
    can_manage_group?: GroupSetting;
    can_mention_group?: GroupSetting;
    can_remove_members_group?: GroupSetting;
  };
};

export type UserSettingsEvent = {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'default_language';
  value: string;
  language_name: string;
} | {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'allow_private_data_export' | 'automatically_follow_topics_where_mentioned' | 'display_emoji_reaction_users' | 'enable_desktop_notifications' | 'enable_digest_emails' | 'enable_drafts_synchronization' | 'enable_followed_topic_audible_notifications' | 'enable_followed_topic_desktop_notifications' | 'enable_followed_topic_email_notifications' | 'enable_followed_topic_push_notifications' | 'enable_followed_topic_wildcard_mentions_notify' | 'enable_login_emails' | 'enable_marketing_emails' | 'enable_offline_email_notifications' | 'enable_offline_push_notifications' | 'enable_online_push_notifications' | 'enable_sounds' | 'enable_stream_audible_notifications' | 'enable_stream_desktop_notifications' | 'enable_stream_email_notifications' | 'enable_stream_push_notifications' | 'enter_sends' | 'fluid_layout_width' | 'hide_ai_features' | 'high_contrast_mode' | 'left_side_userlist' | 'message_content_in_email_notifications' | 'pm_content_in_desktop_notifications' | 'presence_enabled' | 'receives_typing_notifications' | 'send_private_typing_notifications' | 'send_read_receipts' | 'send_stream_typing_notifications' | 'starred_message_counts' | 'translate_emoticons' | 'web_escape_navigates_to_home_view' | 'web_inbox_show_channel_folders' | 'web_left_sidebar_show_channel_folders' | 'web_left_sidebar_unreads_count_summary' | 'web_navigate_to_sent_message' | 'web_suggest_update_timezone' | 'wildcard_mentions_notify';
  value: boolean;
} | {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'automatically_follow_topics_policy' | 'automatically_unmute_topics_in_muted_streams_policy' | 'desktop_icon_count_display' | 'web_channel_default_view';
  value: 1 | 2 | 3 | 4;
} | {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'color_scheme' | 'demote_inactive_streams' | 'realm_name_in_email_notifications_policy' | 'user_list_style' | 'web_mark_read_on_scroll_policy' | 'web_stream_unreads_count_display_policy';
  value: 1 | 2 | 3;
} | {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'email_address_visibility';
  value: 1 | 2 | 3 | 4 | 5;
} | {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'email_notifications_batching_period_seconds' | 'web_font_size_px' | 'web_line_height_percent';
  value: number;
} | {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'emojiset';
  value: 'google' | 'google-blob' | 'twitter' | 'text';
} | {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'notification_sound' | 'timezone';
  value: string;
} | {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'resolved_topic_notice_auto_read_policy';
  value: 'always' | 'except_followed' | 'never';
} | {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'twenty_four_hour_time';
  value: boolean | null;
} | {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'web_animate_image_previews';
  value: 'always' | 'on_hover' | 'never';
} | {
  id: number;
  type: 'user_settings';
  op: 'update';
  property: 'web_home_view';
  value: 'inbox' | 'recent' | 'all_messages';
};

export type UserStatusEvent = {
  id: number;
  type: 'user_status';
  user_id: number;
  away?: boolean;
  status_text?: string;
  emoji_name?: string;
  emoji_code?: string;
  reaction_type?: 'unicode_emoji' | 'realm_emoji' | 'service_extra_emoji' | 'zulip_extra_emoji';
};

export type UserTopicEvent = {
  id: number;
  type: 'user_topic';
  stream_id: number;
  topic_name: string;
  last_updated: number;
  visibility_policy: 0 | 1 | 2 | 3;
};

export type Event = AlertWordsEvent | AttachmentEvent | ChannelFolderEvent | CustomProfileFieldsEvent | DefaultStreamGroupsEvent | DefaultStreamsEvent | DeleteMessageEvent | DeviceEvent | DraftsEvent | HeartbeatEvent | InvitesChangedEvent | MessageEvent | MutedTopicsEvent | MutedUsersEvent | NavigationViewEvent | OnboardingStepsEvent | PresenceEvent | ReactionEvent | RealmEvent | RealmBotEvent | RealmDomainsEvent | RealmEmojiEvent | RealmExportEvent | RealmExportConsentEvent | RealmLinkifiersEvent | RealmPlaygroundsEvent | RealmUserEvent | RealmUserSettingsDefaultsEvent | RemindersEvent | SavedSnippetsEvent | ScheduledMessagesEvent | StreamEvent | SubmessageEvent | SubscriptionEvent | TypingEvent | TypingEditMessageEvent | UpdateMessageEvent | UpdateMessageFlagsEvent | UserGroupEvent | UserSettingsEvent | UserStatusEvent | UserTopicEvent;

export type Invitation = {
  id: number;
  invited_by_user_id: number;
  invited: number;
  expiry_date: number | null;
  invited_as: number;
  is_multiuse: boolean;
  email?: string;
  notify_referrer_on_join?: boolean;
  link_url?: string;
};

export type FoundMessage = {
  id: number;
  sender_id: number;
  sender_full_name: string;
  sender_email: string;
  sender_realm_str: string;
  avatar_url: string | null;
  client: string;
  content: string;
  content_type: 'text/html' | 'text/x-markdown';
  type: 'stream' | 'private';
  display_recipient: string | Participant[];
  recipient_id: number;
  stream_id?: number;
  subject: string;
  topic_links: ({
    text: string;
    url: string;
  })[];
  timestamp: number;
  is_me_message: boolean;
  reactions: Reaction[];
  submessages: Submessage[];
  edit_history?: MessageEdit[];
  last_edit_timestamp?: number;
  last_moved_timestamp?: number;
  flags: string[];
  match_content?: string;
  match_subject?: string;
};

export type Message = {
  id: number;
  sender_id: number;
  sender_full_name: string;
  sender_email: string;
  sender_realm_str: string;
  avatar_url: string | null;
  client: string;
  content: string;
  content_type: 'text/html' | 'text/x-markdown';
  type: 'stream' | 'private';
  display_recipient: string | Participant[];
  recipient_id: number;
  stream_id?: number;
  subject: string;
  topic_links: ({
    text: string;
    url: string;
  })[];
  timestamp: number;
  is_me_message: boolean;
  reactions: Reaction[];
  submessages: Submessage[];
  edit_history?: MessageEdit[];
  last_edit_timestamp?: number;
  last_moved_timestamp?: number;
  flags: string[];
};

export type MessageSnapshot = {
  topic: string;
  content: string;
  rendered_content: string;
  timestamp: number;
  user_id: number | null;
  prev_topic?: string;
  prev_stream?: number;
  stream?: number;
  prev_content?: string;
  prev_rendered_content?: string;
  content_html_diff?: string;
};

export type ListedChannel = {
  stream_id: number;
  name: string;
  is_archived: boolean;
  description: string;
  rendered_description: string;
  date_created: number;
  creator_id: number | null;
  invite_only: boolean;
  is_web_public: boolean;
  history_public_to_subscribers: boolean;
  stream_post_policy: 1 | 2 | 3 | 4;
  is_announcement_only: boolean;
  message_retention_days: number | null;
  topics_policy: 'inherit' | 'allow_empty_topic' | 'disable_empty_topic' | 'empty_topic_only';
  first_message_id: number | null;
  folder_id: number | null;
  is_recently_active: boolean;
  can_add_subscribers_group: GroupSetting;
  can_administer_channel_group: GroupSetting;
  can_create_topic_group: GroupSetting;
  can_delete_any_message_group: GroupSetting;
  can_delete_own_message_group: GroupSetting;
  can_move_messages_out_of_channel_group: GroupSetting;
  can_move_messages_within_channel_group: GroupSetting;
  can_remove_subscribers_group: GroupSetting;
  can_resolve_topics_group: GroupSetting;
  can_send_message_group: GroupSetting;
  can_subscribe_group: GroupSetting;
  subscriber_count: number;
  stream_weekly_traffic: number | null;
  is_default?: boolean;
};

export interface Operations {
  /** protocol §10 */
  'GET /server_settings': {
    params: Record<never, never>;
    answer: {
      authentication_methods: Record<string, boolean>;
      external_authentication_methods: unknown[];
      zulip_feature_level: number;
      zulip_version: string;
      zulip_merge_base: string;
      push_notifications_enabled: boolean;
      is_incompatible: boolean;
      email_auth_enabled: boolean;
      require_email_format_usernames: boolean;
      realm_url: string;
      realm_uri: string;
      realm_name?: string;
      realm_icon?: string;
      realm_description?: string;
      realm_web_public_access_enabled: boolean;
    };
  };
  /** protocol §8.1 */
  'POST /fetch_api_key': {
    params: {
      username: string;
      password: string;
    };
    answer: {
      api_key: string;
      email: string;
      user_id: number;
    };
  };
  /** protocol §8.2 */
  'POST /jwt/fetch_api_key': {
    params: {
      token?: string;
      include_profile?: boolean;
    };
    answer: {
      api_key: string;
      email: string;
      user?: User;
    };
  };
  /** users §11 */
  'POST /users/me/avatar': {
    params: {
      filename?: Blob;
    };
    answer: {
      avatar_url: string | null;
    };
  };
  /** users §11 */
  'DELETE /users/me/avatar': {
    params: Record<never, never>;
    answer: {
      avatar_url: string | null;
    };
  };
  /** organization §3 */
  'POST /realm/icon': {
    params: {
      filename?: Blob;
    };
    answer: {
      icon_url: string;
    };
  };
  /** organization §3 */
  'DELETE /realm/icon': {
    params: Record<never, never>;
    answer: {
      icon_url: string;
    };
  };
  /** organization §3 */
  'POST /realm/logo': {
    params: {
      night: boolean;
      filename?: Blob;
    };
    answer: Record<never, never>;
  };
  /** organization §3 */
  'DELETE /realm/logo': {
    params: {
      night: boolean;
    };
    answer: Record<never, never>;
  };
  /** organization §7 */
  'GET /realm/emoji': {
    params: Record<never, never>;
    answer: {
      emoji: Record<string, CustomEmoji>;
    };
  };
  /** organization §7 */
  'POST /realm/emoji/{emoji_name}': {
    params: {
      emoji_name: string;
      filename?: Blob;
    };
    answer: Record<never, never>;
  };
  /** organization §7 */
  'DELETE /realm/emoji/{emoji_name}': {
    params: {
      emoji_name: string;
    };
    answer: Record<never, never>;
  };
  /** events §1; not yet: always empty: `realm_embedded_bots`, `realm_incoming_webhook_bots`, keys of GIF services, accounts at providers of calls; always off: `realm_push_notifications_enabled` */
  'POST /register': {
    params: {
      client_gravatar?: boolean | null;
      apply_markdown?: boolean;
      slim_presence?: boolean;
      presence_history_limit_days?: number | null;
      all_public_streams?: boolean;
      include_subscribers?: 'true' | 'false' | 'partial';
      client_capabilities?: {
        notification_settings_null: boolean;
        bulk_message_deletion?: boolean;
        user_avatar_url_field_optional?: boolean;
        stream_typing_notifications?: boolean;
        user_settings_object?: boolean;
        linkifier_url_template?: boolean;
        user_list_incomplete?: boolean;
        include_deactivated_groups?: boolean;
        archived_channels?: boolean;
        empty_topic_name?: boolean;
        simplified_presence_events?: boolean;
        individual_emoji_changes?: boolean;
        [name: string]: unknown;
      };
      event_types?: readonly string[] | null;
      fetch_event_types?: readonly string[] | null;
      narrow?: readonly (readonly string[])[];
      idle_queue_timeout?: number | 'mobile';
    };
    answer: {
      queue_id: string;
      last_event_id: number;
      idle_queue_timeout_secs: number;
      zulip_version: string;
      zulip_merge_base: string;
      zulip_feature_level: number;
      realm_emoji?: Record<string, CustomEmoji>;
      realm_billing?: {
        has_pending_sponsorship_request: boolean;
      };
      realm_embedded_bots?: unknown[];
      realm_incoming_webhook_bots?: unknown[];
      giphy_api_key?: string;
      tenor_api_key?: string;
      klipy_api_key?: string;
      realm_domains?: AllowedDomain[];
      realm_linkifiers?: Linkifier[];
      realm_filters?: unknown[];
      realm_playgrounds?: Playground[];
      has_zoom_token?: boolean;
      has_webex_token?: boolean;
      max_message_id?: number;
      unread_msgs?: UnreadMessages;
      starred_messages?: number[];
      recent_private_conversations?: RecentConversation[];
      stop_words?: string[];
      realm_bots?: Bot[];
      devices?: Record<string, Device>;
      presences?: Record<string, {
        active_timestamp: number;
        idle_timestamp: number;
      } | Record<string, {
        client: string;
        status: 'active' | 'idle' | 'offline';
        timestamp: number;
        pushable?: boolean;
      }>>;
      server_timestamp?: number;
      presence_last_update_id?: number;
      user_status?: Record<string, UserStatus>;
      scheduled_messages?: ScheduledMessage[];
      reminders?: Reminder[];
      drafts?: Draft[];
      saved_snippets?: SavedSnippet[];
      navigation_views?: NavigationView[];
      onboarding_steps?: OnboardingStep[];
      navigation_tour_video_url?: string | null;
      muted_users?: MutedUser[];
      alert_words?: string[];
      muted_topics?: ((string | number)[])[];
      user_topics?: UserTopic[];
      subscriptions?: Subscription[];
      unsubscribed?: Subscription[];
      never_subscribed?: NeverSubscribedChannel[];
      streams?: Channel[];
      realm_default_streams?: number[];
      realm_default_stream_groups?: DefaultChannelGroup[];
      channel_folders?: ChannelFolder[];
      realm_user_groups?: UserGroup[];
      realm_allow_message_editing?: boolean;
      realm_avatar_changes_disabled?: boolean;
      realm_default_avatar_source?: 'G' | 'J';
      realm_default_code_block_language?: string;
      realm_default_language?: string;
      realm_description?: string;
      realm_digest_emails_enabled?: boolean;
      realm_digest_weekday?: 0 | 1 | 2 | 3 | 4 | 5 | 6;
      realm_disallow_disposable_email_addresses?: boolean;
      realm_email_changes_disabled?: boolean;
      realm_emails_restricted_to_domains?: boolean;
      realm_enable_guest_user_dm_warning?: boolean;
      realm_enable_guest_user_indicator?: boolean;
      realm_enable_read_receipts?: boolean;
      realm_enable_spectator_access?: boolean;
      realm_gif_rating_policy?: 0 | 1 | 2 | 3 | 4 | 5;
      realm_inline_image_preview?: boolean;
      realm_inline_url_embed_preview?: boolean;
      realm_invite_required?: boolean;
      realm_jitsi_server_url?: string | null;
      realm_media_preview_size?: 100 | 150 | 200;
      realm_message_content_allowed_in_email_notifications?: boolean;
      realm_message_content_delete_limit_seconds?: number | null;
      realm_message_content_edit_limit_seconds?: number | null;
      realm_message_edit_history_visibility_policy?: 'all' | 'moves' | 'none';
      realm_message_retention_days?: number;
      realm_move_messages_between_streams_limit_seconds?: number | null;
      realm_move_messages_within_stream_limit_seconds?: number | null;
      realm_name_changes_disabled?: boolean;
      realm_org_type?: 0 | 10 | 20 | 30 | 35 | 40 | 50 | 60 | 70 | 80 | 90 | 100 | 1000;
      realm_owner_full_content_access?: boolean;
      realm_presence_disabled?: boolean;
      realm_require_e2ee_push_notifications?: boolean;
      realm_require_unique_names?: boolean;
      realm_send_channel_events_messages?: boolean;
      realm_send_welcome_emails?: boolean;
      realm_topics_policy?: 'allow_empty_topic' | 'disable_empty_topic';
      realm_video_chat_provider?: 0 | 1 | 4;
      realm_waiting_period_threshold?: number;
      realm_want_advertise_in_communities_directory?: boolean;
      realm_welcome_message_custom_text?: string;
      realm_moderation_request_channel_id?: number;
      realm_new_stream_announcements_stream_id?: number;
      realm_signup_announcements_stream_id?: number;
      realm_zulip_update_announcements_stream_id?: number;
      realm_name?: string;
      realm_mandatory_topics?: boolean;
      realm_allow_edit_history?: boolean;
      realm_can_access_all_users_group?: GroupSetting;
      realm_can_add_custom_emoji_group?: GroupSetting;
      realm_can_add_subscribers_group?: GroupSetting;
      realm_can_create_bots_group?: GroupSetting;
      realm_can_create_groups?: GroupSetting;
      realm_can_create_private_channel_group?: GroupSetting;
      realm_can_create_public_channel_group?: GroupSetting;
      realm_can_create_web_public_channel_group?: GroupSetting;
      realm_can_create_write_only_bots_group?: GroupSetting;
      realm_can_delete_any_message_group?: GroupSetting;
      realm_can_delete_own_message_group?: GroupSetting;
      realm_can_invite_users_group?: GroupSetting;
      realm_can_manage_all_groups?: GroupSetting;
      realm_can_manage_billing_group?: GroupSetting;
      realm_can_mention_many_users_group?: GroupSetting;
      realm_can_move_messages_between_channels_group?: GroupSetting;
      realm_can_move_messages_between_topics_group?: GroupSetting;
      realm_can_resolve_topics_group?: GroupSetting;
      realm_can_set_delete_message_policy_group?: GroupSetting;
      realm_can_set_topics_policy_group?: GroupSetting;
      realm_can_summarize_topics_group?: GroupSetting;
      realm_create_multiuse_invite_group?: GroupSetting;
      realm_direct_message_initiator_group?: GroupSetting;
      realm_direct_message_permission_group?: GroupSetting;
      realm_workplace_users_group?: GroupSetting;
      realm_create_public_stream_policy?: number;
      realm_create_private_stream_policy?: number;
      realm_create_web_public_stream_policy?: number;
      realm_wildcard_mention_policy?: number;
      realm_push_notifications_enabled?: boolean;
      realm_push_notifications_enabled_end_timestamp?: number | null;
      realm_authentication_methods?: Record<string, {
        enabled: boolean;
        available: boolean;
      }>;
      realm_email_auth_enabled?: boolean;
      realm_password_auth_enabled?: boolean;
      realm_icon_source?: 'U' | 'G';
      realm_icon_url?: string;
      realm_logo_source?: 'U' | 'D';
      realm_logo_url?: string;
      realm_night_logo_source?: 'U' | 'D';
      realm_night_logo_url?: string;
      realm_url?: string;
      realm_uri?: string;
      realm_uuid?: string;
      realm_bot_domain?: string;
      realm_date_created?: number;
      realm_plan_type?: number;
      zulip_plan_is_not_limited?: boolean;
      upgrade_text_for_wide_organization_logo?: string;
      realm_upload_quota_mib?: number | null;
      realm_available_video_chat_providers?: Record<string, {
        name: string;
        id: number;
      }>;
      gif_rating_policy_options?: Record<string, {
        name: string;
        id: number;
      }>;
      realm_default_external_accounts?: Record<string, {
        text: string;
        url_pattern: string;
        name: string;
        hint: string;
      }>;
      realm_empty_topic_display_name?: string;
      settings_send_digest_emails?: boolean;
      server_generation?: number;
      development_environment?: boolean;
      server_needs_upgrade?: boolean;
      server_web_public_streams_enabled?: boolean;
      server_inline_image_preview?: boolean;
      server_inline_url_embed_preview?: boolean;
      server_avatar_changes_disabled?: boolean;
      server_name_changes_disabled?: boolean;
      server_emoji_data_url?: string;
      server_thumbnail_formats?: ({
        name: string;
        max_width: number;
        max_height: number;
        format: string;
        animated: boolean;
      })[];
      server_jitsi_server_url?: string | null;
      jitsi_server_url?: string | null;
      server_can_summarize_topics?: boolean;
      server_presence_ping_interval_seconds?: number;
      server_presence_offline_threshold_seconds?: number;
      server_typing_started_expiry_period_milliseconds?: number;
      server_typing_stopped_wait_period_milliseconds?: number;
      server_typing_started_wait_period_milliseconds?: number;
      server_report_message_types?: ({
        key: string;
        name: string;
      })[];
      server_supported_permission_settings?: {
        realm: {
          can_access_all_users_group: PermissionDefinition;
          can_add_custom_emoji_group: PermissionDefinition;
          can_add_subscribers_group: PermissionDefinition;
          can_create_bots_group: PermissionDefinition;
          can_create_groups: PermissionDefinition;
          can_create_private_channel_group: PermissionDefinition;
          can_create_public_channel_group: PermissionDefinition;
          can_create_web_public_channel_group: PermissionDefinition;
          can_create_write_only_bots_group: PermissionDefinition;
          can_delete_any_message_group: PermissionDefinition;
          can_delete_own_message_group: PermissionDefinition;
          can_invite_users_group: PermissionDefinition;
          can_manage_all_groups: PermissionDefinition;
          can_manage_billing_group: PermissionDefinition;
          can_mention_many_users_group: PermissionDefinition;
          can_move_messages_between_channels_group: PermissionDefinition;
          can_move_messages_between_topics_group: PermissionDefinition;
          can_resolve_topics_group: PermissionDefinition;
          can_set_delete_message_policy_group: PermissionDefinition;
          can_set_topics_policy_group: PermissionDefinition;
          can_summarize_topics_group: PermissionDefinition;
          create_multiuse_invite_group: PermissionDefinition;
          direct_message_initiator_group: PermissionDefinition;
          direct_message_permission_group: PermissionDefinition;
          workplace_users_group: PermissionDefinition;
        };
        stream: {
          can_add_subscribers_group: PermissionDefinition;
          can_administer_channel_group: PermissionDefinition;
          can_create_topic_group: PermissionDefinition;
          can_delete_any_message_group: PermissionDefinition;
          can_delete_own_message_group: PermissionDefinition;
          can_move_messages_out_of_channel_group: PermissionDefinition;
          can_move_messages_within_channel_group: PermissionDefinition;
          can_remove_subscribers_group: PermissionDefinition;
          can_resolve_topics_group: PermissionDefinition;
          can_send_message_group: PermissionDefinition;
          can_subscribe_group: PermissionDefinition;
        };
        group: {
          can_add_members_group: PermissionDefinition;
          can_join_group: PermissionDefinition;
          can_leave_group: PermissionDefinition;
          can_manage_group: PermissionDefinition;
          can_mention_group: PermissionDefinition;
          can_remove_members_group: PermissionDefinition;
        };
      };
      server_min_deactivated_realm_deletion_days?: number | null;
      server_max_deactivated_realm_deletion_days?: number | null;
      event_queue_longpoll_timeout_seconds?: number;
      password_min_length?: number;
      password_max_length?: number;
      password_min_guesses?: number;
      max_message_length?: number;
      max_topic_length?: number;
      max_stream_name_length?: number;
      max_stream_description_length?: number;
      max_channel_folder_name_length?: number;
      max_channel_folder_description_length?: number;
      max_reminder_note_length?: number;
      max_bulk_new_subscription_messages?: number;
      max_file_upload_size_mib?: number;
      max_avatar_file_size_mib?: number;
      max_icon_file_size_mib?: number;
      max_logo_file_size_mib?: number;
      custom_profile_fields?: ProfileField[];
      custom_profile_field_types?: Record<string, {
        id: number;
        name: string;
      }>;
      realm_user_settings_defaults?: UserSettingsDefaults;
      user_settings?: UserSettings;
      twenty_four_hour_time?: boolean | null;
      pm_content_in_desktop_notifications?: boolean;
      user_id?: number;
      email?: string;
      delivery_email?: string;
      full_name?: string;
      avatar_source?: 'G' | 'J' | 'U';
      avatar_url?: string | null;
      avatar_url_medium?: string | null;
      is_owner?: boolean;
      is_admin?: boolean;
      is_moderator?: boolean;
      is_guest?: boolean;
      can_create_private_streams?: boolean;
      can_create_public_streams?: boolean;
      can_create_streams?: boolean;
      can_create_web_public_streams?: boolean;
      can_invite_others_to_realm?: boolean;
      realm_users?: User[];
      realm_non_active_users?: User[];
      cross_realm_bots?: User[];
    };
  };
  /** events §6.2 */
  'GET /events': {
    params: {
      queue_id?: string;
      last_event_id?: number;
      dont_block?: boolean;
      event_types?: readonly string[] | null;
      narrow?: readonly (readonly string[])[];
      all_public_streams?: boolean;
      apply_markdown?: boolean;
      client_gravatar?: boolean | null;
      slim_presence?: boolean;
    };
    answer: {
      events: Event[];
      queue_id?: string;
      idle_queue_timeout_secs?: number;
    };
  };
  /** events §6.5 */
  'DELETE /events': {
    params: {
      queue_id: string;
    };
    answer: Record<never, never>;
  };
  /** organization §5 */
  'GET /realm/domains': {
    params: Record<never, never>;
    answer: {
      domains: AllowedDomain[];
    };
  };
  /** organization §5 */
  'POST /realm/domains': {
    params: {
      domain: string;
      allow_subdomains: boolean;
    };
    answer: {
      new_domain: (number | string)[];
    };
  };
  /** organization §5 */
  'PATCH /realm/domains/{domain}': {
    params: {
      domain: string;
      allow_subdomains: boolean;
    };
    answer: Record<never, never>;
  };
  /** organization §5 */
  'DELETE /realm/domains/{domain}': {
    params: {
      domain: string;
    };
    answer: Record<never, never>;
  };
  /** organization §6 */
  'GET /realm/linkifiers': {
    params: Record<never, never>;
    answer: {
      linkifiers: Linkifier[];
    };
  };
  /** organization §6 */
  'PATCH /realm/linkifiers': {
    params: {
      ordered_linkifier_ids: readonly number[];
    };
    answer: Record<never, never>;
  };
  /** organization §6 */
  'POST /realm/filters': {
    params: {
      pattern: string;
      url_template: string;
      example_input?: string;
      reverse_template?: string;
      alternative_url_templates?: readonly string[];
    };
    answer: {
      id: number;
    };
  };
  /** organization §6 */
  'PATCH /realm/filters/{filter_id}': {
    params: {
      filter_id: number;
      pattern: string;
      url_template: string;
      example_input?: string;
      reverse_template?: string;
      alternative_url_templates?: readonly string[];
    };
    answer: Record<never, never>;
  };
  /** organization §6 */
  'DELETE /realm/filters/{filter_id}': {
    params: {
      filter_id: number;
    };
    answer: Record<never, never>;
  };
  /** organization §7 */
  'POST /realm/playgrounds': {
    params: {
      name: string;
      pygments_language: string;
      url_template: string;
    };
    answer: {
      id: number;
    };
  };
  /** organization §7 */
  'DELETE /realm/playgrounds/{playground_id}': {
    params: {
      playground_id: number;
    };
    answer: Record<never, never>;
  };
  /** organization §20; not yet: the provider cannot be configured: it answers that it is not */
  'POST /calls/zoom/create': {
    params: {
      is_video_call?: boolean;
    };
    answer: Record<never, never>;
  };
  /** organization §20 */
  'GET /calls/bigbluebutton/create': {
    params: {
      meeting_name: string;
      voice_only?: boolean;
    };
    answer: {
      url: string;
    };
  };
  /** organization §20; not yet: the provider cannot be configured: it answers that it is not */
  'POST /calls/constructorgroups/create': {
    params: Record<never, never>;
    answer: Record<never, never>;
  };
  /** organization §20; not yet: the provider cannot be configured: it answers that it is not */
  'POST /calls/nextcloud_talk/create': {
    params: {
      room_name: string;
    };
    answer: Record<never, never>;
  };
  /** organization §20; not yet: the provider cannot be configured: it answers that it is not */
  'POST /calls/webex/create': {
    params: Record<never, never>;
    answer: Record<never, never>;
  };
  /** organization §9.1 */
  'POST /invites/multiuse': {
    params: {
      invite_expires_in_minutes?: number | null;
      invite_as?: 100 | 200 | 300 | 400 | 600;
      stream_ids?: readonly number[];
      group_ids?: readonly number[];
      include_realm_default_subscriptions?: boolean;
      welcome_message_custom_text?: string;
    };
    answer: {
      invite_link: string;
    };
  };
  /** organization §9.2 */
  'GET /invites': {
    params: Record<never, never>;
    answer: {
      invites: Invitation[];
    };
  };
  /** organization §9.3 */
  'POST /invites': {
    params: {
      invitee_emails: string;
      invite_expires_in_minutes?: number | null;
      invite_as?: 100 | 200 | 300 | 400 | 600;
      notify_referrer_on_join?: boolean;
      stream_ids: readonly number[];
      group_ids?: readonly number[];
      include_realm_default_subscriptions?: boolean;
      welcome_message_custom_text?: string;
    };
    answer: Record<never, never>;
  };
  /** organization §10.7 */
  'POST /invites/accept': {
    params: {
      key: string;
      email?: string;
      full_name: string;
      password: string;
      email_address_visibility?: 1 | 2 | 3 | 4 | 5;
      timezone?: string;
    };
    answer: {
      email: string;
      api_key?: string;
      user_id?: number;
      confirmation_sent?: boolean;
    };
  };
  /** organization §9.4 */
  'DELETE /invites/{invite_id}': {
    params: {
      invite_id: number;
    };
    answer: Record<never, never>;
  };
  /** organization §9.4 */
  'DELETE /invites/multiuse/{invite_id}': {
    params: {
      invite_id: number;
    };
    answer: Record<never, never>;
  };
  /** organization §9.4 */
  'POST /invites/{invite_id}/resend': {
    params: {
      invite_id: number;
    };
    answer: Record<never, never>;
  };
  /** organization §10.6 */
  'POST /realm/test_welcome_bot_custom_message': {
    params: {
      welcome_message_custom_text: string;
    };
    answer: {
      message_id: number;
    };
  };
  /** messages §3; not yet: nobody is notified by mail or push, and no bot by an outgoing webhook */
  'POST /messages': {
    params: {
      type: 'direct' | 'private' | 'channel' | 'stream';
      to?: string | number | readonly (string | number)[];
      content: string;
      topic?: string;
      queue_id?: string;
      local_id?: string;
      read_by_sender?: boolean;
      widget_content?: string;
    };
    answer: {
      id: number;
      automatic_new_visibility_policy?: number;
    };
  };
  /** messages §5 */
  'GET /messages': {
    params: {
      anchor?: number | string;
      include_anchor?: boolean;
      anchor_date?: string;
      num_before?: number;
      num_after?: number;
      narrow?: readonly ({
        operator: 'dm' | 'pm-with' | 'pm_with';
        operand: string | readonly number[];
        negated?: boolean;
        [name: string]: unknown;
      } | {
        operator: 'channel' | 'stream' | 'dm-including' | 'group-pm-with' | 'group_pm_with' | 'sender' | 'mentions' | 'id' | 'with';
        operand: string | number;
        negated?: boolean;
        [name: string]: unknown;
      } | {
        operator: string;
        operand: string;
        negated?: boolean;
        [name: string]: unknown;
      } | readonly string[])[];
      message_ids?: readonly number[];
      client_gravatar?: boolean;
      apply_markdown?: boolean;
      allow_empty_topic_name?: boolean;
      use_first_unread_anchor?: boolean;
    };
    answer: {
      anchor?: number;
      found_newest: boolean;
      found_oldest: boolean;
      found_anchor: boolean;
      history_limited: boolean;
      messages: FoundMessage[];
    };
  };
  /** messages §15.1 */
  'POST /messages/render': {
    params: {
      content: string;
    };
    answer: {
      rendered: string;
    };
  };
  /** messages §8 */
  'GET /messages/matches_narrow': {
    params: {
      msg_ids: readonly number[];
      narrow: readonly ({
        operator: 'dm' | 'pm-with' | 'pm_with';
        operand: string | readonly number[];
        negated?: boolean;
        [name: string]: unknown;
      } | {
        operator: 'channel' | 'stream' | 'dm-including' | 'group-pm-with' | 'group_pm_with' | 'sender' | 'mentions' | 'id' | 'with';
        operand: string | number;
        negated?: boolean;
        [name: string]: unknown;
      } | {
        operator: string;
        operand: string;
        negated?: boolean;
        [name: string]: unknown;
      } | readonly string[])[];
    };
    answer: {
      messages: Record<string, {
        match_content: string;
        match_subject: string;
      }>;
    };
  };
  /** messages §6 */
  'GET /messages/{message_id}': {
    params: {
      message_id: number;
      apply_markdown?: boolean;
      allow_empty_topic_name?: boolean;
    };
    answer: {
      message: Message;
      raw_content: string;
    };
  };
  /** messages §9 */
  'PATCH /messages/{message_id}': {
    params: {
      message_id: number;
      content?: string;
      topic?: string;
      stream_id?: number;
      propagate_mode?: 'change_one' | 'change_later' | 'change_all';
      send_notification_to_old_thread?: boolean;
      send_notification_to_new_thread?: boolean;
      prev_content_sha256?: string;
    };
    answer: {
      detached_uploads: Attachment[];
    };
  };
  /** messages §11 */
  'DELETE /messages/{message_id}': {
    params: {
      message_id: number;
    };
    answer: Record<never, never>;
  };
  /** messages §10 */
  'GET /messages/{message_id}/history': {
    params: {
      message_id: number;
      allow_empty_topic_name?: boolean;
    };
    answer: {
      message_history: MessageSnapshot[];
    };
  };
  /** channels §5.6 */
  'POST /streams/{stream_id}/delete_topic': {
    params: {
      stream_id: number;
      topic_name: string;
    };
    answer: {
      complete: boolean;
    };
  };
  /** messages §13.1 */
  'POST /messages/flags': {
    params: {
      messages: readonly number[];
      op: string;
      flag: string;
    };
    answer: {
      messages: number[];
      ignored_because_not_subscribed_channels: number[];
    };
  };
  /** messages §13.2 */
  'POST /messages/flags/narrow': {
    params: {
      anchor: number | string;
      include_anchor?: boolean;
      num_before: number;
      num_after: number;
      narrow: readonly ({
        operator: 'dm' | 'pm-with' | 'pm_with';
        operand: string | readonly number[];
        negated?: boolean;
        [name: string]: unknown;
      } | {
        operator: 'channel' | 'stream' | 'dm-including' | 'group-pm-with' | 'group_pm_with' | 'sender' | 'mentions' | 'id' | 'with';
        operand: string | number;
        negated?: boolean;
        [name: string]: unknown;
      } | {
        operator: string;
        operand: string;
        negated?: boolean;
        [name: string]: unknown;
      } | readonly string[])[];
      op: string;
      flag: string;
    };
    answer: {
      processed_count: number;
      updated_count: number;
      first_processed_id: number | null;
      last_processed_id: number | null;
      found_oldest: boolean;
      found_newest: boolean;
      ignored_because_not_subscribed_channels: number[];
    };
  };
  /** messages §14 */
  'GET /messages/{message_id}/read_receipts': {
    params: {
      message_id: number;
    };
    answer: {
      user_ids: number[];
    };
  };
  /** messages §15.4 */
  'POST /messages/{message_id}/report': {
    params: {
      message_id: number;
      report_type: string;
      description?: string;
    };
    answer: Record<never, never>;
  };
  /** users §9.2 */
  'POST /messages/{message_id}/typing': {
    params: {
      message_id: number;
      op: 'start' | 'stop';
    };
    answer: Record<never, never>;
  };
  /** users §9.1 */
  'POST /typing': {
    params: {
      op: 'start' | 'stop';
      type?: 'direct' | 'stream' | 'channel';
      to?: readonly number[];
      stream_id?: number;
      topic?: string;
    };
    answer: Record<never, never>;
  };
  /** messages §15.3 */
  'POST /submessage': {
    params: {
      message_id: number;
      msg_type: string;
      content: string;
    };
    answer: Record<never, never>;
  };
  /** messages §13.3 */
  'POST /mark_all_as_read': {
    params: Record<never, never>;
    answer: {
      complete: boolean;
    };
  };
  /** messages §13.3 */
  'POST /mark_stream_as_read': {
    params: {
      stream_id: number;
    };
    answer: Record<never, never>;
  };
  /** messages §13.3 */
  'POST /mark_topic_as_read': {
    params: {
      stream_id: number;
      topic_name: string;
    };
    answer: Record<never, never>;
  };
  /** messages §12 */
  'POST /messages/{message_id}/reactions': {
    params: {
      message_id: number;
      emoji_name: string;
      emoji_code?: string;
      reaction_type?: string;
    };
    answer: Record<never, never>;
  };
  /** messages §12 */
  'DELETE /messages/{message_id}/reactions': {
    params: {
      message_id: number;
      emoji_name?: string;
      emoji_code?: string;
      reaction_type?: string;
    };
    answer: Record<never, never>;
  };
  /** users §15; not yet: outgoing webhooks are kept and never called; no configuration of integrations, of which there are none */
  'POST /bots': {
    params: {
      full_name: string;
      short_name: string;
      bot_type?: number;
      payload_url?: string;
      service_name?: string;
      interface_type?: number;
      config_data?: Record<string, string>;
      default_sending_stream?: string;
      default_events_register_stream?: string;
      default_all_public_streams?: boolean;
      filename?: Blob;
    };
    answer: {
      user_id: number;
      api_key: string;
      avatar_url: string | null;
      default_sending_stream: string | null;
      default_events_register_stream: string | null;
      default_all_public_streams: boolean;
    };
  };
  /** users §15 */
  'GET /bots': {
    params: Record<never, never>;
    answer: {
      bots: ({
        username: string;
        full_name: string;
        api_key: string;
        avatar_url: string | null;
        default_sending_stream: string | null;
        default_events_register_stream: string | null;
        default_all_public_streams: boolean;
      })[];
    };
  };
  /** users §15; not yet: outgoing webhooks are kept and never called; no configuration of integrations, of which there are none */
  'PATCH /bots/{bot_id}': {
    params: {
      bot_id: number;
      full_name?: string;
      short_name?: string;
      role?: 100 | 200 | 300 | 400 | 600;
      bot_owner_id?: number;
      config_data?: Record<string, string>;
      service_payload_url?: string;
      service_interface?: number;
      default_sending_stream?: string;
      default_events_register_stream?: string;
      default_all_public_streams?: boolean;
      filename?: Blob;
    };
    answer: {
      full_name: string;
      avatar_url: string | null;
      service_interface: number;
      service_payload_url: string | null;
      config_data: unknown;
      default_sending_stream: string | null;
      default_events_register_stream: string | null;
      default_all_public_streams: boolean;
      bot_owner?: string;
    };
  };
  /** users §15 */
  'DELETE /bots/{bot_id}': {
    params: {
      bot_id: number;
    };
    answer: Record<never, never>;
  };
  /** users §15 */
  'GET /bots/{bot_id}/api_key': {
    params: {
      bot_id: number;
    };
    answer: {
      api_key: string;
    };
  };
  /** users §15 */
  'POST /bots/{bot_id}/api_key/regenerate': {
    params: {
      bot_id: number;
    };
    answer: {
      api_key: string;
    };
  };
  /** users §15 */
  'POST /users/me/api_key/regenerate': {
    params: Record<never, never>;
    answer: {
      api_key: string;
    };
  };
  /** users §14 */
  'GET /bot_storage': {
    params: {
      keys?: readonly string[];
    };
    answer: {
      storage: Record<string, string>;
    };
  };
  /** users §14 */
  'PUT /bot_storage': {
    params: {
      storage: Record<string, string>;
    };
    answer: Record<never, never>;
  };
  /** users §14 */
  'DELETE /bot_storage': {
    params: {
      keys?: readonly string[];
    };
    answer: Record<never, never>;
  };
  /** organization §11 */
  'POST /register_client_device': {
    params: Record<never, never>;
    answer: {
      device_id: number;
    };
  };
  /** organization §11 */
  'POST /remove_client_device': {
    params: {
      device_id: number;
    };
    answer: Record<never, never>;
  };
  /** organization §12 */
  'POST /mobile_push/register': {
    params: {
      device_id: number;
      push_key_id?: number;
      push_key?: string;
      token_kind?: 'apns' | 'fcm';
      token_id?: string;
      bouncer_public_key?: string;
      encrypted_push_registration?: string;
    };
    answer: Record<never, never>;
  };
  /** organization §13 */
  'POST /users/me/apns_device_token': {
    params: {
      token: string;
      appid: string;
    };
    answer: Record<never, never>;
  };
  /** organization §13 */
  'DELETE /users/me/apns_device_token': {
    params: {
      token: string;
    };
    answer: Record<never, never>;
  };
  /** organization §13 */
  'POST /users/me/android_gcm_reg_id': {
    params: {
      token: string;
    };
    answer: Record<never, never>;
  };
  /** organization §13 */
  'DELETE /users/me/android_gcm_reg_id': {
    params: {
      token: string;
    };
    answer: Record<never, never>;
  };
  /** organization §13 */
  'POST /mobile_push/test_notification': {
    params: {
      token?: string;
    };
    answer: Record<never, never>;
  };
  /** organization §13 */
  'POST /mobile_push/e2ee/test_notification': {
    params: {
      device_id?: number;
    };
    answer: Record<never, never>;
  };
  /** users §8.1 */
  'POST /users/me/presence': {
    params: {
      status: string;
      last_update_id?: number;
      history_limit_days?: number;
      ping_only?: boolean;
      new_user_input?: boolean;
      slim_presence?: boolean;
    };
    answer: {
      presences?: Record<string, {
        active_timestamp: number;
        idle_timestamp: number;
      } | Record<string, {
        client: string;
        status: 'active' | 'idle' | 'offline';
        timestamp: number;
        pushable?: boolean;
      }>>;
      server_timestamp?: number;
      presence_last_update_id?: number;
    };
  };
  /** users §8.3 */
  'GET /users/{user_id_or_email}/presence': {
    params: {
      user_id_or_email: string;
    };
    answer: {
      presence: Record<string, {
        status: 'active' | 'idle' | 'offline';
        timestamp: number;
      }>;
    };
  };
  /** users §8.4 */
  'GET /realm/presence': {
    params: Record<never, never>;
    answer: {
      presences: Record<string, {
        active_timestamp: number;
        idle_timestamp: number;
      } | Record<string, {
        client: string;
        status: 'active' | 'idle' | 'offline';
        timestamp: number;
        pushable?: boolean;
      }>>;
      server_timestamp: number;
      presence_last_update_id: number;
    };
  };
  /** users §7 */
  'POST /users/me/status': {
    params: {
      status_text?: string;
      away?: boolean;
      emoji_name?: string;
      emoji_code?: string;
      reaction_type?: string;
    };
    answer: Record<never, never>;
  };
  /** users §7 */
  'GET /users/{user_id}/status': {
    params: {
      user_id: number;
    };
    answer: {
      status: UserStatus;
    };
  };
  /** users §7 */
  'POST /users/{user_id}/status': {
    params: {
      user_id: number;
      status_text?: string;
      emoji_name?: string;
      emoji_code?: string;
      reaction_type?: string;
    };
    answer: Record<never, never>;
  };
  /** users §20.1 */
  'GET /scheduled_messages': {
    params: Record<never, never>;
    answer: {
      scheduled_messages: ScheduledMessage[];
    };
  };
  /** users §20.2 */
  'POST /scheduled_messages': {
    params: {
      type: 'direct' | 'private' | 'channel' | 'stream';
      to: number | readonly number[];
      content: string;
      topic?: string;
      scheduled_delivery_timestamp: number;
      read_by_sender?: boolean;
    };
    answer: {
      scheduled_message_id: number;
    };
  };
  /** users §20.3 */
  'PATCH /scheduled_messages/{scheduled_message_id}': {
    params: {
      scheduled_message_id: number;
      type?: 'direct' | 'private' | 'channel' | 'stream';
      to?: number | readonly number[];
      content?: string;
      topic?: string;
      scheduled_delivery_timestamp?: number;
    };
    answer: Record<never, never>;
  };
  /** users §20.4 */
  'DELETE /scheduled_messages/{scheduled_message_id}': {
    params: {
      scheduled_message_id: number;
    };
    answer: Record<never, never>;
  };
  /** users §21 */
  'GET /reminders': {
    params: Record<never, never>;
    answer: {
      reminders: Reminder[];
    };
  };
  /** users §21 */
  'POST /reminders': {
    params: {
      message_id: number;
      scheduled_delivery_timestamp: number;
      note?: string;
    };
    answer: {
      reminder_id: number;
    };
  };
  /** users §21 */
  'DELETE /reminders/{reminder_id}': {
    params: {
      reminder_id: number;
    };
    answer: Record<never, never>;
  };
  /** messages §16.1 */
  'POST /user_uploads': {
    params: {
      filename?: Blob;
    };
    answer: {
      uri: string;
      url: string;
      filename: string;
    };
  };
  /** messages §16.2 */
  'GET /user_uploads/{realm_id}/{filename}': {
    params: {
      realm_id: number;
      filename: string;
    };
    answer: {
      url: string;
    };
  };
  /** users §16 */
  'GET /attachments': {
    params: Record<never, never>;
    answer: {
      attachments: Attachment[];
      upload_space_used: number;
    };
  };
  /** users §16 */
  'DELETE /attachments/{attachment_id}': {
    params: {
      attachment_id: number;
    };
    answer: Record<never, never>;
  };
  /** organization §8 */
  'GET /export/realm': {
    params: Record<never, never>;
    answer: {
      exports: DataExport[];
    };
  };
  /** organization §8 */
  'POST /export/realm': {
    params: {
      export_type?: 'public' | 'full_with_consent' | 'full_without_consent';
    };
    answer: {
      id: number;
    };
  };
  /** organization §8 */
  'DELETE /export/realm/{export_id}': {
    params: {
      export_id: number;
    };
    answer: Record<never, never>;
  };
  /** organization §8 */
  'GET /export/realm/consents': {
    params: Record<never, never>;
    answer: {
      export_consents: ({
        user_id: number;
        consented: boolean;
        email_address_visibility: number;
      })[];
    };
  };
  /** users §17 */
  'GET /drafts': {
    params: Record<never, never>;
    answer: {
      count: number;
      drafts: Draft[];
    };
  };
  /** users §17 */
  'POST /drafts': {
    params: {
      drafts: readonly ({
        type: 'private' | 'stream' | '';
        to: readonly number[];
        topic: string;
        content: string;
        timestamp?: number;
      })[];
    };
    answer: {
      ids: number[];
    };
  };
  /** users §17 */
  'PATCH /drafts/{draft_id}': {
    params: {
      draft_id: number;
      draft: {
        type: 'private' | 'stream' | '';
        to: readonly number[];
        topic: string;
        content: string;
        timestamp?: number;
      };
    };
    answer: Record<never, never>;
  };
  /** users §17 */
  'DELETE /drafts/{draft_id}': {
    params: {
      draft_id: number;
    };
    answer: Record<never, never>;
  };
  /** users §18 */
  'GET /saved_snippets': {
    params: Record<never, never>;
    answer: {
      saved_snippets: SavedSnippet[];
    };
  };
  /** users §18 */
  'POST /saved_snippets': {
    params: {
      title: string;
      content: string;
    };
    answer: {
      saved_snippet_id: number;
    };
  };
  /** users §18 */
  'PATCH /saved_snippets/{saved_snippet_id}': {
    params: {
      saved_snippet_id: number;
      title?: string;
      content?: string;
    };
    answer: Record<never, never>;
  };
  /** users §18 */
  'DELETE /saved_snippets/{saved_snippet_id}': {
    params: {
      saved_snippet_id: number;
    };
    answer: Record<never, never>;
  };
  /** users §19 */
  'GET /navigation_views': {
    params: Record<never, never>;
    answer: {
      navigation_views: NavigationView[];
    };
  };
  /** users §19 */
  'POST /navigation_views': {
    params: {
      fragment: string;
      is_pinned: boolean;
      name?: string;
    };
    answer: Record<never, never>;
  };
  /** users §19 */
  'PATCH /navigation_views/{fragment}': {
    params: {
      fragment: string;
      is_pinned?: boolean;
      name?: string;
    };
    answer: Record<never, never>;
  };
  /** users §19 */
  'DELETE /navigation_views/{fragment}': {
    params: {
      fragment: string;
    };
    answer: Record<never, never>;
  };
  /** users §22 */
  'POST /users/me/onboarding_steps': {
    params: {
      onboarding_step: string;
    };
    answer: Record<never, never>;
  };
  /** users §10 */
  'POST /users/me/muted_users/{muted_user_id}': {
    params: {
      muted_user_id: number;
    };
    answer: Record<never, never>;
  };
  /** users §10 */
  'DELETE /users/me/muted_users/{muted_user_id}': {
    params: {
      muted_user_id: number;
    };
    answer: Record<never, never>;
  };
  /** users §10 */
  'GET /users/me/alert_words': {
    params: Record<never, never>;
    answer: {
      alert_words: string[];
    };
  };
  /** users §10 */
  'POST /users/me/alert_words': {
    params: {
      alert_words: readonly string[];
    };
    answer: {
      alert_words: string[];
    };
  };
  /** users §10 */
  'DELETE /users/me/alert_words': {
    params: {
      alert_words: readonly string[];
    };
    answer: {
      alert_words: string[];
    };
  };
  /** channels §4.1 */
  'GET /streams': {
    params: {
      include_public?: boolean;
      include_web_public?: boolean;
      include_subscribed?: boolean;
      include_owner_subscribed?: boolean;
      include_can_access_content?: boolean;
      include_all?: boolean;
      include_all_active?: boolean;
      exclude_archived?: boolean;
      include_default?: boolean;
    };
    answer: {
      streams: ListedChannel[];
    };
  };
  /** channels §4.4 */
  'POST /channels/create': {
    params: {
      name: string;
      subscribers: readonly number[];
      description?: string;
      announce?: boolean;
      invite_only?: boolean;
      is_web_public?: boolean;
      is_default_stream?: boolean;
      folder_id?: number | null;
      topics_policy?: 'inherit' | 'allow_empty_topic' | 'disable_empty_topic' | 'empty_topic_only';
      history_public_to_subscribers?: boolean | null;
      message_retention_days?: number | string;
      send_new_subscription_messages?: boolean;
      can_add_subscribers_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_administer_channel_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_create_topic_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_delete_any_message_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_delete_own_message_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_move_messages_out_of_channel_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_move_messages_within_channel_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_remove_subscribers_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_resolve_topics_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_send_message_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_subscribe_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
    };
    answer: {
      id: number;
    };
  };
  /** channels §4.2 */
  'GET /streams/{stream_id}': {
    params: {
      stream_id: number;
    };
    answer: {
      stream: Channel;
    };
  };
  /** channels §4.11 */
  'PATCH /streams/{stream_id}': {
    params: {
      stream_id: number;
      description?: string;
      is_private?: boolean;
      history_public_to_subscribers?: boolean;
      is_web_public?: boolean;
      is_default_stream?: boolean;
      new_name?: string;
      message_retention_days?: number | string;
      is_archived?: boolean;
      folder_id?: number | null;
      topics_policy?: 'inherit' | 'allow_empty_topic' | 'disable_empty_topic' | 'empty_topic_only';
      can_add_subscribers_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_administer_channel_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_create_topic_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_delete_any_message_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_delete_own_message_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_move_messages_out_of_channel_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_move_messages_within_channel_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_remove_subscribers_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_resolve_topics_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_send_message_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_subscribe_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
    };
    answer: Record<never, never>;
  };
  /** channels §4.12 */
  'DELETE /streams/{stream_id}': {
    params: {
      stream_id: number;
    };
    answer: Record<never, never>;
  };
  /** channels §4.10 */
  'GET /streams/{stream_id}/members': {
    params: {
      stream_id: number;
    };
    answer: {
      subscribers: number[];
    };
  };
  /** channels §4.10 */
  'GET /users/{user_id}/subscriptions/{stream_id}': {
    params: {
      user_id: number;
      stream_id: number;
    };
    answer: {
      is_subscribed: boolean;
    };
  };
  /** channels §4.10 */
  'GET /users/{user_id}/channels': {
    params: {
      user_id: number;
    };
    answer: {
      subscribed_channel_ids: number[];
    };
  };
  /** channels §4.16; not yet: mail to it is not taken: a gateway of the operator has to send it as messages */
  'GET /streams/{stream_id}/email_address': {
    params: {
      stream_id: number;
      sender_id?: number;
    };
    answer: {
      email: string;
    };
  };
  /** channels §4.8 */
  'GET /users/me/subscriptions': {
    params: {
      include_subscribers?: 'true' | 'false' | 'partial';
    };
    answer: {
      subscriptions: Subscription[];
    };
  };
  /** channels §4.5 */
  'POST /users/me/subscriptions': {
    params: {
      subscriptions: readonly ({
        name: string;
        color?: string;
        description?: string;
        [name: string]: unknown;
      })[];
      principals?: readonly number[] | readonly string[];
      authorization_errors_fatal?: boolean;
      announce?: boolean;
      send_new_subscription_messages?: boolean;
      invite_only?: boolean;
      is_web_public?: boolean;
      is_default_stream?: boolean;
      history_public_to_subscribers?: boolean | null;
      message_retention_days?: number | string;
      topics_policy?: 'inherit' | 'allow_empty_topic' | 'disable_empty_topic' | 'empty_topic_only';
      folder_id?: number | null;
      can_add_subscribers_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_administer_channel_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_create_topic_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_delete_any_message_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_delete_own_message_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_move_messages_out_of_channel_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_move_messages_within_channel_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_remove_subscribers_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_resolve_topics_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_send_message_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_subscribe_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
    };
    answer: {
      subscribed: Record<string, string[]>;
      already_subscribed: Record<string, string[]>;
      unauthorized?: string[];
      new_subscription_messages_sent?: boolean;
    };
  };
  /** channels §4.6 */
  'DELETE /users/me/subscriptions': {
    params: {
      subscriptions: readonly string[];
      principals?: readonly number[] | readonly string[];
    };
    answer: {
      removed: string[];
      not_removed: string[];
    };
  };
  /** channels §4.7 */
  'PATCH /users/me/subscriptions': {
    params: {
      add?: readonly ({
        name: string;
        color?: string;
        description?: string;
        [name: string]: unknown;
      })[];
      delete?: readonly string[];
    };
    answer: {
      subscribed: Record<string, string[]>;
      already_subscribed: Record<string, string[]>;
      unauthorized?: string[];
      new_subscription_messages_sent?: boolean;
      removed: string[];
      not_removed: string[];
    };
  };
  /** channels §4.9 */
  'POST /users/me/subscriptions/properties': {
    params: {
      subscription_data: readonly ({
        stream_id: number;
        property: string;
        value: boolean | null | string | number;
        [name: string]: unknown;
      })[];
    };
    answer: Record<never, never>;
  };
  /** channels §5.5 */
  'PATCH /users/me/subscriptions/muted_topics': {
    params: {
      stream_id?: number;
      stream?: string;
      topic: string;
      op: 'add' | 'remove';
    };
    answer: Record<never, never>;
  };
  /** channels §4.9 */
  'PATCH /users/me/subscriptions/{stream_id}': {
    params: {
      stream_id: number;
      property: string;
      value: boolean | null | string | number;
    };
    answer: Record<never, never>;
  };
  /** channels §5.4 */
  'POST /user_topics': {
    params: {
      stream_id: number;
      topic: string;
      visibility_policy: 0 | 1 | 2 | 3;
    };
    answer: Record<never, never>;
  };
  /** channels §4.3 */
  'GET /get_stream_id': {
    params: {
      stream: string;
    };
    answer: {
      stream_id: number;
    };
  };
  /** channels §5.3 */
  'GET /users/me/{stream_id}/topics': {
    params: {
      stream_id: number;
      allow_empty_topic_name?: boolean;
    };
    answer: {
      topics: ({
        name: string;
        max_id: number;
      })[];
    };
  };
  /** channels §4.14 */
  'POST /default_streams': {
    params: {
      stream_id: number;
    };
    answer: Record<never, never>;
  };
  /** channels §4.14 */
  'DELETE /default_streams': {
    params: {
      stream_id: number;
    };
    answer: Record<never, never>;
  };
  /** channels §4.14 */
  'POST /default_stream_groups/create': {
    params: {
      group_name: string;
      description: string;
      stream_names: readonly string[];
    };
    answer: Record<never, never>;
  };
  /** channels §4.14 */
  'PATCH /default_stream_groups/{group_id}': {
    params: {
      group_id: number;
      new_group_name?: string;
      new_description?: string;
    };
    answer: Record<never, never>;
  };
  /** channels §4.14 */
  'DELETE /default_stream_groups/{group_id}': {
    params: {
      group_id: number;
    };
    answer: Record<never, never>;
  };
  /** channels §4.14 */
  'PATCH /default_stream_groups/{group_id}/streams': {
    params: {
      group_id: number;
      op: string;
      stream_names: readonly string[];
    };
    answer: Record<never, never>;
  };
  /** channels §4.15 */
  'POST /channel_folders/create': {
    params: {
      name: string;
      description?: string;
    };
    answer: {
      channel_folder_id: number;
    };
  };
  /** channels §4.15 */
  'GET /channel_folders': {
    params: {
      include_archived?: boolean;
    };
    answer: {
      channel_folders: ChannelFolder[];
    };
  };
  /** channels §4.15 */
  'PATCH /channel_folders': {
    params: {
      order: readonly number[];
    };
    answer: Record<never, never>;
  };
  /** channels §4.15 */
  'PATCH /channel_folders/{channel_folder_id}': {
    params: {
      channel_folder_id: number;
      name?: string;
      description?: string;
      is_archived?: boolean;
    };
    answer: Record<never, never>;
  };
  /** users §12.3 */
  'GET /user_groups': {
    params: {
      include_deactivated_groups?: boolean;
    };
    answer: {
      user_groups: UserGroup[];
    };
  };
  /** users §12.3 */
  'POST /user_groups/create': {
    params: {
      name: string;
      description: string;
      members: readonly number[];
      subgroups?: readonly number[];
      can_add_members_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_join_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_leave_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_manage_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_mention_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
      can_remove_members_group?: number | {
        direct_members: readonly number[];
        direct_subgroups: readonly number[];
      };
    };
    answer: {
      group_id: number;
    };
  };
  /** users §12.3 */
  'PATCH /user_groups/{user_group_id}': {
    params: {
      user_group_id: number;
      name?: string;
      description?: string;
      deactivated?: boolean;
      can_add_members_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_join_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_leave_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_manage_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_mention_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_remove_members_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
    };
    answer: Record<never, never>;
  };
  /** users §12.3 */
  'POST /user_groups/{user_group_id}/deactivate': {
    params: {
      user_group_id: number;
    };
    answer: Record<never, never>;
  };
  /** users §12.3 */
  'GET /user_groups/{user_group_id}/members': {
    params: {
      user_group_id: number;
      direct_member_only?: boolean;
    };
    answer: {
      members: number[];
    };
  };
  /** users §12.4 */
  'POST /user_groups/{user_group_id}/members': {
    params: {
      user_group_id: number;
      add?: readonly number[];
      delete?: readonly number[];
      add_subgroups?: readonly number[];
      delete_subgroups?: readonly number[];
    };
    answer: Record<never, never>;
  };
  /** users §12.3 */
  'GET /user_groups/{user_group_id}/members/{user_id}': {
    params: {
      user_group_id: number;
      user_id: number;
      direct_member_only?: boolean;
    };
    answer: {
      is_user_group_member: boolean;
    };
  };
  /** users §12.3 */
  'GET /user_groups/{user_group_id}/subgroups': {
    params: {
      user_group_id: number;
      direct_subgroup_only?: boolean;
    };
    answer: {
      subgroups: number[];
    };
  };
  /** users §12.4 */
  'POST /user_groups/{user_group_id}/subgroups': {
    params: {
      user_group_id: number;
      add?: readonly number[];
      delete?: readonly number[];
    };
    answer: Record<never, never>;
  };
  /** organization §2 */
  'PATCH /realm': {
    params: {
      name?: string;
      string_id?: string;
      authentication_methods?: Record<string, boolean>;
      allow_message_editing?: boolean;
      avatar_changes_disabled?: boolean;
      default_avatar_source?: 'G' | 'J';
      default_code_block_language?: string;
      default_language?: string;
      description?: string;
      digest_emails_enabled?: boolean;
      digest_weekday?: 0 | 1 | 2 | 3 | 4 | 5 | 6;
      disallow_disposable_email_addresses?: boolean;
      email_changes_disabled?: boolean;
      emails_restricted_to_domains?: boolean;
      enable_guest_user_dm_warning?: boolean;
      enable_guest_user_indicator?: boolean;
      enable_read_receipts?: boolean;
      enable_spectator_access?: boolean;
      gif_rating_policy?: number;
      inline_image_preview?: boolean;
      inline_url_embed_preview?: boolean;
      invite_required?: boolean;
      jitsi_server_url?: string;
      media_preview_size?: 100 | 150 | 200;
      message_content_allowed_in_email_notifications?: boolean;
      message_content_delete_limit_seconds?: number | string;
      message_content_edit_limit_seconds?: number | string;
      message_edit_history_visibility_policy?: 'all' | 'moves' | 'none';
      message_retention_days?: number | string;
      move_messages_between_streams_limit_seconds?: number | string;
      move_messages_within_stream_limit_seconds?: number | string;
      name_changes_disabled?: boolean;
      org_type?: 0 | 10 | 20 | 30 | 35 | 40 | 50 | 60 | 70 | 80 | 90 | 100 | 1000;
      require_e2ee_push_notifications?: boolean;
      require_unique_names?: boolean;
      send_channel_events_messages?: boolean;
      send_welcome_emails?: boolean;
      topics_policy?: 'allow_empty_topic' | 'disable_empty_topic';
      video_chat_provider?: number;
      waiting_period_threshold?: number;
      want_advertise_in_communities_directory?: boolean;
      welcome_message_custom_text?: string;
      moderation_request_channel_id?: number;
      new_stream_announcements_stream_id?: number;
      signup_announcements_stream_id?: number;
      zulip_update_announcements_stream_id?: number;
      can_access_all_users_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_add_custom_emoji_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_add_subscribers_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_create_bots_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_create_groups?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_create_private_channel_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_create_public_channel_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_create_web_public_channel_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_create_write_only_bots_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_delete_any_message_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_delete_own_message_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_invite_users_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_manage_all_groups?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_manage_billing_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_mention_many_users_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_move_messages_between_channels_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_move_messages_between_topics_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_resolve_topics_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_set_delete_message_policy_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_set_topics_policy_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      can_summarize_topics_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      create_multiuse_invite_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      direct_message_initiator_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      direct_message_permission_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
      workplace_users_group?: {
        new: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
        old?: number | {
          direct_members: readonly number[];
          direct_subgroups: readonly number[];
        };
      };
    };
    answer: {
      name?: 'updated';
      allow_message_editing?: boolean;
      avatar_changes_disabled?: boolean;
      default_avatar_source?: 'updated';
      default_code_block_language?: 'updated';
      default_language?: 'updated';
      description?: 'updated';
      digest_emails_enabled?: boolean;
      digest_weekday?: 0 | 1 | 2 | 3 | 4 | 5 | 6;
      disallow_disposable_email_addresses?: boolean;
      email_changes_disabled?: boolean;
      emails_restricted_to_domains?: boolean;
      enable_guest_user_dm_warning?: boolean;
      enable_guest_user_indicator?: boolean;
      enable_read_receipts?: boolean;
      enable_spectator_access?: boolean;
      gif_rating_policy?: 0 | 1 | 2 | 3 | 4 | 5;
      inline_image_preview?: boolean;
      inline_url_embed_preview?: boolean;
      invite_required?: boolean;
      jitsi_server_url?: 'updated' | null;
      media_preview_size?: 100 | 150 | 200;
      message_content_allowed_in_email_notifications?: boolean;
      message_content_delete_limit_seconds?: number | null;
      message_content_edit_limit_seconds?: number | null;
      message_edit_history_visibility_policy?: 'updated';
      message_retention_days?: number;
      move_messages_between_streams_limit_seconds?: number | null;
      move_messages_within_stream_limit_seconds?: number | null;
      name_changes_disabled?: boolean;
      org_type?: 0 | 10 | 20 | 30 | 35 | 40 | 50 | 60 | 70 | 80 | 90 | 100 | 1000;
      owner_full_content_access?: boolean;
      presence_disabled?: boolean;
      require_e2ee_push_notifications?: boolean;
      require_unique_names?: boolean;
      send_channel_events_messages?: boolean;
      send_welcome_emails?: boolean;
      topics_policy?: 'updated';
      video_chat_provider?: 0 | 1 | 4;
      waiting_period_threshold?: number;
      want_advertise_in_communities_directory?: boolean;
      welcome_message_custom_text?: 'updated';
      moderation_request_channel_id?: number;
      new_stream_announcements_stream_id?: number;
      signup_announcements_stream_id?: number;
      zulip_update_announcements_stream_id?: number;
      can_access_all_users_group?: GroupSetting;
      can_add_custom_emoji_group?: GroupSetting;
      can_add_subscribers_group?: GroupSetting;
      can_create_bots_group?: GroupSetting;
      can_create_groups?: GroupSetting;
      can_create_private_channel_group?: GroupSetting;
      can_create_public_channel_group?: GroupSetting;
      can_create_web_public_channel_group?: GroupSetting;
      can_create_write_only_bots_group?: GroupSetting;
      can_delete_any_message_group?: GroupSetting;
      can_delete_own_message_group?: GroupSetting;
      can_invite_users_group?: GroupSetting;
      can_manage_all_groups?: GroupSetting;
      can_manage_billing_group?: GroupSetting;
      can_mention_many_users_group?: GroupSetting;
      can_move_messages_between_channels_group?: GroupSetting;
      can_move_messages_between_topics_group?: GroupSetting;
      can_resolve_topics_group?: GroupSetting;
      can_set_delete_message_policy_group?: GroupSetting;
      can_set_topics_policy_group?: GroupSetting;
      can_summarize_topics_group?: GroupSetting;
      create_multiuse_invite_group?: GroupSetting;
      direct_message_initiator_group?: GroupSetting;
      direct_message_permission_group?: GroupSetting;
      workplace_users_group?: GroupSetting;
      authentication_methods?: Record<string, boolean>;
    };
  };
  /** organization §3 */
  'POST /realm/deactivate': {
    params: {
      deletion_delay_days?: number | null;
    };
    answer: Record<never, never>;
  };
  /** users §2 */
  'GET /users': {
    params: {
      client_gravatar?: boolean;
      include_custom_profile_fields?: boolean;
      user_ids?: readonly number[];
    };
    answer: {
      members: User[];
    };
  };
  /** users §3.1 */
  'POST /users': {
    params: {
      email: string;
      password: string;
      full_name: string;
    };
    answer: {
      user_id: number;
    };
  };
  /** users §2 */
  'GET /users/me': {
    params: Record<never, never>;
    answer: {
      user_id: number;
      delivery_email: string | null;
      email: string;
      full_name: string;
      date_joined: string;
      is_active?: boolean;
      is_deleted?: boolean;
      is_owner: boolean;
      is_admin: boolean;
      is_guest: boolean;
      is_bot: boolean;
      role: 100 | 200 | 300 | 400 | 600;
      timezone: string;
      avatar_url: string | null;
      avatar_version: number;
      is_imported_stub: boolean;
      bot_type?: number | null;
      bot_owner_id?: number | null;
      is_system_bot?: boolean;
      profile_data?: Record<string, {
        value: string;
        rendered_value?: string;
      }>;
      max_message_id: number;
    };
  };
  /** users §4.2 */
  'DELETE /users/me': {
    params: Record<never, never>;
    answer: Record<never, never>;
  };
  /** users §2 */
  'GET /users/{user_id}': {
    params: {
      user_id: number | string;
      client_gravatar?: boolean;
      include_custom_profile_fields?: boolean;
    };
    answer: {
      user: User;
    };
  };
  /** users §4.1 */
  'DELETE /users/{user_id}': {
    params: {
      user_id: number;
      deactivation_notification_comment?: string;
      actions?: {
        delete_profile?: boolean;
        delete_public_channel_messages?: boolean;
        delete_private_channel_messages?: boolean;
        delete_direct_messages?: boolean;
      };
    };
    answer: Record<never, never>;
  };
  /** users §3.2 */
  'PATCH /users/{user_id}': {
    params: {
      user_id: number | string;
      full_name?: string;
      role?: 100 | 200 | 300 | 400 | 600;
      profile_data?: readonly ({
        id: number;
        value: string | readonly number[] | null;
      })[];
      new_email?: string;
    };
    answer: Record<never, never>;
  };
  /** users §4.3 */
  'POST /users/{user_id}/reactivate': {
    params: {
      user_id: number;
    };
    answer: Record<never, never>;
  };
  /** users §6.1 */
  'PATCH /settings': {
    params: {
      full_name?: string;
      email?: string;
      old_password?: string;
      new_password?: string;
      target_users?: {
        user_ids?: readonly number[];
        group_ids?: readonly number[];
        skip_if_already_edited: boolean;
      };
      allow_private_data_export?: boolean;
      automatically_follow_topics_policy?: 1 | 2 | 3 | 4;
      automatically_follow_topics_where_mentioned?: boolean;
      automatically_unmute_topics_in_muted_streams_policy?: 1 | 2 | 3 | 4;
      color_scheme?: 1 | 2 | 3;
      default_language?: string;
      demote_inactive_streams?: 1 | 2 | 3;
      desktop_icon_count_display?: 1 | 2 | 3 | 4;
      display_emoji_reaction_users?: boolean;
      email_address_visibility?: 1 | 2 | 3 | 4 | 5;
      email_notifications_batching_period_seconds?: number;
      emojiset?: 'google' | 'google-blob' | 'twitter' | 'text';
      enable_desktop_notifications?: boolean;
      enable_digest_emails?: boolean;
      enable_drafts_synchronization?: boolean;
      enable_followed_topic_audible_notifications?: boolean;
      enable_followed_topic_desktop_notifications?: boolean;
      enable_followed_topic_email_notifications?: boolean;
      enable_followed_topic_push_notifications?: boolean;
      enable_followed_topic_wildcard_mentions_notify?: boolean;
      enable_login_emails?: boolean;
      enable_marketing_emails?: boolean;
      enable_offline_email_notifications?: boolean;
      enable_offline_push_notifications?: boolean;
      enable_online_push_notifications?: boolean;
      enable_sounds?: boolean;
      enable_stream_audible_notifications?: boolean;
      enable_stream_desktop_notifications?: boolean;
      enable_stream_email_notifications?: boolean;
      enable_stream_push_notifications?: boolean;
      enter_sends?: boolean;
      fluid_layout_width?: boolean;
      hide_ai_features?: boolean;
      high_contrast_mode?: boolean;
      left_side_userlist?: boolean;
      message_content_in_email_notifications?: boolean;
      notification_sound?: string;
      pm_content_in_desktop_notifications?: boolean;
      presence_enabled?: boolean;
      realm_name_in_email_notifications_policy?: 1 | 2 | 3;
      receives_typing_notifications?: boolean;
      resolved_topic_notice_auto_read_policy?: 'always' | 'except_followed' | 'never';
      send_private_typing_notifications?: boolean;
      send_read_receipts?: boolean;
      send_stream_typing_notifications?: boolean;
      starred_message_counts?: boolean;
      timezone?: string;
      translate_emoticons?: boolean;
      twenty_four_hour_time?: boolean | null;
      user_list_style?: 1 | 2 | 3;
      web_animate_image_previews?: 'always' | 'on_hover' | 'never';
      web_channel_default_view?: 1 | 2 | 3 | 4;
      web_escape_navigates_to_home_view?: boolean;
      web_font_size_px?: number;
      web_home_view?: 'inbox' | 'recent' | 'all_messages';
      web_inbox_show_channel_folders?: boolean;
      web_left_sidebar_show_channel_folders?: boolean;
      web_left_sidebar_unreads_count_summary?: boolean;
      web_line_height_percent?: number;
      web_mark_read_on_scroll_policy?: 1 | 2 | 3;
      web_navigate_to_sent_message?: boolean;
      web_stream_unreads_count_display_policy?: 1 | 2 | 3;
      web_suggest_update_timezone?: boolean;
      wildcard_mentions_notify?: boolean;
    };
    answer: Record<never, never>;
  };
  /** users §6.1 */
  'PATCH /settings/display': {
    params: {
      full_name?: string;
      email?: string;
      old_password?: string;
      new_password?: string;
      target_users?: {
        user_ids?: readonly number[];
        group_ids?: readonly number[];
        skip_if_already_edited: boolean;
      };
      allow_private_data_export?: boolean;
      automatically_follow_topics_policy?: 1 | 2 | 3 | 4;
      automatically_follow_topics_where_mentioned?: boolean;
      automatically_unmute_topics_in_muted_streams_policy?: 1 | 2 | 3 | 4;
      color_scheme?: 1 | 2 | 3;
      default_language?: string;
      demote_inactive_streams?: 1 | 2 | 3;
      desktop_icon_count_display?: 1 | 2 | 3 | 4;
      display_emoji_reaction_users?: boolean;
      email_address_visibility?: 1 | 2 | 3 | 4 | 5;
      email_notifications_batching_period_seconds?: number;
      emojiset?: 'google' | 'google-blob' | 'twitter' | 'text';
      enable_desktop_notifications?: boolean;
      enable_digest_emails?: boolean;
      enable_drafts_synchronization?: boolean;
      enable_followed_topic_audible_notifications?: boolean;
      enable_followed_topic_desktop_notifications?: boolean;
      enable_followed_topic_email_notifications?: boolean;
      enable_followed_topic_push_notifications?: boolean;
      enable_followed_topic_wildcard_mentions_notify?: boolean;
      enable_login_emails?: boolean;
      enable_marketing_emails?: boolean;
      enable_offline_email_notifications?: boolean;
      enable_offline_push_notifications?: boolean;
      enable_online_push_notifications?: boolean;
      enable_sounds?: boolean;
      enable_stream_audible_notifications?: boolean;
      enable_stream_desktop_notifications?: boolean;
      enable_stream_email_notifications?: boolean;
      enable_stream_push_notifications?: boolean;
      enter_sends?: boolean;
      fluid_layout_width?: boolean;
      hide_ai_features?: boolean;
      high_contrast_mode?: boolean;
      left_side_userlist?: boolean;
      message_content_in_email_notifications?: boolean;
      notification_sound?: string;
      pm_content_in_desktop_notifications?: boolean;
      presence_enabled?: boolean;
      realm_name_in_email_notifications_policy?: 1 | 2 | 3;
      receives_typing_notifications?: boolean;
      resolved_topic_notice_auto_read_policy?: 'always' | 'except_followed' | 'never';
      send_private_typing_notifications?: boolean;
      send_read_receipts?: boolean;
      send_stream_typing_notifications?: boolean;
      starred_message_counts?: boolean;
      timezone?: string;
      translate_emoticons?: boolean;
      twenty_four_hour_time?: boolean | null;
      user_list_style?: 1 | 2 | 3;
      web_animate_image_previews?: 'always' | 'on_hover' | 'never';
      web_channel_default_view?: 1 | 2 | 3 | 4;
      web_escape_navigates_to_home_view?: boolean;
      web_font_size_px?: number;
      web_home_view?: 'inbox' | 'recent' | 'all_messages';
      web_inbox_show_channel_folders?: boolean;
      web_left_sidebar_show_channel_folders?: boolean;
      web_left_sidebar_unreads_count_summary?: boolean;
      web_line_height_percent?: number;
      web_mark_read_on_scroll_policy?: 1 | 2 | 3;
      web_navigate_to_sent_message?: boolean;
      web_stream_unreads_count_display_policy?: 1 | 2 | 3;
      web_suggest_update_timezone?: boolean;
      wildcard_mentions_notify?: boolean;
    };
    answer: Record<never, never>;
  };
  /** users §6.1 */
  'PATCH /settings/notifications': {
    params: {
      full_name?: string;
      email?: string;
      old_password?: string;
      new_password?: string;
      target_users?: {
        user_ids?: readonly number[];
        group_ids?: readonly number[];
        skip_if_already_edited: boolean;
      };
      allow_private_data_export?: boolean;
      automatically_follow_topics_policy?: 1 | 2 | 3 | 4;
      automatically_follow_topics_where_mentioned?: boolean;
      automatically_unmute_topics_in_muted_streams_policy?: 1 | 2 | 3 | 4;
      color_scheme?: 1 | 2 | 3;
      default_language?: string;
      demote_inactive_streams?: 1 | 2 | 3;
      desktop_icon_count_display?: 1 | 2 | 3 | 4;
      display_emoji_reaction_users?: boolean;
      email_address_visibility?: 1 | 2 | 3 | 4 | 5;
      email_notifications_batching_period_seconds?: number;
      emojiset?: 'google' | 'google-blob' | 'twitter' | 'text';
      enable_desktop_notifications?: boolean;
      enable_digest_emails?: boolean;
      enable_drafts_synchronization?: boolean;
      enable_followed_topic_audible_notifications?: boolean;
      enable_followed_topic_desktop_notifications?: boolean;
      enable_followed_topic_email_notifications?: boolean;
      enable_followed_topic_push_notifications?: boolean;
      enable_followed_topic_wildcard_mentions_notify?: boolean;
      enable_login_emails?: boolean;
      enable_marketing_emails?: boolean;
      enable_offline_email_notifications?: boolean;
      enable_offline_push_notifications?: boolean;
      enable_online_push_notifications?: boolean;
      enable_sounds?: boolean;
      enable_stream_audible_notifications?: boolean;
      enable_stream_desktop_notifications?: boolean;
      enable_stream_email_notifications?: boolean;
      enable_stream_push_notifications?: boolean;
      enter_sends?: boolean;
      fluid_layout_width?: boolean;
      hide_ai_features?: boolean;
      high_contrast_mode?: boolean;
      left_side_userlist?: boolean;
      message_content_in_email_notifications?: boolean;
      notification_sound?: string;
      pm_content_in_desktop_notifications?: boolean;
      presence_enabled?: boolean;
      realm_name_in_email_notifications_policy?: 1 | 2 | 3;
      receives_typing_notifications?: boolean;
      resolved_topic_notice_auto_read_policy?: 'always' | 'except_followed' | 'never';
      send_private_typing_notifications?: boolean;
      send_read_receipts?: boolean;
      send_stream_typing_notifications?: boolean;
      starred_message_counts?: boolean;
      timezone?: string;
      translate_emoticons?: boolean;
      twenty_four_hour_time?: boolean | null;
      user_list_style?: 1 | 2 | 3;
      web_animate_image_previews?: 'always' | 'on_hover' | 'never';
      web_channel_default_view?: 1 | 2 | 3 | 4;
      web_escape_navigates_to_home_view?: boolean;
      web_font_size_px?: number;
      web_home_view?: 'inbox' | 'recent' | 'all_messages';
      web_inbox_show_channel_folders?: boolean;
      web_left_sidebar_show_channel_folders?: boolean;
      web_left_sidebar_unreads_count_summary?: boolean;
      web_line_height_percent?: number;
      web_mark_read_on_scroll_policy?: 1 | 2 | 3;
      web_navigate_to_sent_message?: boolean;
      web_stream_unreads_count_display_policy?: 1 | 2 | 3;
      web_suggest_update_timezone?: boolean;
      wildcard_mentions_notify?: boolean;
    };
    answer: Record<never, never>;
  };
  /** users §6.5 */
  'PATCH /realm/user_settings_defaults': {
    params: {
      automatically_follow_topics_policy?: 1 | 2 | 3 | 4;
      automatically_follow_topics_where_mentioned?: boolean;
      automatically_unmute_topics_in_muted_streams_policy?: 1 | 2 | 3 | 4;
      color_scheme?: 1 | 2 | 3;
      demote_inactive_streams?: 1 | 2 | 3;
      desktop_icon_count_display?: 1 | 2 | 3 | 4;
      display_emoji_reaction_users?: boolean;
      email_address_visibility?: 1 | 2 | 3 | 4 | 5;
      email_notifications_batching_period_seconds?: number;
      emojiset?: 'google' | 'google-blob' | 'twitter' | 'text';
      enable_desktop_notifications?: boolean;
      enable_digest_emails?: boolean;
      enable_drafts_synchronization?: boolean;
      enable_followed_topic_audible_notifications?: boolean;
      enable_followed_topic_desktop_notifications?: boolean;
      enable_followed_topic_email_notifications?: boolean;
      enable_followed_topic_push_notifications?: boolean;
      enable_followed_topic_wildcard_mentions_notify?: boolean;
      enable_offline_email_notifications?: boolean;
      enable_offline_push_notifications?: boolean;
      enable_online_push_notifications?: boolean;
      enable_sounds?: boolean;
      enable_stream_audible_notifications?: boolean;
      enable_stream_desktop_notifications?: boolean;
      enable_stream_email_notifications?: boolean;
      enable_stream_push_notifications?: boolean;
      enter_sends?: boolean;
      fluid_layout_width?: boolean;
      hide_ai_features?: boolean;
      high_contrast_mode?: boolean;
      left_side_userlist?: boolean;
      message_content_in_email_notifications?: boolean;
      notification_sound?: string;
      pm_content_in_desktop_notifications?: boolean;
      presence_enabled?: boolean;
      realm_name_in_email_notifications_policy?: 1 | 2 | 3;
      receives_typing_notifications?: boolean;
      resolved_topic_notice_auto_read_policy?: 'always' | 'except_followed' | 'never';
      send_private_typing_notifications?: boolean;
      send_read_receipts?: boolean;
      send_stream_typing_notifications?: boolean;
      starred_message_counts?: boolean;
      translate_emoticons?: boolean;
      twenty_four_hour_time?: boolean | null;
      user_list_style?: 1 | 2 | 3;
      web_animate_image_previews?: 'always' | 'on_hover' | 'never';
      web_channel_default_view?: 1 | 2 | 3 | 4;
      web_escape_navigates_to_home_view?: boolean;
      web_font_size_px?: number;
      web_home_view?: 'inbox' | 'recent' | 'all_messages';
      web_inbox_show_channel_folders?: boolean;
      web_left_sidebar_show_channel_folders?: boolean;
      web_left_sidebar_unreads_count_summary?: boolean;
      web_line_height_percent?: number;
      web_mark_read_on_scroll_policy?: 1 | 2 | 3;
      web_navigate_to_sent_message?: boolean;
      web_stream_unreads_count_display_policy?: 1 | 2 | 3;
      web_suggest_update_timezone?: boolean;
      wildcard_mentions_notify?: boolean;
    };
    answer: Record<never, never>;
  };
  /** users §13.2 */
  'GET /realm/profile_fields': {
    params: Record<never, never>;
    answer: {
      custom_fields: ProfileField[];
    };
  };
  /** users §13.3 */
  'POST /realm/profile_fields': {
    params: {
      field_type: number;
      name?: string;
      hint?: string;
      field_data?: Record<string, string | Record<string, string>>;
      display_in_profile_summary?: boolean;
      required?: boolean;
      editable_by_user?: boolean;
      use_for_user_matching?: boolean;
    };
    answer: {
      id: number;
    };
  };
  /** users §13.4 */
  'PATCH /realm/profile_fields': {
    params: {
      order: readonly number[];
    };
    answer: Record<never, never>;
  };
  /** users §13.4 */
  'PATCH /realm/profile_fields/{field_id}': {
    params: {
      field_id: number;
      name?: string;
      hint?: string;
      field_data?: Record<string, string | Record<string, string>>;
      display_in_profile_summary?: boolean;
      required?: boolean;
      editable_by_user?: boolean;
      use_for_user_matching?: boolean;
    };
    answer: Record<never, never>;
  };
  /** users §13.4 */
  'DELETE /realm/profile_fields/{field_id}': {
    params: {
      field_id: number;
    };
    answer: Record<never, never>;
  };
  /** users §13.5 */
  'PATCH /users/me/profile_data': {
    params: {
      data: readonly ({
        id: number;
        value: string | readonly number[] | null;
      })[];
    };
    answer: Record<never, never>;
  };
  /** users §13.5 */
  'DELETE /users/me/profile_data': {
    params: {
      data: readonly number[];
    };
    answer: Record<never, never>;
  };
  /** messages §15.2 */
  'POST /zcommand': {
    params: {
      command: string;
    };
    answer: Record<never, never>;
  };
}

/** Parameters that are JSON although their values may be texts, quotes and all. */
export const JSON_TEXTS: Readonly<Record<string, readonly string[]>> = {
  'POST /register': ['idle_queue_timeout'],
  'POST /messages': ['to'],
  'POST /bots': ['payload_url'],
  'PATCH /bots/{bot_id}': ['service_payload_url'],
  'POST /channels/create': ['topics_policy', 'message_retention_days'],
  'PATCH /streams/{stream_id}': ['message_retention_days', 'topics_policy'],
  'POST /users/me/subscriptions': ['message_retention_days', 'topics_policy'],
  'PATCH /users/me/subscriptions/{stream_id}': ['value'],
  'PATCH /realm': ['jitsi_server_url', 'message_content_delete_limit_seconds', 'message_content_edit_limit_seconds', 'message_retention_days', 'move_messages_between_streams_limit_seconds', 'move_messages_within_stream_limit_seconds'],
};
