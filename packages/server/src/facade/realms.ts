import {
  DomainError,
  isSettingValue,
  type RealmUrls,
  type Registry,
  type SettingValues,
  type UnitOfWork,
} from '@parley/domain/kernel';
import { ConfigureRealm, CreateRealm, type RealmConfiguration } from '@parley/domain/membership';
import {
  REALM_PERMISSIONS,
  REALM_SETTINGS,
  type Realm,
  type RealmPermission,
  USER_SETTINGS,
  type UserSettingName,
} from '@parley/domain/realms';
import type { Resolve } from '../kernel/resolve.js';
import { describeValues } from '../kernel/setting-values.js';
import { flagAt, nameAt, objectAt, optionalTextAt, propertiesAt, shown, textAt } from './arguments.js';
import { type ChatRealm, presentRealm } from './chat-messages.js';

/** Settings of an organization; absent ones stay unchanged. */
export interface RealmSettingsToSet {
  /** Names and values of `docs/realm-settings.md`. */
  readonly settings?: Partial<SettingValues<typeof REALM_SETTINGS>>;
  /** Names of groups: `'role:moderators'`, or a group of the organization. */
  readonly permissions?: { readonly [P in RealmPermission]?: string };
  /** Default settings of new users. */
  readonly userDefaults?: Partial<SettingValues<typeof USER_SETTINGS>>;
}

/** `customers`: support chat of a product. Customers are guests and do not see each other. */
export type RealmPreset = 'customers';

export interface RealmToEnsure extends RealmSettingsToSet {
  /** Lower-case letters, digits and inner dashes; `''` for the organization at the server's public URL. */
  readonly name: string;
  /** Displayed name; default for a new organization: `name`. */
  readonly title?: string;
  /** Values that `settings`, `permissions` and `userDefaults` override. */
  readonly preset?: RealmPreset;
}

export interface RealmToCreate extends RealmToEnsure {
  /**
   * True for the channels `general` and `sandbox`, which new users are subscribed to, and a welcome for the first owner.
   * Default: false. Ignored if the organization exists.
   */
  readonly isStarted?: boolean;
}

/** Organizations API for the host application. */
export interface Realms {
  /**
   * Returns the organization of this name, created if missing. Safe for concurrent calls. An existing organization
   * stays as it is; use `configure` to change it.
   */
  ensure(realm: RealmToCreate): Promise<ChatRealm>;
  /** Changes an organization atomically and notifies its clients. @throws DomainError UNKNOWN_REALM */
  configure(realm: RealmToEnsure): Promise<ChatRealm>;
  /** Returns null if the organization does not exist. */
  find(name: string): Promise<ChatRealm | null>;
  /** Returns organizations by id, oldest first. */
  list(): Promise<readonly ChatRealm[]>;
}

const PROPERTIES = ['name', 'title', 'preset', 'settings', 'permissions', 'userDefaults'];
const PROPERTIES_OF_NEW = [...PROPERTIES, 'isStarted'];

const STAFF = 'role:members';

const PRESETS: Readonly<Record<RealmPreset, Required<RealmSettingsToSet>>> = {
  customers: {
    settings: {
      // The product owns names and addresses.
      emailChangesDisabled: true,
      nameChangesDisabled: true,
      enableGuestUserIndicator: false,
      sendChannelEventsMessages: false,
      sendWelcomeEmails: false,
    },
    permissions: {
      canAccessAllUsers: STAFF,
      canCreateBots: 'role:administrators',
      canDeleteAnyMessage: STAFF,
      canInviteUsers: 'role:administrators',
      canMoveMessagesBetweenChannels: STAFF,
      canMoveMessagesBetweenTopics: STAFF,
      canResolveTopics: STAFF,
      directMessageInitiator: STAFF,
    },
    userDefaults: {
      emailAddressVisibility: 'administrators',
      enableChannelDesktopNotifications: true,
      enableChannelEmailNotifications: true,
      enableChannelPushNotifications: true,
      enterSends: true,
    },
  },
};

const TAKEN: ReadonlySet<string> = new Set(['STRING_ID_TAKEN', 'NO_ADDRESS_LEFT']);

export function realmsOf(uow: UnitOfWork, urls: RealmUrls, resolve: Resolve): Realms {
  const present = (realm: Realm) => presentRealm(realm, urls.urlOf(realm));
  const find = (name: string) => uow.readAcross(({ realms }) => realms.findByStringId(name));
  return {
    async ensure(realm) {
      const name = textAt('name', propertiesAt('The organization', realm, PROPERTIES_OF_NEW).name);
      const title = optionalTextAt('title', realm.title) ?? (name === '' ? 'Chat' : name);
      const configuration = configurationAt(realm);
      const { isStarted = false } = realm;
      flagAt('isStarted', isStarted);
      const existing = await find(name);
      if (existing) return present(existing);
      try {
        const created = { stringId: name, name: title, configuration, isStarted };
        return present(await resolve(CreateRealm).execute(created));
      } catch (error) {
        // A concurrent call may have created it, and thereby taken the only address of the server.
        const isTaken = error instanceof DomainError && TAKEN.has(error.code);
        if (!isTaken) throw error;
        const made = await find(name);
        if (!made) throw error;
        return present(made);
      }
    },
    async configure(realm) {
      const name = textAt('name', propertiesAt('The organization', realm, PROPERTIES).name);
      const title = optionalTextAt('title', realm.title);
      const configuration = configurationAt(realm);
      const found = await find(name);
      if (!found) throw new DomainError('UNKNOWN_REALM', `There is no organization '${name}'.`);
      await resolve(ConfigureRealm).execute({
        ...configuration,
        realmId: found.id,
        ...(title !== undefined && { name: title }),
      });
      return present((await find(name))!);
    },
    async find(name) {
      const realm = await find(textAt('name', name));
      return realm && present(realm);
    },
    list: async () => (await uow.readAcross(({ realms }) => realms.list())).map(present),
  };
}

/** Checks the values and adds those of the preset. @throws DomainError INVALID_ARGUMENT */
function configurationAt(realm: RealmToEnsure): RealmConfiguration {
  const { preset, settings = {}, permissions = {}, userDefaults = {} } = realm;
  if (preset !== undefined) nameAt('preset', `one of ${Object.keys(PRESETS).join(', ')}`, preset, Object.keys(PRESETS));
  for (const name of Object.keys(objectAt('settings', settings))) {
    if (name in REALM_PERMISSIONS)
      throw new DomainError('INVALID_ARGUMENT', `settings.${name} is a permission; set permissions.${name}.`);
  }
  settingsAt('settings', REALM_SETTINGS, settings);
  settingsAt('userDefaults', USER_SETTINGS, userDefaults);
  for (const name of Object.keys(userDefaults) as UserSettingName[]) {
    if (USER_SETTINGS[name].hasRealmDefault) continue;
    throw new DomainError('INVALID_ARGUMENT', `userDefaults.${name} has no default in an organization.`);
  }
  for (const [name, group] of Object.entries(objectAt('permissions', permissions))) {
    nameAt(`permissions.${name}`, 'a permission of the organization', name, Object.keys(REALM_PERMISSIONS));
    textAt(`permissions.${name}`, group);
  }
  const base = preset && PRESETS[preset];
  return {
    settings: { ...base?.settings, ...settings },
    permissions: { ...base?.permissions, ...permissions },
    userDefaults: { ...base?.userDefaults, ...userDefaults },
  };
}

const WORDS = { flag: 'true or false', none: 'null', channel: 'the number of a channel' };

function settingsAt(property: string, registry: Registry, values: object): void {
  for (const [name, value] of Object.entries(objectAt(property, values))) {
    nameAt(`${property}.${name}`, 'the name of a setting', name, Object.keys(registry));
    const definition = registry[name]!;
    if (value === undefined || isSettingValue(definition, value)) continue;
    const expected = describeValues(definition, WORDS);
    throw new DomainError('INVALID_ARGUMENT', `${property}.${name} must be ${expected}, not ${shown(value)}.`);
  }
}
