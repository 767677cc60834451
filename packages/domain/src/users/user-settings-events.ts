import type { UserId } from '../shared/ids.js';
import type { SettingValue } from '../shared/settings.js';
import type { User } from './user.js';
import type { EmailVisibility, UserSettingName } from './user-settings.js';

/** What follows from people changing their settings and their accounts (users §6.4). */
export type UserSettingEvent =
  /** To those whose setting it is. */
  | { readonly type: 'user.setting_changed'; readonly setting: UserSettingName; readonly value: SettingValue }
  /** The user as they are afterwards. */
  | { readonly type: 'user.time_zone_changed'; readonly user: User }
  /** The user as they are afterwards; who could see their address before is told by `before`. */
  | { readonly type: 'user.email_visibility_changed'; readonly user: User; readonly before: EmailVisibility }
  | { readonly type: 'user.name_changed'; readonly userId: UserId; readonly fullName: string };
