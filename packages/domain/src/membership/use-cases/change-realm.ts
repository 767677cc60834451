import type { Actor } from '../../access/actor.js';
import { mustBeOwner } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import { enforce } from '../../kernel/permission.js';
import { badSettingValue, checkSettingValues } from '../../kernel/settings.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canChangeRealm, canSetAuthenticationMethods } from '../../realms/realm-permissions.js';
import { REALM_SETTINGS, type RealmSettingName } from '../../realms/realm-settings.js';
import { checkRealmName } from '../add-realm.js';
import {
  type AuthenticationMethodChanges,
  type ChangeRealmInput,
  type ChangeRealmOutput,
  namesOf,
  RealmChanges,
} from '../realm-changes.js';

/** Values that are looked at before anything is asked about owners (organization §2.4). */
const CHECKED_BEFORE_AUTHENTICATION: readonly RealmSettingName[] = ['defaultLanguage'];
const CHECKED_BEFORE_OWNERS: readonly RealmSettingName[] = ['videoChatProvider', 'gifRatingPolicy'];

/** Settings of the organization and what it lets groups do (organization §2). */
export class ChangeRealm {
  static readonly inject = ['unitOfWork', RealmChanges] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly changes: RealmChanges,
  ) {}

  /**
   * All or nothing.
   * @throws DomainError MUST_BE_ADMINISTRATOR, MUST_BE_OWNER, NOT_PERMITTED, BAD_SETTING_VALUE, INVALID_REALM_NAME,
   * DEMO_REALM_REQUIRED, AUTHENTICATION_METHOD_REQUIRED, UNRENDERABLE_CONTENT, STALE_VALUE, and values of permissions as
   * `validateGroupSetting` does
   */
  async execute(caller: Caller, input: ChangeRealmInput): Promise<ChangeRealmOutput> {
    const parsed = await this.changes.parseDescription(caller.realmId, input.settings.description);
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(caller.realmId);
      this.check(actor, input);
      return this.changes.apply(tx, realm, actor, input, parsed);
    });
  }

  /** Everything that needs no more than the request (organization §2.4). */
  private check(actor: Actor, input: ChangeRealmInput): void {
    const { name, stringId, settings, authenticationMethods, permissions } = input;
    enforce(canChangeRealm(actor, []));
    checkSettingValues('realm', REALM_SETTINGS, settings, CHECKED_BEFORE_AUTHENTICATION);
    if (authenticationMethods) checkAuthenticationMethods(actor, authenticationMethods);
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

/** Organization §2.5. */
function checkAuthenticationMethods(actor: Actor, { methods, unknown }: AuthenticationMethodChanges): void {
  enforce(canSetAuthenticationMethods(actor));
  if (unknown !== null) throw badSettingValue('realm', 'authenticationMethods', unknown);
  if (![...methods.values()].includes(true)) {
    throw new DomainError('AUTHENTICATION_METHOD_REQUIRED', 'At least one authentication method must be enabled.');
  }
}
