import type { RealmSettingEvent, RealmSettingName } from '@parley/domain';
import { presentGroupSetting } from '../groups/group-setting.presenters.js';
import { permissionTitle } from '../groups/permission-title.js';
import type { WireFields } from '../routing/reply.js';
import { USER_SETTING_FORMS } from '../users/user-settings.wire.js';
import { presentAuthenticationMethods } from './authentication-methods.wire.js';
import { REALM_SETTING_FORMS } from './realm-settings.wire.js';

type EventOf<T extends RealmSettingEvent['type']> = Extract<RealmSettingEvent, { type: T }>;

/** What is told in a dictionary, with what goes with the setting; everything else as a property (organization §2.1, §2.6). */
const DICTIONARIES: Partial<Record<RealmSettingName, (event: EventOf<'realm.setting_changed'>) => WireFields>> = {
  allowMessageEditing: () => ({}),
  messageContentEditLimitSeconds: () => ({}),
  description: ({ rendered }) => ({ rendered_description: rendered }),
  messageEditHistoryVisibilityPolicy: ({ value }) => ({ allow_edit_history: value !== 'none' }),
  topicsPolicy: ({ value }) => ({ mandatory_topics: value === 'disable_empty_topic' }),
};

export const presentRealmName = ({ name }: EventOf<'realm.name_changed'>): WireFields => update('name', name);

/** Events §7.3. */
export function presentRealmSetting(event: EventOf<'realm.setting_changed'>): WireFields {
  const name = REALM_SETTING_FORMS.nameOf(event.setting);
  const value = REALM_SETTING_FORMS.presentValue(event.setting, event.value);
  const more = DICTIONARIES[event.setting];
  return more ? dictionary({ [name]: value, ...more(event) }) : update(name, value);
}

export const presentAuthenticationChange = ({ methods }: EventOf<'realm.authentication_changed'>): WireFields =>
  dictionary({ authentication_methods: presentAuthenticationMethods(methods) });

export const presentRealmPermission = ({ permission, value }: EventOf<'realm.permission_changed'>): WireFields =>
  dictionary({ [permissionTitle(permission)]: presentGroupSetting(value) });

export const presentUserDefault = ({ setting, value }: EventOf<'realm.user_default_changed'>): WireFields => ({
  op: 'update',
  property: USER_SETTING_FORMS.nameOf(setting),
  value: USER_SETTING_FORMS.presentValue(setting, value),
});

const update = (property: string, value: unknown): WireFields => ({ op: 'update', property, value });
const dictionary = (data: WireFields): WireFields => ({ op: 'update_dict', property: 'default', data });
