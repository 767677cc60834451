import type { EventOf } from '@parley/domain/events';
import type { RealmSettingName, RealmSettingsEventTypes } from '@parley/domain/realms';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { presentGroupSetting } from '../groups/group-setting.presenters.js';
import { permissionTitle } from '../groups/permission-title.js';
import type { WireFields } from '../routing/reply.js';
import { USER_SETTING_FORMS } from '../users/user-settings.wire.js';
import { presentAuthenticationMethods } from './authentication-methods.wire.js';
import { REALM_SETTING_FORMS } from './realm-settings.wire.js';

export const REALM_SETTINGS_EVENTS = {
  'realm.name_changed': toAll('realm', ({ name }) => update('name', name)),
  'realm.setting_changed': toAll('realm', presentRealmSetting),
  'realm.authentication_changed': toAll('realm', ({ methods }) =>
    dictionary({ authentication_methods: presentAuthenticationMethods(methods) }),
  ),
  'realm.permission_changed': toAll('realm', ({ permission, value }) =>
    dictionary({ [permissionTitle(permission)]: presentGroupSetting(value) }),
  ),
  'realm.channels_cleared': toAll('realm', ({ settings }) =>
    dictionary(
      Object.fromEntries(
        settings.map((name) => [REALM_SETTING_FORMS.nameOf(name), REALM_SETTING_FORMS.presentValue(name, null)]),
      ),
    ),
  ),
  'realm.user_default_changed': toAll('realm_user_settings_defaults', ({ setting, value }) => ({
    op: 'update',
    property: USER_SETTING_FORMS.nameOf(setting),
    value: USER_SETTING_FORMS.presentValue(setting, value),
  })),
} satisfies Presenters<keyof RealmSettingsEventTypes>;

/** What is told in a dictionary, with what goes with the setting; everything else as a property (organization §2.1, §2.6). */
const DICTIONARIES: Partial<Record<RealmSettingName, (event: EventOf<'realm.setting_changed'>) => WireFields>> = {
  allowMessageEditing: () => ({}),
  messageContentEditLimitSeconds: () => ({}),
  description: ({ rendered }) => ({ rendered_description: rendered }),
  messageEditHistoryVisibilityPolicy: ({ value }) => ({ allow_edit_history: value !== 'none' }),
  topicsPolicy: ({ value }) => ({ mandatory_topics: value === 'emptyTopicRefused' }),
};

/** Events §7.3. */
function presentRealmSetting(event: EventOf<'realm.setting_changed'>): WireFields {
  const name = REALM_SETTING_FORMS.nameOf(event.setting);
  const value = REALM_SETTING_FORMS.presentValue(event.setting, event.value);
  const more = DICTIONARIES[event.setting];
  return more ? dictionary({ [name]: value, ...more(event) }) : update(name, value);
}

const update = (property: string, value: unknown): WireFields => ({ op: 'update', property, value });
const dictionary = (data: WireFields): WireFields => ({ op: 'update_dict', property: 'default', data });
