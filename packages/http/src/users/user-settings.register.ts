import { NOTIFICATION_SOUNDS, type UserSettings } from '@parley/domain/realms';
import { plainSection, type RegisterSection } from '../events/register-section.js';
import * as wire from '../kernel/wire-schema.js';
import { USER_SETTING_FORMS } from './user-settings.wire.js';

const { timezone, ...SETTINGS } = USER_SETTING_FORMS.schemas();

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
  { realm_user_settings_defaults: wire.named('UserSettingsDefaults', wire.fields(DEFAULTS_FIELDS)) },
  ({ realm }) => ({
    realm_user_settings_defaults: presentUserSettings(realm.userDefaults, false),
  }),
  'likeGuests',
);

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

const EMOJI_SETS = [
  { key: 'google', text: 'Google' },
  { key: 'twitter', text: 'Twitter' },
  { key: 'text', text: 'Plain text' },
];
