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

/** Users §3.1: the operator grants it on top of the role. */
export function canCreateUsers(actor: Pick<Actor, 'role'>, hasSpecialPermission: boolean): Decision {
  return all(
    mustBeAdministrator(actor),
    denyIf(!hasSpecialPermission, 'SPECIAL_PERMISSION_REQUIRED', 'User not authorized to create users'),
  );
}

/** Which users an operation is for at all. */
export interface TargetKinds {
  readonly allowDeactivated?: boolean;
  readonly allowBots?: boolean;
}

/** The target of an operation: looked up in the realm, so system bots are not found. Null: there is none (users §0). */
function isTarget(user: User | null, { allowDeactivated = false, allowBots = false }: TargetKinds): Decision {
  return all(
    denyIf(user === null || (user.bot !== null && (user.bot.isSystem || !allowBots)), 'UNKNOWN_USER', 'No such user'),
    denyIf(user !== null && !user.isActive && !allowDeactivated, 'NAMED_USER_DEACTIVATED', 'User is deactivated'),
  );
}

/** The access routine for reading (users §0 rows 1, 2 and 4). */
export function canAccessUser(
  actor: Pick<Actor, 'id' | 'role' | 'groups'>,
  user: User | null,
  access: UserAccess & TargetKinds,
): Decision {
  return all(isTarget(user, access), insufficientUnless(user !== null && mayAccessUser(actor, user, access)));
}

/** The access routine for changing (users §0 rows 1–3): administrators, and owners of the bot. */
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

/** Whatever it changes; bots' owners have an operation of their own (users §3.2). */
export const canUpdateUsers = mustBeAdministrator;

/**
 * Users §3.2, role rules; owners of bots come here too (users §15), so it is asked for the owner first. `isOnlyOwner`: as
 * `isOnlyOwner` answers of the target.
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

/** On top of owning the organization the operator has to grant it (users §3.2). */
export function canChangeEmail(actor: Pick<Actor, 'role'>, hasSpecialPermission: boolean): Decision {
  return all(
    mustBeOwner(actor),
    denyIf(!hasSpecialPermission, 'SPECIAL_PERMISSION_REQUIRED', 'User not authorized to change user emails'),
  );
}

/** Somebody else, and no bot (users §4.1). */
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

/** Oneself (users §4.2). `isLastActive`: nobody else is active, bots included. */
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

/** Whether nobody but this user keeps the organization: of those who are active and people, the only owner. */
export const isOnlyOwner = (id: UserId, users: Iterable<Pick<User, 'id' | 'role' | 'isActive' | 'bot'>>): boolean =>
  isAlone(id, users, (user) => user.role === 'owner' && user.bot === null);

/** Whether this user is the last who is active, bots of users included (users §4.2). */
export const isLastActive = (id: UserId, users: Iterable<Pick<User, 'id' | 'isActive' | 'bot'>>): boolean =>
  isAlone(id, users, (user) => user.bot?.isSystem !== true);

/** `users`: of the organization. */
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

/** Users §4.3. A bot comes back only at the hands of somebody who could make one like it, and under a name of its own. */
export function canReactivateUser(
  actor: Pick<Actor, 'id' | 'role' | 'groups'>,
  realm: Pick<Realm, 'permissions'>,
  user: User | null,
  /** Asked only of bots: as `isBotNameTaken` answers. */
  isNameTaken: boolean,
): Decision {
  return all(
    canAdministerUser(actor, user, { allowDeactivated: true, allowBots: true }),
    user?.bot == null
      ? allowed
      : all(mayCreateBotOfKind(actor, realm, user.bot.kind), hasBotNameForItself(user, isNameTaken)),
  );
}

const hasBotNameForItself = (bot: User, isNameTaken: boolean): Decision =>
  denyIf(
    isNameTaken,
    'BOT_NAME_TAKEN',
    `There is already an active bot named "${bot.fullName}" in this organization. To reactivate this bot, you must rename or deactivate the other one first.`,
  );

/** Whether another bot that is active has exactly the bot's name (users §4.3). */
export const isBotNameTaken = (
  { id, fullName }: Pick<User, 'id' | 'fullName'>,
  users: Iterable<Pick<User, 'id' | 'fullName' | 'isActive' | 'bot'>>,
): boolean => {
  for (const user of users) {
    if (user.id !== id && user.isActive && user.bot !== null && user.fullName === fullName) return true;
  }
  return false;
};

/** Users §15. */
export function canCreateBot(
  actor: Pick<Actor, 'role' | 'groups' | 'isBot'>,
  realm: Pick<Realm, 'permissions'>,
  kind: BotKind,
): Decision {
  return all(mustNotBeGuest(actor), mustBeHuman(actor), mayCreateBotOfKind(actor, realm, kind));
}

/** Incoming webhooks only write: for them there is a permission of its own, which is less. */
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
 * Its name, owner, key, settings, and that it is at all: users §15. A bot that may create users is for owners, and showing
 * its key is no less than changing it (contract decision 26).
 */
export function canAdministerBot(actor: Pick<Actor, 'id' | 'role'>, bot: User | null): Decision {
  return all(
    denyIf(bot?.bot == null || bot.bot.isSystem, 'UNKNOWN_BOT', 'No such bot'),
    insufficientUnless(isAdministrator(actor) || bot?.bot?.ownerId === actor.id),
    bot?.specialPermissions.includes('canCreateUsers') ? mustBeOwner(actor) : allowed,
  );
}

/** Users §15: whom a bot may be given to. Null: there is no such user. */
export function canOwnBots(user: User | null): Decision {
  return all(
    denyIf(user === null, 'UNKNOWN_USER', 'Failed to change owner, no such user'),
    denyIf(user?.isActive === false, 'NAMED_USER_DEACTIVATED', 'Failed to change owner, user is deactivated'),
    denyIf(user?.bot != null, 'BOT_CANNOT_OWN_BOTS', "Failed to change owner, bots can't own other bots"),
  );
}

/** One's own. The request to change it is ignored, not refused, where one may not (users §6.2). */
export const mayChangeOwnName = (actor: Pick<Actor, 'role'>, realm: Pick<Realm, 'settings'>): boolean =>
  isAdministrator(actor) || !realm.settings.nameChangesDisabled;

/** One's own (users §6.2). */
export const canChangeOwnEmail = (actor: Pick<Actor, 'role'>, realm: Pick<Realm, 'settings'>): Decision =>
  denyIf(
    !isAdministrator(actor) && realm.settings.emailChangesDisabled,
    'EMAIL_CHANGES_DISABLED',
    'Email address changes are disabled in this organization.',
  );

/** One's own (users §11). */
export const canChangeOwnAvatar = (actor: Pick<Actor, 'role'>, realm: Pick<Realm, 'settings'>): Decision =>
  denyIf(
    !isAdministrator(actor) && realm.settings.avatarChangesDisabled,
    'AVATAR_CHANGES_DISABLED',
    'Avatar changes are disabled in this organization.',
  );

/** Settings of others, many users at a time (users §6.3 rows 1–3). */
export function canChangeSettingsOfOthers(
  actor: Pick<Actor, 'role'>,
  request: {
    /** Whether a user or a group is named at all. */
    readonly namesSomebody: boolean;
    /** Settings by their names in the registry. */
    readonly settings: readonly (keyof UserSettings)[];
    /** Whether it asks for another address or password too. */
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

/** As `isOnlyOwner` answers, of those who are owners now: costs by their number. */
export async function isOnlyOwnerOf(
  { groups, users }: Pick<Repositories | Transaction, 'groups' | 'users'>,
  realmId: RealmId,
  id: UserId,
): Promise<boolean> {
  const { owners } = await groups.systemGroupIds(realmId);
  return isOnlyOwner(id, await users.list(realmId, await groups.listDirectMembers(realmId, owners)));
}
