import { isDeepStrictEqual } from 'node:util';
import {
  DomainError,
  foldCase,
  isSettingValue,
  type JsonObject,
  type RealmUrls,
  type Registry,
  type Repositories,
  type SettingValues,
  type UnitOfWork,
} from '@parley/domain/kernel';
import { ConfigureRealm, CreateRealm, type RealmConfiguration } from '@parley/domain/log-in';
import { DeclareData } from '@parley/domain/membership';
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
import { argument, FLAG, HOST_DATA, properties, TEXT } from './argument-types.js';
import {
  type ChatData,
  type DataDeclarations,
  dataOf,
  declarationOf,
  ensureData,
  parsedData,
  requireFit,
  type SetDataOptions,
  setData,
} from './host-data.js';

export interface ChatRealm extends ChatData {
  readonly id: number;
  /** Value of `realm` in other calls; `''` for the organization at the server's public URL. */
  readonly name: string;
  readonly title: string;
  /** URL for its clients. */
  readonly url: string;
  readonly isActive: boolean;
}

/** Organization of a call of `ensure`. */
export interface EnsuredRealm extends ChatRealm {
  /**
   * Values of the call, including those of its preset, that an existing organization has otherwise, such as
   * `['title', 'permissions.canInviteUsers']`.
   */
  readonly differs: readonly string[];
}

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
  /** Data of your application, at most 4096 bytes of JSON. Default: unchanged. */
  readonly data?: JsonObject;
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
   * stays as it is, except that it gets the data if its own was never set; `differs` names what it has otherwise. Use
   * `configure` to change it.
   */
  ensure(realm: RealmToCreate): Promise<EnsuredRealm>;
  /** Changes an organization atomically and notifies its clients. @throws DomainError UNKNOWN_REALM */
  configure(realm: RealmToEnsure): Promise<ChatRealm>;
  /** Returns null if the organization does not exist. */
  find(name: string): Promise<ChatRealm | null>;
  /** Returns organizations by id, oldest first. */
  list(): Promise<readonly ChatRealm[]>;
  /** Replaces the data of an organization; `{}` removes it. @throws DomainError UNKNOWN_REALM, DATA_VERSION_CONFLICT */
  setData(name: string, data: JsonObject, options?: SetDataOptions): Promise<ChatData>;
  /**
   * Declares the keys by which messages, channels and users can be filtered, at most 20 in total, and schemas of data,
   * instead of the former ones. Call it at each start: unchanged declarations cost nothing. Resolves once existing data is
   * indexed; after an interruption, the next call continues. Existing data need not fit a new schema.
   * @throws DomainError UNKNOWN_REALM, INVALID_DATA_KEY, INVALID_DATA_SCHEMA
   */
  declareData(name: string, declaration: DataDeclarations): Promise<void>;
}

const presentRealm = (realm: Realm, url: string, data: ChatData): ChatRealm => ({
  id: realm.id,
  name: realm.stringId,
  title: realm.name,
  url,
  isActive: !realm.isDeactivated,
  ...data,
});

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
      canCreateWriteOnlyBots: 'role:administrators',
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
  data: optional(HOST_DATA),
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
  const present = async (realm: Realm) =>
    presentRealm(realm, urls.urlOf(realm), (await dataOf(resolve, realm.id, 'realm', [realm.id]))(realm.id));
  const find = (name: string) => uow.readAcross(({ realms }) => realms.findByStringId(name));
  const get = async (name: string) => {
    const found = await find(name);
    if (!found) throw new DomainError('UNKNOWN_REALM', `There is no organization '${name}'.`);
    return found;
  };
  const ownerOf = ({ id }: Realm) => ({ kind: 'realm', id, realmId: id }) as const;
  const withData = async (realm: Realm, data: JsonObject | undefined) =>
    ensureData(resolve, ownerOf(realm), await present(realm), data);
  const compared = async (existing: Realm, wanted: ComparedRealm): Promise<EnsuredRealm> => {
    const differs = await uow.read(existing.id, (reads) => differencesOf(reads, existing, wanted));
    const realm = await withData(existing, wanted.data);
    const hasData = wanted.data === undefined || isDeepStrictEqual(realm.data, wanted.data);
    return { ...realm, differs: hasData ? differs : [...differs, 'data'] };
  };
  return {
    async ensure(realm) {
      const { name, isStarted = false, ...given } = properties('The organization', NEW_REALM, realm);
      const title = given.title ?? (name === '' ? 'Chat' : name);
      const configuration = configurationOf(given);
      const data = parsedData(given.data);
      const wanted = { title: given.title, data, configuration };
      const existing = await find(name);
      if (existing) return compared(existing, wanted);
      try {
        const created = { stringId: name, name: title, configuration, isStarted };
        return { ...(await withData(await resolve(CreateRealm).execute(created), data)), differs: [] };
      } catch (error) {
        // A concurrent call may have created it, and thereby taken the only address of the server.
        const isTaken = error instanceof DomainError && TAKEN.has(error.code);
        if (!isTaken) throw error;
        const made = await find(name);
        if (!made) throw error;
        return compared(made, wanted);
      }
    },
    async configure(realm) {
      const { name, title, ...given } = properties('The organization', REALM, realm);
      const configuration = configurationOf(given);
      const data = parsedData(given.data);
      const found = await get(name);
      await requireFit(resolve, found.id, 'realm', data);
      await audits.run(byApplication('realms.configure', realmObject), () =>
        resolve(ConfigureRealm).execute({
          ...configuration,
          realmId: found.id,
          ...(title !== undefined && { name: title }),
        }),
      );
      if (data) await setData(resolve, ownerOf(found), data);
      return present((await find(name))!);
    },
    async find(name) {
      const realm = await find(argument('name', TEXT, name));
      return realm && (await present(realm));
    },
    async list() {
      const realms = await uow.readAcross(({ realms }) => realms.list());
      const presented: ChatRealm[] = [];
      for (const realm of realms) presented.push(await present(realm));
      return presented;
    },
    setData: async (name, data, options) =>
      setData(resolve, ownerOf(await get(argument('name', TEXT, name))), data, options),
    async declareData(name, declaration) {
      const declared = declarationOf(declaration);
      const { id } = await get(argument('name', TEXT, name));
      await resolve(DeclareData).execute(id, declared);
    },
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

interface ComparedRealm {
  readonly title: string | undefined;
  readonly data: JsonObject | undefined;
  readonly configuration: RealmConfiguration;
}

/** Returns the names of the values that the organization has otherwise, without its data. */
async function differencesOf(
  { groups }: Repositories,
  realm: Realm,
  { title, configuration: { settings = {}, permissions = {}, userDefaults = {} } }: ComparedRealm,
): Promise<readonly string[]> {
  const named = await groups.listByName(realm.id, Object.values(permissions));
  const idsByName = new Map(named.map(({ id, name }) => [foldCase(name!), id]));
  const ids = Object.entries(permissions).map(([name, group]) => [name, idsByName.get(foldCase(group))]);
  const differing = (area: keyof RealmConfiguration, values: object) =>
    Object.entries(values).flatMap(([name, value]) =>
      isDeepStrictEqual((realm[area] as Readonly<Record<string, unknown>>)[name], value) ? [] : [`${area}.${name}`],
    );
  return [
    ...(title === undefined || title === realm.name ? [] : ['title']),
    ...differing('settings', settings),
    ...differing('permissions', Object.fromEntries(ids)),
    ...differing('userDefaults', userDefaults),
  ];
}
