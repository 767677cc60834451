import {
  type Actor,
  insufficientUnless,
  isAdministrator,
  mustBeAdministrator,
  mustBeOwner,
  mustNotBeGuest,
} from '../access/actor.js';
import { isGranted, type PermissionHolder } from '../access/group-settings.js';
import type { UserId } from '../kernel/ids.js';
import { all, allowed, type Decision, denyIf } from '../kernel/permission.js';
import type { Realm } from './realm.js';
import {
  REALM_PERMISSIONS,
  REALM_SETTINGS,
  type RealmPermission,
  type RealmSettingDefinition,
  type RealmSettingName,
} from './realm-settings.js';

/** What permissions of the organization are read from. */
export type RealmRights = Pick<Realm, 'permissions'>;

/** What the organization lets groups do (channels §3.5). */
export function hasRealmPermission(actor: PermissionHolder, realm: RealmRights, permission: RealmPermission): boolean {
  return isGranted(actor, realm.permissions[permission], REALM_PERMISSIONS[permission]);
}

const ROWS = { ...REALM_SETTINGS, ...REALM_PERMISSIONS };

/** Organization §2. Settings of the registry by name; asked once with all that a request names, changed or not. */
export function canChangeRealm(
  actor: Pick<Actor, 'role'>,
  names: readonly (RealmSettingName | RealmPermission)[],
): Decision {
  const isFor = (who: RealmSettingDefinition['changedBy']) => names.some((name) => ROWS[name].changedBy === who);
  return all(
    mustBeAdministrator(actor),
    isFor('owners') ? mustBeOwner(actor) : allowed,
    insufficientUnless(!isFor('nobody')),
  );
}

/** A channel that the organization's notices shall go to: any, since administrators know of all (organization §2.3). */
export const canUseForNotices = mustBeAdministrator;

/** How people sign in (organization §2.1). */
export const canSetAuthenticationMethods = (actor: Pick<Actor, 'role'>): Decision =>
  all(mustBeAdministrator(actor), mustBeOwner(actor));

/** Organization §3. */
export const canDeactivateRealm = mustBeOwner;
/** Organization §3. */
export const canChangeBranding = mustBeAdministrator;
/** Which addresses may join (organization §5). */
export const canManageDomains = mustBeOwner;
/** Organization §6. */
export const canManageLinkifiers = mustBeAdministrator;
/** Organization §7. */
export const canManagePlaygrounds = mustBeAdministrator;
/** Organization §4. */
export const canChangeUserDefaults = mustBeAdministrator;

/** Organization §8. */
export const canExport = mustBeAdministrator;

/** Everything that was said in private, whoever agreed: an owner, where the operator allows it at all (organization §8). */
export const canExportWithoutConsent = (actor: Pick<Actor, 'role'>, { settings }: Pick<Realm, 'settings'>): Decision =>
  all(mustBeOwner(actor), insufficientUnless(settings.ownerFullContentAccess));

/** Organization §7. */
export function canAddCustomEmoji(actor: PermissionHolder, realm: Pick<Realm, 'permissions'>): Decision {
  return all(mustNotBeGuest(actor), insufficientUnless(hasRealmPermission(actor, realm, 'canAddCustomEmoji')));
}

/** A name that a standard emoji has is the administrators' to give to another picture (organization §7). */
export const canOverrideDefaultEmoji = (actor: Pick<Actor, 'role'>, isDefaultName: boolean): Decision =>
  denyIf(
    isDefaultName && !isAdministrator(actor),
    'CANNOT_OVERRIDE_EMOJI',
    'Only administrators can override default emoji.',
  );

/** Organization §7. `authorId`: null where none is recorded. */
export function canRemoveCustomEmoji(actor: Pick<Actor, 'id' | 'role'>, authorId: UserId | null): Decision {
  return denyIf(
    !isAdministrator(actor) && authorId !== actor.id,
    'NOT_EMOJI_AUTHOR',
    'Must be an organization administrator or emoji author',
  );
}
