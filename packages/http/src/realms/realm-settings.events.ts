import type { EventOf } from '@parley/domain/kernel';
import {
  REALM_PERMISSIONS,
  REALM_SETTINGS,
  type RealmPermission,
  type RealmSettingName,
  type RealmSettingsEventTypes,
} from '@parley/domain/realms';
import { form, propertyForms } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { permissionFields } from '../groups/group.answers.js';
import { presentGroupSetting } from '../groups/group-setting.presenters.js';
import { permissionTitle } from '../groups/permission-title.js';
import type { WireFields } from '../kernel/reply.js';
import * as wire from '../kernel/wire-schema.js';
import { USER_SETTING_FORMS } from '../users/user-settings.wire.js';
import { AUTHENTICATION_METHODS, presentAuthenticationMethods } from './authentication-methods.wire.js';
import { REALM_SETTING_FORMS } from './realm-settings.wire.js';

/** What is sent in a dictionary, with what goes with the setting; everything else as a property (organization §2.1, §2.6). */
const DICTIONARIES: Partial<Record<RealmSettingName, (event: EventOf<'realm.setting_changed'>) => WireFields>> = {
  allowMessageEditing: () => ({}),
  messageContentEditLimitSeconds: () => ({}),
  description: ({ rendered }) => ({ rendered_description: rendered }),
  messageEditHistoryVisibilityPolicy: ({ value }) => ({ allow_edit_history: value !== 'none' }),
  topicsPolicy: ({ value }) => ({ mandatory_topics: value === 'emptyTopicRefused' }),
};

const isInDictionary = (name: RealmSettingName): boolean =>
  Object.hasOwn(DICTIONARIES, name) || REALM_SETTINGS[name].kind === 'channel';

const UPDATED = propertyForms(
  REALM_SETTING_FORMS.schemas({ isWanted: (name) => !Object.hasOwn(DICTIONARIES, name) }),
  (shape) => form('realm', { op: wire.oneOf('update'), ...shape }),
);

const DICTIONARY_UPDATED = form('realm', {
  op: wire.oneOf('update_dict'),
  property: wire.oneOf('default'),
  data: wire.fields(
    wire.optionalFields({
      ...REALM_SETTING_FORMS.schemas({ isWanted: isInDictionary }),
      rendered_description: wire.text(),
      allow_edit_history: wire.boolean(),
      mandatory_topics: wire.boolean(),
      authentication_methods: AUTHENTICATION_METHODS,
      ...permissionFields((Object.keys(REALM_PERMISSIONS) as RealmPermission[]).map(permissionTitle)),
    }),
  ),
});

export const REALM_SETTINGS_EVENTS = {
  'realm.name_changed': toAll(
    form('realm', { op: wire.oneOf('update'), property: wire.oneOf('name'), value: wire.text() }),
    ({ name }) => propertyUpdate('name', name),
  ),
  'realm.setting_changed': toAll([...UPDATED, DICTIONARY_UPDATED], presentRealmSetting),
  'realm.authentication_changed': toAll(DICTIONARY_UPDATED, ({ methods }) =>
    dictionaryUpdate({ authentication_methods: presentAuthenticationMethods(methods) }),
  ),
  'realm.permission_changed': toAll(DICTIONARY_UPDATED, ({ permission, value }) =>
    dictionaryUpdate({ [permissionTitle(permission)]: presentGroupSetting(value) }),
  ),
  'realm.channels_cleared': toAll(DICTIONARY_UPDATED, ({ settings }) =>
    dictionaryUpdate(
      Object.fromEntries(
        settings.map((name) => [REALM_SETTING_FORMS.nameOf(name), REALM_SETTING_FORMS.presentValue(name, null)]),
      ),
    ),
  ),
  'realm.user_default_changed': toAll(
    propertyForms(USER_SETTING_FORMS.schemas(), (shape) =>
      form('realm_user_settings_defaults', { op: wire.oneOf('update'), ...shape }),
    ),
    ({ setting, value }) => ({
      op: 'update',
      property: USER_SETTING_FORMS.nameOf(setting),
      value: USER_SETTING_FORMS.presentValue(setting, value),
    }),
  ),
} satisfies Presenters<keyof RealmSettingsEventTypes>;

/** Events §7.3. */
function presentRealmSetting(event: EventOf<'realm.setting_changed'>): WireFields {
  const name = REALM_SETTING_FORMS.nameOf(event.setting);
  const value = REALM_SETTING_FORMS.presentValue(event.setting, event.value);
  const more = DICTIONARIES[event.setting];
  return more ? dictionaryUpdate({ [name]: value, ...more(event) }) : propertyUpdate(name, value);
}

const propertyUpdate = (property: string, value: unknown): WireFields => ({ op: 'update', property, value });
const dictionaryUpdate = (data: WireFields): WireFields => ({ op: 'update_dict', property: 'default', data });
