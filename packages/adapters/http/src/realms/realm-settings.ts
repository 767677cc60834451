import { type EventOf, getOrThrow, isSettingValue, type SettingValue } from '@parley/domain/kernel';
import type { AuthenticationMethodChanges, ChangeRealmInput, ChangeRealmOutput } from '@parley/domain/log-in';
import {
  type AuthenticationMethod,
  type AuthenticationMethodState,
  MAX_REALM_NAME_LENGTH,
  REALM_PERMISSIONS,
  REALM_SETTINGS,
  type RealmPermission,
  type RealmSettingName,
  type RealmSettingsEventTypes,
} from '@parley/domain/realms';
import { declareSettings, WireSettings, type WireTable } from '../declarations/settings.js';
import { form, type Presenters, propertyForms, toAll } from '../delivery/event-presenter.js';
import {
  declarePermissionChanges,
  permissionTitle,
  presentGroupSetting,
  toPermissionChanges,
} from '../groups/group-settings.js';
import { permissionFields } from '../groups/groups.js';
import { boolean, json, MAX_TEXT_LENGTH, type ParamType, recordOf, refine, text } from '../params/param-types.js';
import { param, TextParam } from '../params/params.js';
import { USER_SETTING_FORMS } from '../users/user-settings.js';
import { badValue, quotable, type WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

/** Wire names of authentication methods (events §5.2). */
export const AUTHENTICATION_METHOD_NAMES = {
  devAuthentication: 'Dev',
  emailAuthentication: 'Email',
  ldapAuthentication: 'LDAP',
  gitHubAuthentication: 'GitHub',
  gitLabAuthentication: 'GitLab',
  googleAuthentication: 'Google',
  appleAuthentication: 'Apple',
  samlAuthentication: 'SAML',
  openIdConnectAuthentication: 'OpenID Connect',
} as const satisfies Readonly<Record<AuthenticationMethod, string>>;

const METHODS: ReadonlyMap<string, AuthenticationMethod> = new Map(
  Object.entries(AUTHENTICATION_METHOD_NAMES).map(([method, name]) => [name, method as AuthenticationMethod]),
);

/** Accepts any names; the use case rejects unknown ones. */
export const authenticationMethodsParam: ParamType<Record<string, boolean>> = recordOf(boolean(), {
  max: 100,
  maxKeyLength: 100,
});

export function toAuthenticationMethods(methods: Readonly<Record<string, boolean>>): AuthenticationMethodChanges {
  const names = Object.keys(methods);
  const supported = names.filter((name) => METHODS.has(name));
  return {
    methods: new Map(supported.map((name) => [getOrThrow(METHODS, name), methods[name]!])),
    unknown: names.find((name) => !METHODS.has(name)) ?? null,
  };
}

export const unknownMethodText = (name: string): string =>
  `Invalid authentication method: ${quotable(name)}. Valid methods are: ${[...METHODS.keys()].sort().join(', ')}`;

export function presentAuthenticationMethods(methods: readonly AuthenticationMethodState[]): WireFields {
  return Object.fromEntries(
    methods.map(({ method, isEnabled, isAvailable }) => [
      AUTHENTICATION_METHOD_NAMES[method],
      { enabled: isEnabled, available: isAvailable },
    ]),
  );
}

/** Schema of `presentAuthenticationMethods`. */
export const AUTHENTICATION_METHODS = wire.dictionaryOf(
  wire.fields({ enabled: wire.boolean(), available: wire.boolean() }),
);

const ORGANIZATION_TYPES = {
  unspecified: 0,
  business: 10,
  openSource: 20,
  educationNonprofit: 30,
  education: 35,
  research: 40,
  event: 50,
  nonprofit: 60,
  government: 70,
  politicalGroup: 80,
  community: 90,
  personal: 100,
  other: 1000,
};

/** Organization §20. */
const VIDEO_CHAT_PROVIDERS = { none: 0, jitsi: 1, bigBlueButton: 4 };
/** Returns the number of an unknown provider unchanged. */
const providerCode = (value: SettingValue): unknown =>
  VIDEO_CHAT_PROVIDERS[value as keyof typeof VIDEO_CHAT_PROVIDERS] ?? value;

const DEFAULT_SERVER = 'default';
/** URL, or the word for the server's default. */
const jitsiServerUrl = refine(json(text({ max: MAX_TEXT_LENGTH })), (url) =>
  url === DEFAULT_SERVER || isSettingValue(REALM_SETTINGS.jitsiServerUrl, url)
    ? undefined
    : '{p} is not an allowed_type',
);

const CHANNEL = { nullAs: -1, refusal: () => ({ text: 'Invalid channel ID' }) } as const;

/** Wire forms of organization settings that differ from name and value (organization §2.1, §2.3). */
const REALM_SETTING_TABLE = {
  defaultAvatarSource: { codes: { gravatar: 'G', generated: 'J' } },
  defaultLanguage: { refusal: (value) => ({ text: `Invalid language '${value}'` }) },
  gifRatingPolicy: {
    codes: { disabled: 0, y: 1, g: 2, pg: 3, 'pg-13': 4, r: 5 },
    refusal: (value) => ({ text: `Invalid gif_rating_policy ${value}` }),
  },
  jitsiServerUrl: { type: jitsiServerUrl, fromWire: (url) => (url === DEFAULT_SERVER ? null : (url as string)) },
  keepFileMetadata: { isParleyOnly: true },
  messageContentDeleteLimitSeconds: { refusal: badValue },
  messageContentEditLimitSeconds: { refusal: badValue },
  messageRetentionDays: { nullAs: -1, refusal: badValue },
  moveMessagesBetweenChannelsLimitSeconds: {
    name: 'move_messages_between_streams_limit_seconds',
    refusal: badValue,
  },
  moveMessagesWithinChannelLimitSeconds: { name: 'move_messages_within_stream_limit_seconds', refusal: badValue },
  organizationType: { name: 'org_type', codes: ORGANIZATION_TYPES },
  searchLanguages: { isParleyOnly: true, refusal: (codes) => ({ text: `Invalid search_languages '${codes}'` }) },
  secondFactorRequiredFor: { isParleyOnly: true },
  topicsPolicy: { codes: { emptyTopicAllowed: 'allow_empty_topic', emptyTopicRefused: 'disable_empty_topic' } },
  videoChatProvider: {
    codes: VIDEO_CHAT_PROVIDERS,
    refusal: (value) => ({ text: `Invalid video_chat_provider ${providerCode(value)}` }),
  },
  moderationRequestChannelId: CHANNEL,
  newChannelAnnouncementsChannelId: { ...CHANNEL, name: 'new_stream_announcements_stream_id' },
  signupAnnouncementsChannelId: { ...CHANNEL, name: 'signup_announcements_stream_id' },
  updateAnnouncementsChannelId: { ...CHANNEL, name: 'zulip_update_announcements_stream_id' },
} as const satisfies WireTable<typeof REALM_SETTINGS>;

export const REALM_SETTING_FORMS = new WireSettings(REALM_SETTINGS, REALM_SETTING_TABLE);

const PERMISSIONS = Object.keys(REALM_PERMISSIONS) as RealmPermission[];
const SETTINGS = (Object.keys(REALM_SETTINGS) as RealmSettingName[]).filter(
  (name) => REALM_SETTINGS[name].changedBy !== 'nobody',
);

const MAX_STRING_ID_LENGTH = 40;

/** Parameters of a realm change; settings and permissions are declared from the registries. */
export class ChangeRealmDto {
  @TextParam({ max: MAX_REALM_NAME_LENGTH, notBlank: true, optional: true }) name?: string;
  @TextParam({ max: MAX_STRING_ID_LENGTH, optional: true, description: 'Name of the organization in its address.' })
  string_id?: string;
  @param(authenticationMethodsParam, { optional: true, description: 'Log-in methods, each with true or false.' })
  authentication_methods?: Record<string, boolean>;
}
declareSettings(ChangeRealmDto, REALM_SETTING_FORMS, SETTINGS);
declarePermissionChanges(ChangeRealmDto, PERMISSIONS);

export const toRealmPermissionChanges = (dto: ChangeRealmDto): ChangeRealmInput['permissions'] =>
  toPermissionChanges(dto, PERMISSIONS);

/** Presents effective changes only; for text settings, just the fact of a change (organization §2). */
export function presentRealmChanges(output: ChangeRealmOutput, dto: ChangeRealmDto): WireFields {
  const { name, settings, permissions, changesAuthentication } = output;
  const fields: Record<string, unknown> = name === null ? {} : { name: UPDATED };
  for (const { name: setting, value } of settings) {
    const shown: SettingValue = REALM_SETTING_FORMS.presentValue(setting, value);
    fields[REALM_SETTING_FORMS.nameOf(setting)] = typeof shown === 'string' ? UPDATED : shown;
  }
  for (const { name: permission, value } of permissions)
    fields[permissionTitle(permission)] = presentGroupSetting(value);
  if (changesAuthentication) fields.authentication_methods = dto.authentication_methods;
  return fields;
}

const UPDATED = 'updated';

/** Settings sent in a dictionary with related values; others are sent as a property (organization §2.1, §2.6). */
const DICTIONARIES: Partial<Record<RealmSettingName, (event: EventOf<'realm.setting_changed'>) => WireFields>> = {
  allowMessageEditing: () => ({}),
  messageContentEditLimitSeconds: () => ({}),
  description: ({ rendered }) => ({ rendered_description: rendered }),
  topicsPolicy: ({ value }) => ({ mandatory_topics: value === 'emptyTopicRefused' }),
};

const isInDictionary = (name: RealmSettingName): boolean =>
  Object.hasOwn(DICTIONARIES, name) || REALM_SETTINGS[name].kind === 'channel';

const SETTING_UPDATED = propertyForms(
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
  'realm.setting_changed': toAll([...SETTING_UPDATED, DICTIONARY_UPDATED], presentRealmSetting),
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
