import type { FeatureParts } from '../kernel/event.js';
import type { UnixSeconds, UserId } from '../kernel/ids.js';
import type { SettingValue } from '../kernel/settings.js';
import type { EmailVisibility, UserSettingName } from '../realms/user-settings.js';
import type { User } from './user.js';

/** What follows from people changing their settings and their accounts (users §6.4). */
export interface UserSettingsEventTypes {
  /** To those whose setting it is. */
  'user.setting_changed': { readonly setting: UserSettingName; readonly value: SettingValue };
  /** To everybody who may know the user; the user as they are afterwards. */
  'user.time_zone_changed': { readonly user: User };
  /** The same; `before` says who could see their address. */
  'user.email_visibility_changed': { readonly user: User; readonly before: EmailVisibility };
  /** To everybody: from then on others see when the user is there, or they do not; the user as they are afterwards. */
  'user.presence_switched': { readonly user: User; readonly at: UnixSeconds };
  /** To everybody who may know the user. */
  'user.name_changed': { readonly userId: UserId; readonly fullName: string };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends UserSettingsEventTypes {}
}

export const USER_SETTINGS_FEATURE = {
  eventFormats: {
    'user.setting_changed': 1,
    'user.time_zone_changed': 1,
    'user.email_visibility_changed': 1,
    'user.presence_switched': 1,
    'user.name_changed': 1,
  },
} satisfies FeatureParts<UserSettingsEventTypes>;
