import type { Role } from '@parley/domain/access';
import { type EventOf, type GroupId, isSettingValue, type UserId } from '@parley/domain/kernel';
import { ChangeUserDefaults } from '@parley/domain/log-in';
import {
  canonicalTimeZone,
  type EmailVisibility,
  LANGUAGES,
  NOTIFICATION_SOUNDS,
  SETTINGS_WITH_REALM_DEFAULT,
  USER_SETTINGS,
  type UserSettingName,
  type UserSettings,
} from '@parley/domain/realms';
import {
  ChangeSettings,
  canSeeEmail,
  publicAddress,
  type SettingTargets,
  seesEmailOf,
  type UserSettingsEventTypes,
} from '@parley/domain/users';
import type { WithoutPage } from '../declarations/operation.js';
import { plainSection, type RegisterSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { declareSettings, WireSettings, type WireTable } from '../declarations/settings.js';
import { can, form, opened, type Presenters, propertyForms, toAll } from '../delivery/event-presenter.js';
import type { PublicRealm } from '../delivery/public-realm.js';
import {
  boolean,
  integer,
  listOf,
  MAX_IDS,
  MAX_TEXT_LENGTH,
  NOT_LISTED,
  object,
  oneOf,
  optional,
  refine,
  text,
  type ValueOf,
} from '../params/param-types.js';
import { definedFields, param, TextParam } from '../params/params.js';
import type { WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { presentAvatar } from './user.presenters.js';
import { AVATAR, DELIVERY_EMAIL, personForm, SHOWN_EMAIL } from './user-page.js';

const timeZone = refine(text({ max: MAX_TEXT_LENGTH }), (name) =>
  isSettingValue(USER_SETTINGS.timezone, name) ? undefined : 'Invalid {p}: Value error, Not a recognized time zone',
);
const RESOLVED_TOPIC_POLICY = { always: 'always', exceptFollowed: 'except_followed', never: 'never' } as const;
const TOPIC_POLICY = { participating: 1, sending: 2, starting: 3, never: 4 };

/** Wire forms of user settings that differ from name and value (users §6.1). */
const USER_SETTING_TABLE = {
  automaticallyFollowTopicsPolicy: { codes: TOPIC_POLICY },
  automaticallyUnmuteTopicsInMutedChannelsPolicy: {
    name: 'automatically_unmute_topics_in_muted_streams_policy',
    codes: TOPIC_POLICY,
  },
  colorScheme: { codes: { automatic: 1, dark: 2, light: 3 } },
  defaultLanguage: { refusal: () => ({ text: 'Invalid default_language' }) },
  demoteInactiveChannels: { name: 'demote_inactive_streams', codes: { automatic: 1, always: 2, never: 3 } },
  desktopIconCountDisplay: { codes: { allUnreads: 1, directMentionsAndFollowed: 2, directAndMentions: 3, none: 4 } },
  emailAddressVisibility: { codes: { everyone: 1, members: 2, administrators: 3, nobody: 4, moderators: 5 } },
  emailNotificationsBatchingPeriodSeconds: {
    refusal: (value) => ({ text: `Invalid email batching period: ${value} seconds` }),
  },
  enableChannelAudibleNotifications: 'enable_stream_audible_notifications',
  enableChannelDesktopNotifications: 'enable_stream_desktop_notifications',
  enableChannelEmailNotifications: 'enable_stream_email_notifications',
  enableChannelPushNotifications: 'enable_stream_push_notifications',
  notificationSound: { refusal: (value) => ({ text: `Invalid notification sound '${value}'` }) },
  realmNameInEmailNotificationsPolicy: { codes: { automatic: 1, always: 2, never: 3 } },
  resolvedTopicNoticeAutoReadPolicy: {
    codes: RESOLVED_TOPIC_POLICY,
    // The reference server reads this word without its list.
    type: oneOf(Object.values(RESOLVED_TOPIC_POLICY)),
  },
  sendChannelTypingNotifications: 'send_stream_typing_notifications',
  timezone: { type: timeZone },
  userListStyle: { codes: { compact: 1, withStatus: 2, withAvatar: 3 } },
  webAnimateImagePreviews: { codes: { always: 'always', onHover: 'on_hover', never: 'never' } },
  webChannelDefaultView: { codes: { topTopic: 1, channelFeed: 2, topicList: 3, topUnreadTopic: 4 } },
  webHomeView: { codes: { inbox: 'inbox', recent: 'recent', allMessages: 'all_messages' } },
  webMarkReadOnScrollPolicy: { codes: { always: 1, conversationViews: 2, never: 3 } },
  webChannelUnreadsCountDisplayPolicy: {
    name: 'web_stream_unreads_count_display_policy',
    codes: { all: 1, unmuted: 2, none: 3 },
  },
} as const satisfies WireTable<typeof USER_SETTINGS>;

export const USER_SETTING_FORMS = new WireSettings(USER_SETTINGS, USER_SETTING_TABLE, NOT_LISTED);

/** Converts the validated wire number; null if absent. */
export const toEmailVisibility = (email_address_visibility: number | undefined): EmailVisibility | null =>
  (USER_SETTING_FORMS.read({ email_address_visibility }).emailAddressVisibility as EmailVisibility | undefined) ?? null;

const ids = listOf(integer(), { max: MAX_IDS });
const targetUsers = object({ user_ids: optional(ids), group_ids: optional(ids), skip_if_already_edited: boolean() });
type TargetUsers = ValueOf<typeof targetUsers>;

/** Parameters of a user settings change; settings are declared from the registry. */
export class ChangeSettingsDto {
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) full_name?: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) email?: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true, description: 'Current password.' }) old_password?: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true, description: 'New password.' }) new_password?: string;
  @param(targetUsers, { optional: true, description: 'Users whose settings to change, for administrators.' })
  target_users?: TargetUsers;
}
declareSettings(ChangeSettingsDto, USER_SETTING_FORMS, Object.keys(USER_SETTINGS) as UserSettingName[]);

/** Parameters for all settings with organization defaults. */
export class ChangeUserDefaultsDto {}
declareSettings(ChangeUserDefaultsDto, USER_SETTING_FORMS, SETTINGS_WITH_REALM_DEFAULT);

export const toSettingTargets = ({ user_ids, group_ids, skip_if_already_edited }: TargetUsers): SettingTargets => ({
  userIds: (user_ids ?? []) as UserId[],
  groupIds: (group_ids ?? []) as GroupId[],
  skipsEdited: skip_if_already_edited,
});

const LANGUAGE = USER_SETTING_FORMS.nameOf('defaultLanguage');

const update = (shape: wire.Shape) => form('user_settings', { op: wire.oneOf('update'), ...shape });

const SETTING_CHANGED = [
  update({ property: wire.oneOf(LANGUAGE), value: wire.text(), language_name: wire.text() }),
  ...propertyForms(USER_SETTING_FORMS.schemas({ isWanted: (name) => name !== 'defaultLanguage' }), update),
] as const;

/** User settings events; presence.ts presents presence changes. */
export const USER_SETTINGS_EVENTS = {
  'user.setting_changed': toAll(SETTING_CHANGED, presentSettingChange),
  'user.name_changed': toAll(personForm({ full_name: wire.text() }), ({ userId, fullName }) =>
    userUpdate({ user_id: userId, full_name: fullName }),
  ),
  'user.time_zone_changed': {
    forms: [personForm({ email: wire.text(), timezone: wire.text() })],
    present: (event, context) =>
      context.shared('', () => opened({ type: 'realm_user', ...presentTimeZoneChange(event, context.publicRealm) })),
  },
  'user.email_visibility_changed': {
    forms: [DELIVERY_EMAIL, SHOWN_EMAIL, AVATAR],
    present: (event, context) => {
      const { userId: id, role } = context.receiver;
      return presentEmailVisibilityChange(event, { id, role }, context.publicRealm).map((change) => {
        const text = opened({ type: 'realm_user', ...change });
        return [context.shared(text, () => text)];
      });
    },
  },
} satisfies Presenters<Exclude<keyof UserSettingsEventTypes, 'user.presence_switched'>>;

/** Presents a setting to the user's own clients (users §6.4). */
function presentSettingChange({ setting, value }: EventOf<'user.setting_changed'>): WireFields {
  const shown =
    setting === 'timezone' ? canonicalTimeZone(String(value)) : USER_SETTING_FORMS.presentValue(setting, value);
  return {
    op: 'update',
    property: USER_SETTING_FORMS.nameOf(setting),
    value: shown,
    ...(setting === 'defaultLanguage' && { language_name: LANGUAGES.get(String(value)) }),
  };
}

function presentTimeZoneChange({ user }: EventOf<'user.time_zone_changed'>, publicRealm: PublicRealm): WireFields {
  return userUpdate({
    email: publicAddress(user, publicRealm.emailDomain),
    user_id: user.id,
    timezone: canonicalTimeZone(user.settings.timezone),
  });
}

/**
 * Notifies receivers for whom the address appears or disappears, and all receivers if the substitute address changes
 * (users §6.4).
 */
function presentEmailVisibilityChange(
  { user, before }: EventOf<'user.email_visibility_changed'>,
  viewer: { readonly id: UserId; readonly role: Role },
  publicRealm: PublicRealm,
): readonly WireFields[] {
  const user_id = user.id;
  const sees = canSeeEmail(viewer, user);
  const saw = seesEmailOf(viewer, { id: user.id, emailVisibility: before });
  const wasOrIsPublic = before === 'everyone' || user.settings.emailAddressVisibility === 'everyone';
  return [
    ...(sees === saw ? [] : [userUpdate({ user_id, delivery_email: sees ? user.email : null })]),
    ...(wasOrIsPublic
      ? [
          userUpdate({ user_id, new_email: publicAddress(user, publicRealm.emailDomain) }),
          userUpdate({ ...presentAvatar(user, publicRealm, { seesEmail: sees, clientGravatar: false }), user_id }),
        ]
      : []),
  ];
}

function userUpdate(person: WireFields): WireFields {
  return { op: 'update', person };
}

const { timezone, ...SETTINGS } = USER_SETTING_FORMS.stateSchemas();

/** Events §5.3. */
const DEFAULTS_FIELDS = {
  ...SETTINGS,
  emojiset_choices: wire.listOf(wire.fields({ key: wire.text(), text: wire.text() })),
  available_notification_sounds: wire.listOf(wire.text()),
};
const USER_SETTINGS_FIELDS = { ...DEFAULTS_FIELDS, timezone: timezone! };

export const userSettingsSection: RegisterSection = plainSection(
  'user_settings',
  {
    user_settings: wire.named('UserSettings', wire.fields(USER_SETTINGS_FIELDS)),
    twenty_four_hour_time: wire.optional(wire.nullable(wire.boolean())),
    pm_content_in_desktop_notifications: wire.optional(wire.boolean()),
  },
  ({ user, variant }) => ({
    user_settings: presentUserSettings(user.settings, true),
    ...(variant.hasLegacyRegisterFields && presentLegacySettings(user.settings)),
  }),
  'likeGuests',
);

export const userDefaultsSection: RegisterSection = plainSection(
  'realm_user_settings_defaults',
  {
    realm_user_settings_defaults: wire.named('UserSettingsDefaults', wire.fields(wire.optionalFields(DEFAULTS_FIELDS))),
  },
  ({ realm, viewer, presentation }) => {
    const defaults = presentUserSettings(realm.userDefaults, false);
    // Clients compare the format of times with the user's own; guests do not open the page with the other settings.
    const { twenty_four_hour_time } = defaults;
    const isShort = viewer.role === 'guest' && can(presentation, 'lean_state');
    return { realm_user_settings_defaults: isShort ? { twenty_four_hour_time } : defaults };
  },
  'likeGuests',
);

/** Presents settings (events §5.3); defaults for new users have no time zone. */
function presentUserSettings(settings: UserSettings, isPersonal: boolean): Record<string, unknown> {
  const { timezone, ...rest } = USER_SETTING_FORMS.presentState(settings);
  return {
    ...rest,
    emojiset_choices: EMOJI_SETS,
    available_notification_sounds: NOTIFICATION_SOUNDS,
    ...(isPersonal && { timezone: canonicalTimeZone(String(timezone)) }),
  };
}

/** Top-level settings without which zulip-term 0.7 crashes (clients.md). */
function presentLegacySettings(settings: UserSettings): Record<string, unknown> {
  return {
    twenty_four_hour_time: settings.twentyFourHourTime,
    pm_content_in_desktop_notifications: settings.pmContentInDesktopNotifications,
  };
}

const EMOJI_SETS = [
  { key: 'google', text: 'Google' },
  { key: 'twitter', text: 'Twitter' },
  { key: 'text', text: 'Plain text' },
];

const changeSettings = (path: string, summary: string, docs: { readonly withoutPage?: WithoutPage } = {}): Route =>
  route('PATCH', path, {
    summary,
    section: 'users §6.1',
    ...docs,
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human'],
    dto: ChangeSettingsDto,
    useCase: ChangeSettings,
    toInput: (dto) =>
      definedFields({
        settings: USER_SETTING_FORMS.read(dto),
        fullName: dto.full_name,
        email: dto.email,
        oldPassword: dto.old_password,
        newPassword: dto.new_password,
        targets: dto.target_users && toSettingTargets(dto.target_users),
      }),
  });

const FORMER = { withoutPage: 'others' } as const;

export const userSettingRoutes: readonly Route[] = [
  changeSettings('/settings', 'Change personal settings'),
  // Older separate paths of the same operation (users §6.1).
  changeSettings('/settings/display', 'Change personal settings (former path of display settings)', FORMER),
  changeSettings('/settings/notifications', 'Change personal settings (former path of notification settings)', FORMER),
  route('PATCH', '/realm/user_settings_defaults', {
    summary: 'Change default settings of new users',
    section: 'users §6.5',
    tag: 'Organization',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: ChangeUserDefaultsDto,
    useCase: ChangeUserDefaults,
    toInput: (dto) => USER_SETTING_FORMS.read(dto),
  }),
];
