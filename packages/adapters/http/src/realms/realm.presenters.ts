import {
  type GroupSettingDefinition,
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_GUESSES,
  PASSWORD_MIN_LENGTH,
  systemGroupTitle,
} from '@parley/domain/access';
import {
  CHANNEL_PERMISSIONS,
  EMPTY_TOPIC_DISPLAY_NAME,
  MAX_CHANNEL_DESCRIPTION_LENGTH,
  MAX_CHANNEL_NAME_LENGTH,
  MAX_NOTIFIED_SUBSCRIBERS,
  MAX_TOPIC_LENGTH,
} from '@parley/domain/channels';
import { ANIMATED_THUMBNAIL, MAX_IMAGE_MIB, STILL_THUMBNAIL, THUMBNAIL_SIZE } from '@parley/domain/files';
import { GROUP_PERMISSIONS } from '@parley/domain/groups';
import type { GroupId } from '@parley/domain/kernel';
import { MIN_DELETION_DELAY_DAYS } from '@parley/domain/log-in';
import { MAX_MESSAGE_LENGTH } from '@parley/domain/messages';
import type { PushStatus } from '@parley/domain/push';
import {
  authenticationMethods,
  type LoadedRealmPermissions,
  REALM_PERMISSIONS,
  type Realm,
  type RealmImageName,
  type RealmPermission,
} from '@parley/domain/realms';
import { DEFAULT_EXTERNAL_ACCOUNTS } from '@parley/domain/users';
import { REPORT_REASONS } from '@parley/domain/writing';
import { unusual } from '../declarations/register-section.js';
import type { ServerInfo } from '../declarations/server-info.js';
import type { PublicRealm } from '../delivery/public-realm.js';
import { emojiDataUrl } from '../files/emoji.js';
import { presentRealmImages, REALM_IMAGES, realmImageFields } from '../files/realm-image-urls.js';
import { permissionTitle, presentGroupSetting } from '../groups/group-settings.js';
import { permissionFields } from '../groups/groups.js';
import type { WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { AUTHENTICATION_METHODS, presentAuthenticationMethods, REALM_SETTING_FORMS } from './realm-settings.js';

const titlesOf = (registry: object): readonly string[] => Object.keys(registry).map(permissionTitle);

/** Providers by key. */
const providers = wire.dictionaryOf(wire.fields({ name: wire.text(), id: wire.integer() }));

const images = Object.assign(
  {},
  ...(Object.keys(REALM_IMAGES) as RealmImageName[]).map((name) => realmImageFields(name, 'realm_')),
);

/** Channels §3.4–3.6. */
const permissionDefinition = wire.named(
  'PermissionDefinition',
  wire.fields({
    require_system_group: wire.optional(wire.boolean()),
    allow_internet_group: wire.optional(wire.boolean()),
    allow_nobody_group: wire.optional(wire.boolean()),
    allow_everyone_group: wire.optional(wire.boolean()),
    default_group_name: wire.optional(wire.text()),
    default_for_system_groups: wire.optional(wire.nullable(wire.text())),
    allowed_system_groups: wire.optional(wire.listOf(wire.text())),
  }),
);

/** Values that clients with `partial_state` fill in (extensions §18). */
const USUAL_PERMISSION = {
  require_system_group: false,
  allow_internet_group: false,
  allow_nobody_group: true,
  allow_everyone_group: false,
  default_group_name: 'role:everyone',
  default_for_system_groups: null,
  allowed_system_groups: [],
};

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
  server_usual_permission_setting: wire.optional(permissionDefinition),
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
  ...REALM_SETTING_FORMS.stateSchemas('realm_'),
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

/** Changed settings; for text settings, just the fact of a change (organization §2). */
export const CHANGED_REALM = wire.fields(
  wire.optionalFields({
    name: updated,
    ...REALM_SETTING_FORMS.schemas({ text: updated }),
    ...permissionFields(titlesOf(REALM_PERMISSIONS)),
    authentication_methods: wire.dictionaryOf(wire.boolean()),
  }),
);

/** Presents the `realm` section of register with organization, limits and server (events §5.1–5.2). */
export function presentRealm(
  realm: Realm,
  { permissions, push }: { readonly permissions: LoadedRealmPermissions; readonly push: PushStatus },
  publicRealm: PublicRealm,
  serverInfo: ServerInfo,
): WireFields {
  const { settings } = realm;
  const { isDevelopment, logInKinds, directoryRealms } = serverInfo;
  const configured = new Set([...logInKinds, ...(directoryRealms.has(realm.stringId) ? ['ldapAuthentication'] : [])]);
  const methods = authenticationMethods(settings, { isOn: isDevelopment }, configured);
  return {
    ...REALM_SETTING_FORMS.presentState(settings, 'realm_'),
    realm_name: realm.name,
    realm_mandatory_topics: settings.topicsPolicy === 'emptyTopicRefused',
    realm_allow_edit_history: settings.messageEditHistoryVisibilityPolicy !== 'none',
    ...presentRealmPermissions(realm, permissions),
    ...presentLegacyPolicies(realm, permissions),
    realm_push_notifications_enabled: push.isEnabled,
    realm_push_notifications_enabled_end_timestamp: push.endsAt,
    realm_authentication_methods: presentAuthenticationMethods(methods),
    realm_email_auth_enabled: settings.emailAuthentication,
    realm_password_auth_enabled: settings.emailAuthentication || settings.ldapAuthentication,
    ...presentRealmImages(realm.images, publicRealm),
    realm_url: publicRealm.url,
    realm_uri: publicRealm.url,
    realm_uuid: realm.uuid,
    realm_bot_domain: publicRealm.emailDomain,
    realm_date_created: realm.createdAt,
    realm_plan_type: 1,
    zulip_plan_is_not_limited: true,
    upgrade_text_for_wide_organization_logo: 'Available on Zulip Cloud Standard. Upgrade to access.',
    realm_upload_quota_mib: serverInfo.fileLimits.quotaMib,
    realm_available_video_chat_providers: {
      disabled: { name: 'None', id: 0 },
      jitsi_meet: { name: 'Jitsi Meet', id: 1 },
      ...(serverInfo.hasBigBlueButton && { big_blue_button: { name: 'BigBlueButton', id: 4 } }),
    },
    gif_rating_policy_options: GIF_RATINGS,
    realm_default_external_accounts: EXTERNAL_ACCOUNTS,
    realm_empty_topic_display_name: EMPTY_TOPIC_DISPLAY_NAME,
    settings_send_digest_emails: true,
    ...presentServer(realm, publicRealm, serverInfo),
  };
}

function presentServer(realm: Realm, publicRealm: PublicRealm, serverInfo: ServerInfo): WireFields {
  return {
    server_generation: serverInfo.startedAt,
    development_environment: serverInfo.isDevelopment,
    server_needs_upgrade: false,
    server_web_public_streams_enabled: serverInfo.webPublicEnabled,
    server_inline_image_preview: true,
    server_inline_url_embed_preview: true,
    server_avatar_changes_disabled: false,
    server_name_changes_disabled: false,
    server_emoji_data_url: emojiDataUrl(publicRealm),
    server_thumbnail_formats: THUMBNAIL_FORMATS,
    server_jitsi_server_url: DEFAULT_JITSI_URL,
    jitsi_server_url: realm.settings.jitsiServerUrl ?? DEFAULT_JITSI_URL,
    server_can_summarize_topics: false,
    server_presence_ping_interval_seconds: 60,
    server_presence_offline_threshold_seconds: 200,
    server_typing_started_expiry_period_milliseconds: 45_000,
    server_typing_stopped_wait_period_milliseconds: 12_000,
    server_typing_started_wait_period_milliseconds: 30_000,
    server_report_message_types: REPORT_TYPES,
    server_supported_permission_settings: SUPPORTED_PERMISSIONS,
    server_min_deactivated_realm_deletion_days: MIN_DELETION_DELAY_DAYS,
    server_max_deactivated_realm_deletion_days: null,
    event_queue_longpoll_timeout_seconds: 90,
    password_min_length: PASSWORD_MIN_LENGTH,
    password_max_length: PASSWORD_MAX_LENGTH,
    password_min_guesses: PASSWORD_MIN_GUESSES,
    max_message_length: MAX_MESSAGE_LENGTH,
    max_topic_length: MAX_TOPIC_LENGTH,
    max_stream_name_length: MAX_CHANNEL_NAME_LENGTH,
    max_stream_description_length: MAX_CHANNEL_DESCRIPTION_LENGTH,
    max_channel_folder_name_length: 60,
    max_channel_folder_description_length: 1024,
    max_reminder_note_length: 1000,
    max_bulk_new_subscription_messages: MAX_NOTIFIED_SUBSCRIBERS,
    max_file_upload_size_mib: serverInfo.fileLimits.maxFileMib,
    max_avatar_file_size_mib: MAX_IMAGE_MIB,
    max_icon_file_size_mib: MAX_IMAGE_MIB,
    max_logo_file_size_mib: MAX_IMAGE_MIB,
  };
}

function presentRealmPermissions(realm: Realm, { values }: LoadedRealmPermissions): WireFields {
  const result: Record<string, unknown> = {};
  for (const [name, groupId] of Object.entries(realm.permissions) as [RealmPermission, GroupId][]) {
    result[`realm_${permissionTitle(name)}`] = presentGroupSetting(values.get(groupId) ?? groupId);
  }
  return result;
}

/** Presents legacy policies for older clients, for permissions held by a system group (events §5.2). */
function presentLegacyPolicies(realm: Realm, { systemGroupIds }: LoadedRealmPermissions): WireFields {
  const nameOf = new Map(Object.entries(systemGroupIds).map(([name, id]) => [id, name]));
  const policy = (permission: RealmPermission, codes: Readonly<Record<string, number>>, otherwise: number): number =>
    codes[nameOf.get(realm.permissions[permission]) ?? ''] ?? otherwise;
  return {
    realm_create_public_stream_policy: policy('canCreatePublicChannel', CREATE_POLICIES, 1),
    realm_create_private_stream_policy: policy('canCreatePrivateChannel', CREATE_POLICIES, 1),
    realm_create_web_public_stream_policy: policy('canCreateWebPublicChannel', WEB_PUBLIC_POLICIES, 7),
    realm_wildcard_mention_policy: policy('canMentionManyUsers', WILDCARD_POLICIES, 5),
  };
}

const CREATE_POLICIES = { members: 1, administrators: 2, fullMembers: 3, moderators: 4 };
const WEB_PUBLIC_POLICIES = { administrators: 2, moderators: 4, nobody: 6, owners: 7 };
const WILDCARD_POLICIES = { everyone: 1, members: 2, fullMembers: 3, administrators: 5, nobody: 6, moderators: 7 };

const DEFAULT_JITSI_URL = 'https://meet.jit.si';

const GIF_RATINGS = {
  disabled: { name: 'GIFs integration disabled', id: 0 },
  y: { name: 'Allow GIFs rated Y (Very young audience)', id: 1 },
  g: { name: 'Allow GIFs rated G (General audience)', id: 2 },
  pg: { name: 'Allow GIFs rated PG (Parental guidance)', id: 3 },
  'pg-13': { name: 'Allow GIFs rated PG-13 (Parental guidance - under 13)', id: 4 },
  r: { name: 'Allow GIFs rated R (Restricted)', id: 5 },
};

/** External account types for profile fields (users §13.3). */
const EXTERNAL_ACCOUNTS = Object.fromEntries(
  Object.entries(DEFAULT_EXTERNAL_ACCOUNTS).map(([key, { text, urlPattern, name, hint }]) => [
    key,
    { text, url_pattern: urlPattern, name, hint },
  ]),
);

const THUMBNAIL_FORMATS = [
  { name: ANIMATED_THUMBNAIL, animated: true },
  { name: STILL_THUMBNAIL, animated: false },
].map(({ name, animated }) => ({
  name,
  max_width: THUMBNAIL_SIZE.width,
  max_height: THUMBNAIL_SIZE.height,
  format: 'webp',
  animated,
}));

const REPORT_TYPES = Object.entries(REPORT_REASONS).map(([key, name]) => ({ key, name }));

/** Permission registries in wire form (channels §3.4–3.6). */
const SUPPORTED_PERMISSIONS = {
  realm: presentDefinitions(REALM_PERMISSIONS, ''),
  stream: presentDefinitions(CHANNEL_PERMISSIONS, 'channel_creator'),
  group: presentDefinitions(GROUP_PERMISSIONS, 'group_creator'),
};

/** The same without the values that clients with `partial_state` fill in. */
export const SHORT_PERMISSIONS = {
  server_usual_permission_setting: USUAL_PERMISSION,
  server_supported_permission_settings: Object.fromEntries(
    Object.entries(SUPPORTED_PERMISSIONS).map(([kind, definitions]) => [
      kind,
      Object.fromEntries(
        Object.entries(definitions).map(([name, definition]) => [name, unusual(definition, USUAL_PERMISSION)]),
      ),
    ]),
  ),
};

function presentDefinitions(
  registry: Readonly<Record<string, GroupSettingDefinition>>,
  creator: string,
): Record<string, WireFields> {
  const result: Record<string, WireFields> = {};
  for (const [name, definition] of Object.entries(registry)) {
    const { defaultOnSystemGroups } = definition;
    result[permissionTitle(name)] = {
      require_system_group: definition.requireSystemGroup,
      allow_internet_group: definition.allowInternet,
      allow_nobody_group: definition.allowNobody,
      allow_everyone_group: definition.allowEveryone,
      default_group_name: definition.default === 'creator' ? creator : systemGroupTitle(definition.default),
      default_for_system_groups: defaultOnSystemGroups ? systemGroupTitle(defaultOnSystemGroups) : null,
      allowed_system_groups: definition.allowedSystemGroups.map(systemGroupTitle),
    };
  }
  return result;
}
