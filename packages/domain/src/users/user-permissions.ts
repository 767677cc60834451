import {
  type Actor,
  insufficientUnless,
  isAdministrator,
  mustBeAdministrator,
  mustBeHuman,
  mustBeOwner,
  mustNotBeGuest,
} from '../access/actor.js';
import { isAtLeast, type Role } from '../access/roles.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { all, allowed, type Decision, denyIf } from '../kernel/permission.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { hasRealmPermission } from '../realms/realm-permissions.js';
import { USER_SETTINGS, type UserSettings } from '../realms/user-settings.js';
import { mayAccessUser, type UserAccess } from './accessible-users.js';
import type { BotKind, User } from './user.js';

/** Requires a permission granted by the operator in addition to the role (users §3.1). */
export function canCreateUsers(actor: Pick<Actor, 'role'>, hasSpecialPermission: boolean): Decision {
  return all(
    mustBeAdministrator(actor),
    denyIf(!hasSpecialPermission, 'SPECIAL_PERMISSION_REQUIRED', 'User not authorized to create users'),
  );
}

/** Kinds of users that an operation accepts. */
export interface TargetKinds {
  readonly allowDeactivated?: boolean;
  readonly allowBots?: boolean;
}

/**
 * Checks the target of an operation. Lookups in the realm do not find system bots. Null stands for an unknown user
 * (users §0).
 */
function isTarget(user: User | null, { allowDeactivated = false, allowBots = false }: TargetKinds): Decision {
  return all(
    denyIf(user === null || (user.bot !== null && (user.bot.isSystem || !allowBots)), 'UNKNOWN_USER', 'No such user'),
    denyIf(user !== null && !user.isActive && !allowDeactivated, 'NAMED_USER_DEACTIVATED', 'User is deactivated'),
  );
}

/** Checks read access to a user (users §0 rows 1, 2 and 4). */
export function canAccessUser(
  actor: Pick<Actor, 'id' | 'role' | 'groups'>,
  user: User | null,
  access: UserAccess & TargetKinds,
): Decision {
  return all(isTarget(user, access), insufficientUnless(user !== null && mayAccessUser(actor, user, access)));
}

/** Checks write access to a user: administrators, and the owner of a bot (users §0 rows 1–3). */
export function canAdministerUser(
  actor: Pick<Actor, 'id' | 'role'>,
  user: User | null,
  kinds: TargetKinds = {},
): Decision {
  return all(
    isTarget(user, kinds),
    insufficientUnless(isAdministrator(actor) || (user?.bot != null && user.bot.ownerId === actor.id)),
  );
}

/** Checks permission for any update; bot owners have a separate operation (users §3.2). */
export const canUpdateUsers = mustBeAdministrator;

/** Checks permission to end another user's sessions: administrators may, but only owners may end those of an owner. */
export const canEndSessions = (actor: Actor, user: User | null): Decision =>
  all(canAdministerUser(actor, user, { allowDeactivated: true }), user === null ? allowed : hasRightsOf(actor, user));

/**
 * Checks a role change (users §3.2). Bot owners use it, too (users §15), so the owner rule comes first. `isOnlyOwner`:
 * result of `isOnlyOwner` for the target.
 */
export function canChangeRole(
  actor: Pick<Actor, 'role'>,
  target: Pick<User, 'role'>,
  role: Role,
  isOnlyOwner: boolean,
): Decision {
  if (role === target.role) return allowed;
  return all(
    role === 'owner' || target.role === 'owner' ? mustBeOwner(actor) : allowed,
    mustBeAdministrator(actor),
    denyIf(
      target.role === 'owner' && isOnlyOwner,
      'LAST_OWNER',
      'The owner permission cannot be removed from the only organization owner.',
    ),
    denyIf(
      target.role === 'guest' && isAtLeast(role, 'administrator'),
      'GUEST_CANNOT_ADMINISTER',
      'Guests cannot be organization administrators',
    ),
  );
}

/** Requires an owner with a permission granted by the operator (users §3.2). */
export function canChangeEmail(actor: Pick<Actor, 'role'>, hasSpecialPermission: boolean): Decision {
  return all(
    mustBeOwner(actor),
    denyIf(!hasSpecialPermission, 'SPECIAL_PERMISSION_REQUIRED', 'User not authorized to change user emails'),
  );
}

/** Checks deactivation of another human user (users §4.1). */
export function canDeactivateUser(
  actor: Pick<Actor, 'id' | 'role'>,
  user: User | null,
  isOnlyOwner: boolean,
): Decision {
  return all(
    isTarget(user, {}),
    insufficientUnless(isAdministrator(actor)),
    user?.role === 'owner' ? mustBeOwner(actor) : allowed,
    denyIf(user?.role === 'owner' && isOnlyOwner, 'LAST_OWNER', 'Cannot deactivate the only organization owner'),
  );
}

/** Checks deactivation of oneself (users §4.2). `isLastActive`: no other user, including bots, is active. */
export function canDeactivateSelf(
  actor: Pick<Actor, 'role'>,
  { isLastActive, isOnlyOwner }: { readonly isLastActive: boolean; readonly isOnlyOwner: boolean },
): Decision {
  const isLastOwner = actor.role === 'owner' && isOnlyOwner;
  return all(
    denyIf(isLastActive, 'CANNOT_DEACTIVATE_LAST_USER', 'Cannot deactivate the only user.', {
      isLastOwner: false,
      entity: 'user',
    }),
    denyIf(isLastOwner, 'CANNOT_DEACTIVATE_LAST_USER', 'Cannot deactivate the only organization owner.', {
      isLastOwner: true,
      entity: 'organization owner',
    }),
  );
}

/** True if this user is the only active human owner. */
export const isOnlyOwner = (id: UserId, users: Iterable<Pick<User, 'id' | 'role' | 'isActive' | 'bot'>>): boolean =>
  isAlone(id, users, (user) => user.role === 'owner' && user.bot === null);

/** True if this is the last active user, counting bots except system bots (users §4.2). */
export const isLastActive = (id: UserId, users: Iterable<Pick<User, 'id' | 'isActive' | 'bot'>>): boolean =>
  isAlone(id, users, (user) => user.bot?.isSystem !== true);

/** `users`: all users of the realm. */
function isAlone<T extends Pick<User, 'id' | 'isActive'>>(
  id: UserId,
  users: Iterable<T>,
  counts: (user: T) => boolean,
): boolean {
  let isThere = false;
  for (const user of users) {
    if (!user.isActive || !counts(user)) continue;
    if (user.id !== id) return false;
    isThere = true;
  }
  return isThere;
}

/** Checks reactivation (users §4.3). A bot requires an actor who may create such a bot, and a unique name. */
export function canReactivateUser(
  actor: Pick<Actor, 'id' | 'role' | 'groups'>,
  realm: Pick<Realm, 'permissions'>,
  user: User | null,
  /** Result of `isBotNameTaken`; relevant only for bots. */
  isNameTaken: boolean,
): Decision {
  return all(
    canAdministerUser(actor, user, { allowDeactivated: true, allowBots: true }),
    user?.bot == null
      ? allowed
      : all(
          hasRightsOf(actor, user),
          mayCreateBotOfKind(actor, realm, user.bot.kind),
          hasBotNameForItself(user, isNameTaken),
        ),
  );
}

const hasBotNameForItself = (bot: User, isNameTaken: boolean): Decision =>
  denyIf(
    isNameTaken,
    'BOT_NAME_TAKEN',
    `There is already an active bot named "${bot.fullName}" in this organization. To reactivate this bot, you must rename or deactivate the other one first.`,
  );

/** True if another active bot has exactly this name (users §4.3). */
export const isBotNameTaken = (
  { id, fullName }: Pick<User, 'id' | 'fullName'>,
  users: Iterable<Pick<User, 'id' | 'fullName' | 'isActive' | 'bot'>>,
): boolean => {
  for (const user of users) {
    if (user.id !== id && user.isActive && user.bot !== null && user.fullName === fullName) return true;
  }
  return false;
};

/** Checks permission to create a bot (users §15). */
export function canCreateBot(
  actor: Pick<Actor, 'role' | 'groups' | 'isBot'>,
  realm: Pick<Realm, 'permissions'>,
  kind: BotKind,
): Decision {
  return all(mustNotBeGuest(actor), mustBeHuman(actor), mayCreateBotOfKind(actor, realm, kind));
}

/** Incoming webhooks can only write, so a separate, weaker permission suffices. */
function mayCreateBotOfKind(
  actor: Pick<Actor, 'role' | 'groups'>,
  realm: Pick<Realm, 'permissions'>,
  kind: BotKind,
): Decision {
  return insufficientUnless(
    hasRealmPermission(actor, realm, 'canCreateBots') ||
      (kind === 'incomingWebhook' && hasRealmPermission(actor, realm, 'canCreateWriteOnlyBots')),
  );
}

/**
 * Requires the rights of the bot's role, so that users cannot control a bot with more rights than their own (users
 * §15).
 */
export function hasRightsOf(actor: Pick<Actor, 'role'>, bot: Pick<User, 'role'>): Decision {
  if (bot.role === 'owner') return mustBeOwner(actor);
  if (bot.role === 'administrator') return mustBeAdministrator(actor);
  return insufficientUnless(isAtLeast(actor.role, bot.role));
}

/**
 * Checks permission to manage a bot's name, owner, key, settings and existence (users §15). Bots that may create
 * users require an owner. Showing the key counts as changing it (contract decision 26).
 */
export function canAdministerBot(actor: Pick<Actor, 'id' | 'role'>, bot: User | null): Decision {
  return all(
    denyIf(bot?.bot == null || bot.bot.isSystem, 'UNKNOWN_BOT', 'No such bot'),
    insufficientUnless(isAdministrator(actor) || bot?.bot?.ownerId === actor.id),
    bot === null ? allowed : hasRightsOf(actor, bot),
    bot?.specialPermissions.includes('canCreateUsers') ? mustBeOwner(actor) : allowed,
  );
}

/** Checks if a user may own bots (users §15). Null stands for an unknown user. */
export function canOwnBots(user: User | null): Decision {
  return all(
    denyIf(user === null, 'UNKNOWN_USER', 'Failed to change owner, no such user'),
    denyIf(user?.isActive === false, 'NAMED_USER_DEACTIVATED', 'Failed to change owner, user is deactivated'),
    denyIf(user?.bot != null, 'BOT_CANNOT_OWN_BOTS', "Failed to change owner, bots can't own other bots"),
  );
}

/**
 * True if the actor may change their own name. A request without permission is ignored instead of rejected (users
 * §6.2).
 */
export const mayChangeOwnName = (actor: Pick<Actor, 'role'>, realm: Pick<Realm, 'settings'>): boolean =>
  isAdministrator(actor) || !realm.settings.nameChangesDisabled;

/** Checks permission to change one's own email (users §6.2). */
export const canChangeOwnEmail = (actor: Pick<Actor, 'role'>, realm: Pick<Realm, 'settings'>): Decision =>
  denyIf(
    !isAdministrator(actor) && realm.settings.emailChangesDisabled,
    'EMAIL_CHANGES_DISABLED',
    'Email address changes are disabled in this organization.',
  );

/** Checks permission to change one's own avatar (users §11). */
export const canChangeOwnAvatar = (actor: Pick<Actor, 'role'>, realm: Pick<Realm, 'settings'>): Decision =>
  denyIf(
    !isAdministrator(actor) && realm.settings.avatarChangesDisabled,
    'AVATAR_CHANGES_DISABLED',
    'Avatar changes are disabled in this organization.',
  );

/** Checks changing settings of several other users (users §6.3 rows 1–3). */
export function canChangeSettingsOfOthers(
  actor: Pick<Actor, 'role'>,
  request: {
    /** True if the request names a user or group. */
    readonly namesSomebody: boolean;
    /** Setting names in the registry. */
    readonly settings: readonly (keyof UserSettings)[];
    /** True if the request also changes the email or password. */
    readonly changesAccount: boolean;
  },
): Decision {
  return all(
    denyIf(!request.namesSomebody, 'NO_TARGET_USERS', 'Neither users nor groups are named.'),
    mustBeAdministrator(actor),
    denyIf(
      request.changesAccount || request.settings.some((name) => USER_SETTINGS[name].othersWhoMayChange === 'nobody'),
      'SETTING_NOT_FOR_OTHERS',
      'Cannot change this setting for other users.',
    ),
  );
}

/** Evaluates `isOnlyOwner` for the current owners. The cost depends on their number. */
export async function isOnlyOwnerOf(
  { groups, users }: Pick<Repositories | Transaction, 'groups' | 'users'>,
  realmId: RealmId,
  id: UserId,
): Promise<boolean> {
  const { owners } = await groups.systemGroupIds(realmId);
  return isOnlyOwner(id, await users.list(realmId, await groups.listDirectMembers(realmId, owners)));
}
