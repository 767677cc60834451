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

/** Realm data needed to check permissions. */
export type RealmRights = Pick<Realm, 'permissions'>;

/** Checks a permission of the realm (channels §3.5). */
export function hasRealmPermission(actor: PermissionHolder, realm: RealmRights, permission: RealmPermission): boolean {
  return isGranted(actor, realm.permissions[permission], REALM_PERMISSIONS[permission]);
}

const ROWS = { ...REALM_SETTINGS, ...REALM_PERMISSIONS };

/**
 * Checks permission to change settings (organization §2). Call once with all requested setting names, changed or not.
 */
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

/** Checks permission to change login methods (organization §2.1). */
export const canSetAuthenticationMethods = (actor: Pick<Actor, 'role'>): Decision =>
  all(mustBeAdministrator(actor), mustBeOwner(actor));

/** Implements organization §3. */
export const canDeactivateRealm = mustBeOwner;
/** Implements organization §3. */
export const canChangeBranding = mustBeAdministrator;
/** Checks permission to restrict email domains (organization §5). */
export const canManageDomains = mustBeOwner;
/** Checks permission to manage linkifiers (organization §6). */
export const canManageLinkifiers = mustBeAdministrator;
/** Implements organization §7. */
export const canManagePlaygrounds = mustBeAdministrator;
/** Checks permission to change user defaults (organization §4). */
export const canChangeUserDefaults = mustBeAdministrator;

/** Implements organization §8. */
export const canExport = mustBeAdministrator;

/** Lets owners export all private data without consent if the operator enables it (organization §8). */
export const canExportWithoutConsent = (actor: Pick<Actor, 'role'>, { settings }: Pick<Realm, 'settings'>): Decision =>
  all(mustBeOwner(actor), insufficientUnless(settings.ownerFullContentAccess));

/** Implements organization §7. */
export function canAddCustomEmoji(actor: PermissionHolder, realm: Pick<Realm, 'permissions'>): Decision {
  return all(mustNotBeGuest(actor), insufficientUnless(hasRealmPermission(actor, realm, 'canAddCustomEmoji')));
}

/** Restricts overriding the name of a standard emoji to administrators (organization §7). */
export const canOverrideDefaultEmoji = (actor: Pick<Actor, 'role'>, isDefaultName: boolean): Decision =>
  denyIf(
    isDefaultName && !isAdministrator(actor),
    'CANNOT_OVERRIDE_EMOJI',
    'Only administrators can override default emoji.',
  );

/** Checks removal of a custom emoji (organization §7). `authorId`: null if not recorded. */
export function canRemoveCustomEmoji(actor: Pick<Actor, 'id' | 'role'>, authorId: UserId | null): Decision {
  return denyIf(
    !isAdministrator(actor) && authorId !== actor.id,
    'NOT_EMOJI_AUTHOR',
    'Must be an organization administrator or emoji author',
  );
}
