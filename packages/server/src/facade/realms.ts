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
import type { OptionalKey } from '@parley/http';
import type { Resolve } from '../kernel/resolve.js';
import { describeValues } from '../kernel/setting-values.js';
import { object, oneOf, optional, valueType } from '../kernel/values.js';
import { type AuditTrail, byApplication } from '../observation/audit-trail.js';
import { realmObject } from '../observation/audited-objects.js';
import { argument, FLAG, properties, TEXT } from './argument-types.js';
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

const WORDS = { flag: 'true or false', none: 'null', channel: 'the number of a channel' };

const settingsOf = (registry: Registry, entries = Object.entries(registry)) =>
  Object.fromEntries(
    entries.map(([name, definition]) => [
      name,
      optional(valueType(describeValues(definition, WORDS), (value) => isSettingValue(definition, value))),
    ]),
  );
/** Names that belong elsewhere, with the reason. */
const misplaced = (names: readonly string[], reason: (name: string) => string) =>
  Object.fromEntries(names.map((name) => [name, optional(valueType<never>(`absent (${reason(name)})`, () => false))]));

const PERMISSION_NAMES = Object.keys(REALM_PERMISSIONS) as RealmPermission[];
const WITHOUT_DEFAULT = Object.keys(USER_SETTINGS).filter(
  (name) => !USER_SETTINGS[name as UserSettingName].hasRealmDefault,
);
const CONFIGURED = {
  name: TEXT,
  title: optional(TEXT),
  preset: optional(oneOf(Object.keys(PRESETS) as RealmPreset[])),
  settings: optional(
    object({
      ...settingsOf(REALM_SETTINGS),
      ...misplaced(PERMISSION_NAMES, (name) => `it is a permission; set permissions.${name}`),
    }),
  ),
  permissions: optional(
    object(
      Object.fromEntries(PERMISSION_NAMES.map((name) => [name, optional(TEXT)])) as Record<
        RealmPermission,
        OptionalKey<string>
      >,
    ),
  ),
  userDefaults: optional(
    object({
      ...settingsOf(USER_SETTINGS),
      ...misplaced(WITHOUT_DEFAULT, () => 'it has no default in an organization'),
    }),
  ),
};
const REALM = object(CONFIGURED);
const NEW_REALM = object({ ...CONFIGURED, isStarted: optional(FLAG) });

const TAKEN: ReadonlySet<string> = new Set(['STRING_ID_TAKEN', 'NO_ADDRESS_LEFT']);

export function realmsOf(uow: UnitOfWork, urls: RealmUrls, resolve: Resolve, audits: AuditTrail): Realms {
  const present = (realm: Realm) => presentRealm(realm, urls.urlOf(realm));
  const find = (name: string) => uow.readAcross(({ realms }) => realms.findByStringId(name));
  return {
    async ensure(realm) {
      const { name, isStarted = false, ...given } = properties('The organization', NEW_REALM, realm);
      const title = given.title ?? (name === '' ? 'Chat' : name);
      const configuration = configurationOf(given);
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
      const { name, title, ...given } = properties('The organization', REALM, realm);
      const configuration = configurationOf(given);
      const found = await find(name);
      if (!found) throw new DomainError('UNKNOWN_REALM', `There is no organization '${name}'.`);
      await audits.run(byApplication('realms.configure', realmObject), () =>
        resolve(ConfigureRealm).execute({
          ...configuration,
          realmId: found.id,
          ...(title !== undefined && { name: title }),
        }),
      );
      return present((await find(name))!);
    },
    async find(name) {
      const realm = await find(argument('name', TEXT, name));
      return realm && present(realm);
    },
    list: async () => (await uow.readAcross(({ realms }) => realms.list())).map(present),
  };
}

/** Adds the values of the preset. */
function configurationOf({
  preset,
  settings,
  permissions,
  userDefaults,
}: Pick<RealmToEnsure, 'preset' | keyof RealmSettingsToSet>): RealmConfiguration {
  const base = preset && PRESETS[preset];
  return {
    settings: { ...base?.settings, ...settings },
    permissions: { ...base?.permissions, ...permissions },
    userDefaults: { ...base?.userDefaults, ...userDefaults },
  };
}
