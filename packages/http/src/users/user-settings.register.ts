import { NOTIFICATION_SOUNDS, type UserSettings } from '@parley/domain/users';
import { plainSection, type RegisterSection } from '../events/register-section.js';
import { USER_SETTING_FORMS } from './user-settings.wire.js';

export const userSettingsSection: RegisterSection = plainSection(
  'user_settings',
  ({ user, variant }) => ({
    user_settings: presentUserSettings(user.settings, true),
    ...(variant.hasLegacyRegisterFields && presentLegacySettings(user.settings)),
  }),
  'likeGuests',
);

export const userDefaultsSection: RegisterSection = plainSection(
  'realm_user_settings_defaults',
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
