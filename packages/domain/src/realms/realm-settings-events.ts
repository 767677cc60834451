import type { GroupSettingValue } from '../groups/group-setting.js';
import type { GroupId } from '../shared/ids.js';
import type { SettingValue } from '../shared/settings.js';
import type { UserSettingName } from '../users/user-settings.js';
import type { AuthenticationMethodState } from './authentication-methods.js';
import type { RealmPermission, RealmSettingName } from './realm-settings.js';

/** What follows from administrators changing the organization (organization §2.6, §4). */
export type RealmSettingEvent =
  | { readonly type: 'realm.name_changed'; readonly name: string }
  | {
      readonly type: 'realm.setting_changed';
      readonly setting: RealmSettingName;
      readonly value: SettingValue;
      /** HTML of a value that is Markdown; null for others. */
      readonly rendered: string | null;
    }
  /** All of them, as they are afterwards. */
  | {
      readonly type: 'realm.authentication_changed';
      readonly methods: readonly AuthenticationMethodState[];
    }
  /** `value`: as clients see it; `groupId`: what it is stored as. */
  | {
      readonly type: 'realm.permission_changed';
      readonly permission: RealmPermission;
      readonly groupId: GroupId;
      readonly value: GroupSettingValue;
    }
  /** What new users start with. */
  | { readonly type: 'realm.user_default_changed'; readonly setting: UserSettingName; readonly value: SettingValue };
