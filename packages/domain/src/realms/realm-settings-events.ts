import type { GroupSettingValue } from '../access/group-setting.js';
import type { FeatureParts } from '../kernel/event.js';
import type { GroupId } from '../kernel/ids.js';
import type { SettingValue } from '../kernel/settings.js';
import type { AuthenticationMethodState } from './authentication-methods.js';
import type { RealmPermission, RealmSettingName } from './realm-settings.js';
import type { UserSettingName } from './user-settings.js';

/** What follows from administrators changing the organization (organization §2.6, §4). All of it is sent to everybody. */
export interface RealmSettingsEventTypes {
  'realm.name_changed': { readonly name: string };
  'realm.setting_changed': {
    readonly setting: RealmSettingName;
    readonly value: SettingValue;
    /** HTML of a value that is Markdown; null for others. */
    readonly rendered: string | null;
  };
  /** All of them, as they are afterwards. */
  'realm.authentication_changed': { readonly methods: readonly AuthenticationMethodState[] };
  /** `value`: as clients see it; `groupId`: what it is stored as. */
  'realm.permission_changed': {
    readonly permission: RealmPermission;
    readonly groupId: GroupId;
    readonly value: GroupSettingValue;
  };
  /** Settings that named a channel, which has been archived. */
  'realm.channels_cleared': { readonly settings: readonly RealmSettingName[] };
  /** What new users start with. */
  'realm.user_default_changed': { readonly setting: UserSettingName; readonly value: SettingValue };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends RealmSettingsEventTypes {}
}

export const REALM_SETTINGS_FEATURE = {
  eventFormats: {
    'realm.name_changed': 1,
    'realm.setting_changed': 2,
    'realm.authentication_changed': 1,
    'realm.permission_changed': 1,
    'realm.channels_cleared': 1,
    'realm.user_default_changed': 1,
  },
} satisfies FeatureParts<RealmSettingsEventTypes>;
