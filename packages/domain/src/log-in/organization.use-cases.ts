import { type Actor, mustBeOwner } from '../access/actor.js';
import { canSpectate } from '../channels/channel-access.js';
import type { ServerChannelConfig } from '../channels/create-channels.use-cases.js';
import { DomainError } from '../kernel/errors.js';
import { wholeRealm } from '../kernel/event.js';
import type { AnonymousCaller, Caller, RealmId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import { type Clock, type DevelopmentMode, type Randomness, type RealmUrls, SERVER_ITSELF } from '../kernel/ports.js';
import { badSettingValue, checkSettingValues, type SettingChanges } from '../kernel/settings.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { ROWS_PER_PAGE } from '../kernel/work.js';
import { startOrganization } from '../membership/organization-start.js';
import { callOffDeletion, isReachable, planDeletion } from '../realms/delete-realm-data.js';
import { type Realm, type ServerAddress, takesServerAddress } from '../realms/realm.js';
import {
  canChangeRealm,
  canChangeUserDefaults,
  canDeactivateRealm,
  canSetAuthenticationMethods,
} from '../realms/realm-permissions.js';
import {
  AUTHENTICATION_METHODS,
  type AuthenticationMethod,
  REALM_SETTINGS,
  type RealmSettingName,
} from '../realms/realm-settings.js';
import type { USER_SETTINGS } from '../realms/user-settings.js';
import { SystemMessages } from '../writing/system-messages.js';
import { type LogInMethod, type LogInProvider, offeredMethods } from './log-in-methods.js';
import {
  type AuthenticationMethodChanges,
  addRealm,
  type ChangeRealmInput,
  type ChangeRealmOutput,
  changeUserDefaults,
  checkNewRealm,
  checkRealmName,
  namesOf,
  RESERVED_STRING_IDS,
  RealmChanges,
  type RealmConfiguration,
} from './organization.js';

export interface CreateRealmInput {
  readonly stringId: string;
  readonly name: string;
  /** Applied in the same unit of work, except the description. */
  readonly configuration?: RealmConfiguration;
  /** True for default channels, and a welcome for the first owner. Defaults to false. */
  readonly isStarted?: boolean;
}

/** Creates a realm for the operator or host application; users cannot call it. */
export class CreateRealm {
  static readonly inject = [
    'unitOfWork',
    'clock',
    'randomness',
    'serverAddress',
    RealmChanges,
    SystemMessages,
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
    private readonly server: ServerAddress,
    private readonly changes: RealmChanges,
    private readonly systemMessages: SystemMessages,
  ) {}

  /**
   * @throws DomainError INVALID_STRING_ID, STRING_ID_TAKEN, INVALID_REALM_NAME, NO_ADDRESS_LEFT, BAD_SETTING_VALUE,
   * UNKNOWN_GROUP, GROUP_NOT_ALLOWED
   */
  async execute({ stringId, name, configuration = {}, isStarted = false }: CreateRealmInput): Promise<Realm> {
    checkNewRealm({ stringId, name });
    const { settings: { description, ...settings } = {}, ...rest } = configuration;
    this.changes.checkProvider(settings);
    const uuid = this.randomness.uuid();
    const realm = await this.uow.writeAcross(async (tx) => {
      const isAtServerAddress = takesServerAddress(stringId, await tx.realms.list(), this.server);
      const { id } = await addRealm(tx, { stringId, name, uuid, isAtServerAddress, createdAt: this.clock.now() });
      await this.changes.configure(tx, await tx.realms.get(id), { ...rest, settings });
      if (isStarted) await startOrganization(tx, await tx.realms.get(id), this.systemMessages);
      return tx.realms.get(id);
    });
    if (description === undefined) return realm;
    // Markdown is parsed outside a unit of work and needs an existing realm.
    const parsed = await this.changes.parseDescription(realm.id, description);
    return this.uow.write(realm.id, async (tx) => {
      await this.changes.configure(tx, realm, { settings: { description } }, {}, parsed);
      return tx.realms.get(realm.id);
    });
  }
}

export interface ConfigureRealmInput extends RealmConfiguration {
  readonly realmId: RealmId;
  readonly name?: string;
  /** Absent methods stay unchanged. */
  readonly authenticationMethods?: ReadonlyMap<AuthenticationMethod, boolean>;
}

export interface ConfigureRealmOutput extends ChangeRealmOutput {
  /** False if this process offers no enabled log-in method. Applications may log users in regardless. */
  readonly canBeLoggedInTo: boolean;
}

/** Changes a realm like `ChangeRealm`, but for the operator, including operator settings. */
export class ConfigureRealm {
  static readonly inject = ['unitOfWork', RealmChanges] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly changes: RealmChanges,
  ) {}

  /**
   * Applies all changes or none. @throws DomainError UNKNOWN_REALM, INVALID_REALM_NAME, BAD_SETTING_VALUE,
   * AUTHENTICATION_METHOD_REQUIRED, UNRENDERABLE_CONTENT, UNKNOWN_GROUP, GROUP_NOT_ALLOWED
   */
  async execute(input: ConfigureRealmInput): Promise<ConfigureRealmOutput> {
    const { realmId, name, settings = {}, authenticationMethods } = input;
    if (name !== undefined) checkRealmName(name);
    this.changes.checkProvider(settings);
    const parsed = await this.changes.parseDescription(realmId, settings.description);
    const more = {
      ...(name !== undefined && { name }),
      ...(authenticationMethods && { authenticationMethods: { methods: authenticationMethods, unknown: null } }),
    };
    const { applied, realm } = await this.uow.write(realmId, async (tx) => {
      const realm = await tx.realms.get(realmId);
      const methods = Object.keys(AUTHENTICATION_METHODS) as AuthenticationMethod[];
      if (authenticationMethods && !methods.some((it) => authenticationMethods.get(it) ?? realm.settings[it])) {
        throw authenticationMethodRequired();
      }
      return { applied: await this.changes.configure(tx, realm, input, more, parsed), realm };
    });
    const after = { ...realm.settings, ...Object.fromEntries(authenticationMethods ?? []) };
    const canBeLoggedInTo = this.changes.logIns.canBeLoggedInTo({ ...realm, settings: after });
    return { ...(await this.changes.complete(applied)), canBeLoggedInTo };
  }
}

export interface CheckStringIdInput {
  readonly stringId: string;
}

const MIN_LENGTH = 3;

/** Validates a subdomain for form feedback: null if available, otherwise the reason (organization §3). */
export class CheckStringId {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  async execute(_caller: unknown, { stringId }: CheckStringIdInput): Promise<string | null> {
    if (stringId.length < MIN_LENGTH) return 'Subdomain needs to have length 3 or greater.';
    if (stringId.startsWith('-') || stringId.endsWith('-')) return "Subdomain cannot start or end with a '-'.";
    if (!/^[a-z0-9-]+$/.test(stringId)) return "Subdomain can only have lowercase letters, numbers, and '-'s.";
    if (await this.uow.readAcross(({ realms }) => realms.findByStringId(stringId))) {
      return 'Subdomain is already in use. Please choose a different one.';
    }
    return RESERVED_STRING_IDS.has(stringId) ? 'Subdomain reserved. Please choose a different one.' : null;
  }
}

/** Settings validated before ownership is checked (organization §2.4). */
const CHECKED_BEFORE_AUTHENTICATION: readonly RealmSettingName[] = ['defaultLanguage'];
const CHECKED_BEFORE_OWNERS: readonly RealmSettingName[] = ['videoChatProvider', 'gifRatingPolicy'];

/** Changes realm settings and permissions (organization §2). */
export class ChangeRealm {
  static readonly inject = ['unitOfWork', RealmChanges] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly changes: RealmChanges,
  ) {}

  /**
   * Applies all changes or none. The full members group follows in separate units of work (contract decision 10).
   * @throws DomainError MUST_BE_ADMINISTRATOR, MUST_BE_OWNER, NOT_PERMITTED, BAD_SETTING_VALUE, INVALID_REALM_NAME,
   * DEMO_REALM_REQUIRED, AUTHENTICATION_METHOD_REQUIRED, UNRENDERABLE_CONTENT, STALE_VALUE, and the codes of
   * `validateGroupSetting`
   */
  async execute(caller: Caller, input: ChangeRealmInput): Promise<ChangeRealmOutput> {
    const parsed = await this.changes.parseDescription(caller.realmId, input.settings.description);
    const applied = await this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(caller.realmId);
      this.check(actor, realm, input);
      return this.changes.apply(tx, realm, actor, input, parsed);
    });
    return this.changes.complete(applied);
  }

  /** Runs all checks that depend only on the request, the actor and the log-in methods (organization §2.4). */
  private check(actor: Actor, realm: Realm, input: ChangeRealmInput): void {
    const { name, stringId, settings, authenticationMethods, permissions } = input;
    enforce(canChangeRealm(actor, []));
    checkSettingValues('realm', REALM_SETTINGS, settings, CHECKED_BEFORE_AUTHENTICATION);
    if (authenticationMethods) {
      checkAuthenticationMethods(actor, authenticationMethods);
      const after = { ...realm.settings, ...Object.fromEntries(authenticationMethods.methods) };
      if (!this.changes.logIns.canBeLoggedInTo({ ...realm, settings: after })) throw authenticationMethodRequired();
    }
    this.changes.checkProvider(settings);
    checkSettingValues('realm', REALM_SETTINGS, settings, CHECKED_BEFORE_OWNERS);
    enforce(canChangeRealm(actor, [...namesOf(settings), ...namesOf(permissions)]));
    if (stringId !== undefined) {
      enforce(mustBeOwner(actor));
      throw new DomainError('DEMO_REALM_REQUIRED', 'Must be a demo organization.');
    }
    if (name !== undefined) checkRealmName(name);
  }
}

/** Checks organization §2.5. */
function checkAuthenticationMethods(actor: Actor, { methods, unknown }: AuthenticationMethodChanges): void {
  enforce(canSetAuthenticationMethods(actor));
  if (unknown !== null) throw badSettingValue('realm', 'authenticationMethods', unknown);
  if (![...methods.values()].includes(true)) {
    throw authenticationMethodRequired();
  }
}

const authenticationMethodRequired = () =>
  new DomainError('AUTHENTICATION_METHOD_REQUIRED', 'At least one authentication method must be enabled.');

/** Changes the default settings of new users; existing users are unaffected (users §6.5, organization §4). */
export class ChangeUserDefaults {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * Applies all changes or none. Settings without a realm default are ignored.
   * @throws DomainError MUST_BE_ADMINISTRATOR, BAD_SETTING_VALUE
   */
  execute(caller: Caller, requested: SettingChanges<typeof USER_SETTINGS>): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      enforce(canChangeUserDefaults(await tx.actors.get(caller)));
      await changeUserDefaults(tx, await tx.realms.get(caller.realmId), requested);
    });
  }
}

export interface DeactivateRealmInput {
  /** Days until all data of the realm is deleted; null: never. */
  readonly deletionDelayDays: number | null;
}

/** Minimum delay, reported by register. */
export const MIN_DELETION_DELAY_DAYS = 14;
const SECONDS_PER_DAY = 86_400;

/** Deactivates a realm: blocks login and all API keys. Data is kept until its deletion is due (organization §3). */
export class DeactivateRealm {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError MUST_BE_OWNER, INVALID_DELETION_DELAY */
  execute(caller: Caller, { deletionDelayDays }: DeactivateRealmInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      enforce(canDeactivateRealm(await tx.actors.get(caller)));
      if (deletionDelayDays !== null) {
        if (deletionDelayDays < MIN_DELETION_DELAY_DAYS) {
          throw new DomainError(
            'INVALID_DELETION_DELAY',
            `Data deletion time must be at least ${MIN_DELETION_DELAY_DAYS} days in the future.`,
          );
        }
      }
      const realm = await tx.realms.get(caller.realmId);
      if ((await deactivate(tx, realm)) && deletionDelayDays !== null) {
        const deletedAt = this.clock.now() + deletionDelayDays * SECONDS_PER_DAY;
        await planDeletion(tx, realm.id, Math.min(deletedAt, Number.MAX_SAFE_INTEGER));
      }
    });
  }
}

export interface SuspendRealmInput {
  readonly stringId: string;
}

/** Deactivates a realm for the operator. Returns true if it was active. */
export class SuspendRealm {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_REALM */
  execute({ stringId }: SuspendRealmInput): Promise<boolean> {
    return this.uow.writeAcross(async (tx) => deactivate(tx, await realmNamed(tx, stringId)));
  }
}

async function deactivate(tx: Transaction, realm: Realm): Promise<boolean> {
  if (realm.isDeactivated) return false;
  await tx.realms.update({ ...realm, isDeactivated: true });
  await tx.events.append(realm.id, { event: { type: 'realm.deactivated' }, audience: wholeRealm });
  return true;
}

export interface ReactivateRealmInput {
  readonly stringId: string;
}

/** Reactivates a realm for the operator and cancels its deletion. Returns true if it was deactivated. */
export class ReactivateRealm {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_REALM */
  execute({ stringId }: ReactivateRealmInput): Promise<boolean> {
    return this.uow.writeAcross(async (tx) => {
      const realm = await realmNamed(tx, stringId);
      if (realm.isDeactivated) {
        // Sessions are kept until now to report the deactivation.
        while ((await tx.sessions.removeOfRealm(realm.id, ROWS_PER_PAGE)) === ROWS_PER_PAGE);
        await tx.realms.update({ ...realm, isDeactivated: false });
        await callOffDeletion(tx, realm.id);
      }
      return realm.isDeactivated;
    });
  }
}

async function realmNamed({ realms }: Transaction, stringId: string): Promise<Realm> {
  const realm = await realms.findByStringId(stringId);
  if (!realm || !isReachable(realm)) {
    throw new DomainError('UNKNOWN_REALM', `There is no organization '${stringId}'.`);
  }
  return realm;
}

export interface GetServerSettingsInput {
  /** True if the request used the server's public URL, which belongs to no realm if there are several. */
  readonly isServerAddress: boolean;
}

export interface ServerSettings {
  /** Null at the server's public URL without a realm. */
  readonly realm: Realm | null;
  /** URL of the realm, else of the server, without a trailing slash. */
  readonly url: string;
  readonly isDevelopment: boolean;
  /** True if anonymous callers may read some channels. */
  readonly allowsSpectators: boolean;
  /** Log-in methods of external services. */
  readonly logInMethods: readonly LogInMethod[];
  /** True if some password log-ins need a second factor, which apps cannot request. */
  readonly offersBrowserLogIn: boolean;
}

/** Returns public server settings, also for deactivated realms (protocol §10). */
export class GetServerSettings {
  static readonly inject = [
    'unitOfWork',
    'realmUrls',
    'developmentMode',
    'serverChannelConfig',
    'logInProviders',
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly mode: DevelopmentMode,
    private readonly options: Pick<ServerChannelConfig, 'webPublicEnabled'>,
    private readonly providers: readonly LogInProvider[],
  ) {}

  /** @throws DomainError UNKNOWN_REALM_ADDRESS */
  async execute({ realmId }: AnonymousCaller, { isServerAddress }: GetServerSettingsInput): Promise<ServerSettings> {
    const isDevelopment = this.mode.isOn;
    if (realmId === null) {
      if (!isServerAddress) throw new DomainError('UNKNOWN_REALM_ADDRESS', 'Invalid subdomain');
      const url = this.realmUrls.urlOf(SERVER_ITSELF);
      return { realm: null, url, isDevelopment, allowsSpectators: false, logInMethods: [], offersBrowserLogIn: false };
    }
    return this.uow.read(realmId, async ({ realms, channels, secondFactors }) => {
      const realm = await realms.get(realmId);
      const { settings } = realm;
      const { webPublicEnabled } = this.options;
      return {
        realm,
        url: this.realmUrls.urlOf(realm),
        isDevelopment,
        logInMethods: offeredMethods(this.providers, realm),
        offersBrowserLogIn: settings.secondFactorRequiredFor !== 'nobody' || (await secondFactors.areUsed(realmId)),
        allowsSpectators:
          webPublicEnabled &&
          canSpectate(realm, { webPublicEnabled, hasWebPublicChannel: await channels.hasWebPublic(realmId) }).allowed,
      };
    });
  }
}
