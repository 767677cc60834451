import { CHANNEL_PERMISSIONS } from '@parley/domain/channels';
import { GROUP_PERMISSIONS } from '@parley/domain/groups';
import { REALM_PERMISSIONS, type RealmImageName } from '@parley/domain/realms';
import { REALM_IMAGES, realmImageFields } from '../files/realm-image-urls.js';
import { permissionFields } from '../groups/group.answers.js';
import { permissionTitle } from '../groups/permission-title.js';
import * as wire from '../kernel/wire-schema.js';
import { AUTHENTICATION_METHODS } from './authentication-methods.wire.js';
import { REALM_SETTING_FORMS } from './realm-settings.wire.js';

const titlesOf = (registry: object): readonly string[] => Object.keys(registry).map(permissionTitle);

/** Under keys that name them. */
const providers = wire.dictionaryOf(wire.fields({ name: wire.text(), id: wire.integer() }));

const images = Object.assign(
  {},
  ...(Object.keys(REALM_IMAGES) as RealmImageName[]).map((name) => realmImageFields(name, 'realm_')),
);

/** Channels §3.4–3.6. */
const permissionDefinition = wire.named(
  'PermissionDefinition',
  wire.fields({
    require_system_group: wire.boolean(),
    allow_internet_group: wire.boolean(),
    allow_nobody_group: wire.boolean(),
    allow_everyone_group: wire.boolean(),
    default_group_name: wire.text(),
    default_for_system_groups: wire.nullable(wire.text()),
    allowed_system_groups: wire.listOf(wire.text()),
  }),
);

const permissionDefinitions = (registry: object) =>
  wire.fields(Object.fromEntries(titlesOf(registry).map((title) => [title, permissionDefinition])));

const SERVER = {
  server_generation: wire.integer(),
  development_environment: wire.boolean(),
  server_needs_upgrade: wire.boolean(),
  server_web_public_streams_enabled: wire.boolean(),
  server_inline_image_preview: wire.boolean(),
  server_inline_url_embed_preview: wire.boolean(),
  server_avatar_changes_disabled: wire.boolean(),
  server_name_changes_disabled: wire.boolean(),
  server_emoji_data_url: wire.text(),
  server_thumbnail_formats: wire.listOf(
    wire.fields({
      name: wire.text(),
      max_width: wire.integer(),
      max_height: wire.integer(),
      format: wire.text(),
      animated: wire.boolean(),
    }),
  ),
  server_jitsi_server_url: wire.nullable(wire.text()),
  jitsi_server_url: wire.nullable(wire.text()),
  server_can_summarize_topics: wire.boolean(),
  server_presence_ping_interval_seconds: wire.integer(),
  server_presence_offline_threshold_seconds: wire.integer(),
  server_typing_started_expiry_period_milliseconds: wire.integer(),
  server_typing_stopped_wait_period_milliseconds: wire.integer(),
  server_typing_started_wait_period_milliseconds: wire.integer(),
  server_report_message_types: wire.listOf(wire.fields({ key: wire.text(), name: wire.text() })),
  server_supported_permission_settings: wire.fields({
    realm: permissionDefinitions(REALM_PERMISSIONS),
    stream: permissionDefinitions(CHANNEL_PERMISSIONS),
    group: permissionDefinitions(GROUP_PERMISSIONS),
  }),
  server_min_deactivated_realm_deletion_days: wire.nullable(wire.integer()),
  server_max_deactivated_realm_deletion_days: wire.nullable(wire.integer()),
  event_queue_longpoll_timeout_seconds: wire.integer(),
  password_min_length: wire.integer(),
  password_max_length: wire.integer(),
  password_min_guesses: wire.integer(),
  max_message_length: wire.integer(),
  max_topic_length: wire.integer(),
  max_stream_name_length: wire.integer(),
  max_stream_description_length: wire.integer(),
  max_channel_folder_name_length: wire.integer(),
  max_channel_folder_description_length: wire.integer(),
  max_reminder_note_length: wire.integer(),
  max_bulk_new_subscription_messages: wire.integer(),
  max_file_upload_size_mib: wire.integer(),
  max_avatar_file_size_mib: wire.integer(),
  max_icon_file_size_mib: wire.integer(),
  max_logo_file_size_mib: wire.integer(),
};

/** Events §5.1–5.2. */
export const REALM_FIELDS = {
  ...REALM_SETTING_FORMS.schemas({ prefix: 'realm_' }),
  realm_name: wire.text(),
  realm_mandatory_topics: wire.boolean(),
  realm_allow_edit_history: wire.boolean(),
  ...permissionFields(titlesOf(REALM_PERMISSIONS).map((title) => `realm_${title}`)),
  realm_create_public_stream_policy: wire.integer(),
  realm_create_private_stream_policy: wire.integer(),
  realm_create_web_public_stream_policy: wire.integer(),
  realm_wildcard_mention_policy: wire.integer(),
  realm_push_notifications_enabled: wire.boolean(),
  realm_push_notifications_enabled_end_timestamp: wire.nullable(wire.integer()),
  realm_authentication_methods: AUTHENTICATION_METHODS,
  realm_email_auth_enabled: wire.boolean(),
  realm_password_auth_enabled: wire.boolean(),
  ...images,
  realm_url: wire.text(),
  realm_uri: wire.text(),
  realm_uuid: wire.text(),
  realm_bot_domain: wire.text(),
  realm_date_created: wire.integer(),
  realm_plan_type: wire.integer(),
  zulip_plan_is_not_limited: wire.boolean(),
  upgrade_text_for_wide_organization_logo: wire.text(),
  realm_upload_quota_mib: wire.nullable(wire.integer()),
  realm_available_video_chat_providers: providers,
  gif_rating_policy_options: providers,
  realm_default_external_accounts: wire.dictionaryOf(
    wire.fields({ text: wire.text(), url_pattern: wire.text(), name: wire.text(), hint: wire.text() }),
  ),
  realm_empty_topic_display_name: wire.text(),
  settings_send_digest_emails: wire.boolean(),
  ...SERVER,
};

const updated = wire.oneOf('updated');

/** Of what changed; texts are said no more of than that (organization §2). */
export const CHANGED_REALM = wire.fields(
  wire.optionalFields({
    name: updated,
    ...REALM_SETTING_FORMS.schemas({ text: updated }),
    ...permissionFields(titlesOf(REALM_PERMISSIONS)),
    authentication_methods: wire.dictionaryOf(wire.boolean()),
  }),
);
