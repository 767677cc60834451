import type { GroupSettingValue } from '../access/group-settings.js';
import { type FeatureParts, wholeRealm } from '../kernel/event.js';
import type { ChannelId, GroupId, UserId } from '../kernel/ids.js';
import type { SettingValue } from '../kernel/settings.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { recordOf } from '../kernel/work.js';
import type { Realm, RealmImage, RealmImageName } from './realm.js';
import {
  type AuthenticationMethodState,
  CHANNEL_SETTINGS,
  type RealmPermission,
  type RealmSettingName,
} from './realm-settings.js';
import type { UserSettingName } from './user-settings.js';

/** Sent to the whole realm. */
export interface RealmEventTypes {
  'realm.deactivated': unknown;
  /** Sent on a change of a realm image (organization §3). */
  'realm.image_changed': { readonly name: RealmImageName; readonly image: RealmImage };
  /**
   * Sent to no user; processed by servers that count calls. Null fields leave their counters unchanged; if all are
   * null, every counter is reset.
   */
  'realm.limits_forgotten': {
    readonly userId: UserId | null;
    /** Email used for login attempts. */
    readonly email: string | null;
    readonly ip: string | null;
  };
}

export const REALM_FEATURE = {
  eventFormats: {
    'realm.deactivated': 1,
    'realm.image_changed': 1,
    'realm.limits_forgotten': 1,
  },
  notExported: {
    realmData: 'It removes data of others.',
  },
} satisfies FeatureParts<RealmEventTypes>;

/** Events for realm changes by administrators, sent to everyone (organization §2.6, §4). */
export interface RealmSettingsEventTypes {
  'realm.name_changed': { readonly name: string };
  'realm.setting_changed': {
    readonly setting: RealmSettingName;
    readonly value: SettingValue;
    /** HTML for Markdown values; null for others. */
    readonly rendered: string | null;
  };
  /** All login methods after the change. */
  'realm.authentication_changed': { readonly methods: readonly AuthenticationMethodState[] };
  /** `value`: as clients see it; `groupId`: as stored. */
  'realm.permission_changed': {
    readonly permission: RealmPermission;
    readonly groupId: GroupId;
    readonly value: GroupSettingValue;
  };
  /** Settings cleared because their channel was archived. */
  'realm.channels_cleared': { readonly settings: readonly RealmSettingName[] };
  /** Sent on a change of a default setting for new users. */
  'realm.user_default_changed': { readonly setting: UserSettingName; readonly value: SettingValue };
}

declare module '../kernel/feature-types.js' {
  interface DomainEventTypes extends RealmEventTypes {}
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

/** Clears realm settings that refer to the channel and publishes one event to everyone (channels §4.12). */
export async function clearChannelSettings(tx: Transaction, realm: Realm, channelId: ChannelId): Promise<void> {
  const names = CHANNEL_SETTINGS.filter((name) => realm.settings[name] === channelId);
  if (names.length === 0) return;
  const settings = { ...realm.settings, ...recordOf(names, () => null) };
  await tx.realms.update({ ...realm, settings });
  await tx.events.append(realm.id, {
    event: { type: 'realm.channels_cleared', settings: names },
    audience: wholeRealm,
  });
}
