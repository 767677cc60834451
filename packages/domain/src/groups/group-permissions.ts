import { type Actor, insufficientUnless, mustNotBeGuest } from '../access/actor.js';
import type { GroupEdge } from '../access/group-closure.js';
import { isGranted, type PermissionHolder } from '../access/group-settings.js';
import type { Channel, ChannelPermission } from '../channels/channel.js';
import { declareErrors } from '../kernel/errors.js';
import type { ChannelId, GroupId, UserId } from '../kernel/ids.js';
import { all, allowed, type Decision, denied, denyIf } from '../kernel/permission.js';
import { hasRealmPermission, type RealmRights } from '../realms/realm-permissions.js';
import type { RealmPermission } from '../realms/realm-settings.js';
import { GROUP_PERMISSIONS, type Group, type GroupPermission } from './group.js';

export const GROUP_ERRORS = declareErrors({
  /** The group does not exist. */
  UNKNOWN_GROUP: 'unknown',
  /** The group is deactivated. */
  GROUP_DEACTIVATED: 'conflict',
  /** Empty, too long, or with a reserved prefix. */
  INVALID_GROUP_NAME: 'invalid',
  /** Another group has the name. */
  GROUP_NAME_TAKEN: 'conflict',
  /** The user is already a member. */
  ALREADY_GROUP_MEMBER: 'conflict',
  /** The user is not a member. */
  NOT_GROUP_MEMBER: 'conflict',
  /** The group is already a subgroup. */
  ALREADY_SUBGROUP: 'conflict',
  /** The group is not a subgroup. */
  NOT_SUBGROUP: 'conflict',
  /** The caller may not mention the group. */
  CANNOT_MENTION_GROUP: 'forbidden',
  /** The group is in use; `objections`, a list of `GroupUse`. */
  CANNOT_DEACTIVATE_GROUP_IN_USE: 'conflict',
  /** The request contains no change of the group; `of`. */
  NO_GROUP_CHANGE: 'invalid',
  /** The organization has too many groups, including system and deactivated ones. */
  TOO_MANY_GROUPS: 'conflict',
  /** The organization's groups, except system groups, have too many direct members in total. */
  TOO_MANY_MEMBERSHIPS: 'conflict',
});

type GroupErrors = typeof GROUP_ERRORS;

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends GroupErrors {}

  interface ErrorDetails {
    /** Kind of change the request could contain. */
    NO_GROUP_CHANGE: { readonly of: 'group' | 'members' | 'subgroups' };
    CANNOT_DEACTIVATE_GROUP_IN_USE: { readonly objections: readonly GroupUse[] };
  }
}

/** Permissions of a group (channels §3.6); always false for anonymous groups. */
export const hasGroupPermission = (
  actor: PermissionHolder,
  group: Pick<Group, 'permissions'>,
  permission: GroupPermission,
): boolean =>
  group.permissions !== null && isGranted(actor, group.permissions[permission], GROUP_PERMISSIONS[permission]);

/** Checks read access to a named group addressed by id; null means that no such group exists (users §12.2, §12.3). */
export function canAccessGroup(group: Group | null, { allowDeactivated = false } = {}): Decision {
  return all(
    denyIf(group === null || group.name === null, 'UNKNOWN_GROUP', 'Invalid user group'),
    denyIf(group?.isDeactivated === true && !allowDeactivated, 'GROUP_DEACTIVATED', 'User group is deactivated.'),
  );
}

/**
 * Implements `may(group, setting)` of users §12.2: any of the listed permissions, or the right to manage this group or
 * all groups.
 */
function may(
  actor: PermissionHolder,
  realm: RealmRights,
  group: Group | null,
  permissions: readonly GroupPermission[],
  allowDeactivated: boolean,
): Decision {
  const mayChange =
    group !== null &&
    group.systemName === null &&
    (hasRealmPermission(actor, realm, 'canManageAllGroups') ||
      hasGroupPermission(actor, group, 'canManage') ||
      permissions.some((permission) => hasGroupPermission(actor, group, permission)));
  return all(mustNotBeGuest(actor), canAccessGroup(group, { allowDeactivated }), insufficientUnless(mayChange));
}

/** Implements users §12.3. */
export function canCreateGroup(actor: PermissionHolder, realm: RealmRights): Decision {
  return all(mustNotBeGuest(actor), insufficientUnless(hasRealmPermission(actor, realm, 'canCreateGroups')));
}

/** Covers name, description, permissions and reactivation; deactivated groups are allowed (users §12.3). */
export const canManageGroup = (actor: PermissionHolder, realm: RealmRights, group: Group | null): Decision =>
  may(actor, realm, group, [], true);

/** Allows deactivation; `canDeactivateUnused` then rejects groups in use (users §12.3). */
export const canDeactivateGroup = (actor: PermissionHolder, realm: RealmRights, group: Group | null): Decision =>
  may(actor, realm, group, [], false);

/** Applies the weaker rule for joining if the actor adds only themselves (users §12.4). */
export function canAddMembers(
  actor: PermissionHolder & Pick<Actor, 'id'>,
  realm: RealmRights,
  group: Group | null,
  userIds: readonly UserId[],
): Decision {
  return may(actor, realm, group, isOnly(userIds, actor.id) ? ['canJoin', 'canAddMembers'] : ['canAddMembers'], true);
}

/** Applies the weaker rule for leaving if the actor removes only themselves (users §12.4). */
export function canRemoveMembers(
  actor: PermissionHolder & Pick<Actor, 'id'>,
  realm: RealmRights,
  group: Group | null,
  userIds: readonly UserId[],
): Decision {
  return may(
    actor,
    realm,
    group,
    isOnly(userIds, actor.id) ? ['canLeave', 'canRemoveMembers'] : ['canRemoveMembers'],
    true,
  );
}

/** Implements users §12.4. Groups of an invitation follow the same rule but must be active (organization §9.1). */
export const canAddSubgroups = (actor: PermissionHolder, realm: RealmRights, group: Group | null): Decision =>
  may(actor, realm, group, ['canAddMembers'], true);

/** Implements users §12.4. */
export const canRemoveSubgroups = (actor: PermissionHolder, realm: RealmRights, group: Group | null): Decision =>
  may(actor, realm, group, [], true);

/** Checks permission to add new users to the group (organization §9.1 row 9). */
export const canInviteIntoGroup = (actor: PermissionHolder, realm: RealmRights, group: Group | null): Decision =>
  may(actor, realm, group, ['canAddMembers'], false);

/** Implements messages §3.2 row 20 for a named group. */
export function canMentionGroup(actor: PermissionHolder, group: Pick<Group, 'name' | 'permissions'>): Decision {
  return denyIf(
    !hasGroupPermission(actor, group, 'canMention'),
    'CANNOT_MENTION_GROUP',
    `You are not allowed to mention user group '${group.name}'.`,
  );
}

/**
 * Implements users §12.4, part `add`, after the permission check. `activeIds` lists active users of the realm. Reports
 * the first invalid user in the list.
 */
export function canBecomeMembers(
  userIds: readonly UserId[],
  activeIds: ReadonlySet<UserId>,
  memberIds: ReadonlySet<UserId>,
): Decision {
  const member = userIds.find((id) => memberIds.has(id));
  return all(
    areUsers(userIds, activeIds),
    member === undefined ? allowed : denied('ALREADY_GROUP_MEMBER', `User ${member} is already a member of this group`),
  );
}

/** Implements users §12.1 and §12.4. Runs before the permission check when members are removed, otherwise after it. */
export function areUsers(userIds: readonly UserId[], activeIds: ReadonlySet<UserId>): Decision {
  const unknown = userIds.find((id) => !activeIds.has(id));
  return unknown === undefined ? allowed : denied('UNKNOWN_USER', `Invalid user ID: ${unknown}`);
}

/** Implements users §12.4, part `delete`, after the permission check. Covers direct members only. */
export function areMembers(userIds: readonly UserId[], memberIds: ReadonlySet<UserId>): Decision {
  const nonMember = userIds.find((id) => !memberIds.has(id));
  return nonMember === undefined
    ? allowed
    : denied('NOT_GROUP_MEMBER', `There is no member '${nonMember}' in this user group`);
}

/** Checks subgroups named by id; unknown groups are absent. System groups are allowed (users §12.4). */
export function areSubgroupCandidates(ids: readonly GroupId[], groups: ReadonlyMap<GroupId, Group>): Decision {
  const unknown = ids.find((id) => (groups.get(id)?.name ?? null) === null);
  return all(
    unknown === undefined ? allowed : denied('UNKNOWN_GROUP', `Invalid user group ID: ${unknown}`),
    denyIf(
      ids.some((id) => groups.get(id)?.isDeactivated === true),
      'GROUP_DEACTIVATED',
      'User group is deactivated.',
    ),
  );
}

/** Implements users §12.4, part `add_subgroups`, before the check for cycles (`staysAcyclic`). */
export function canBecomeSubgroups(ids: readonly GroupId[], subgroupIds: ReadonlySet<GroupId>): Decision {
  const present = ids.find((id) => subgroupIds.has(id));
  return present === undefined
    ? allowed
    : denied('ALREADY_SUBGROUP', `User group ${present} is already a subgroup of this group.`);
}

/** Implements users §12.4, part `delete_subgroups`. */
export function areSubgroups(ids: readonly GroupId[], subgroupIds: ReadonlySet<GroupId>): Decision {
  const absent = ids.find((id) => !subgroupIds.has(id));
  return absent === undefined
    ? allowed
    : denied('NOT_SUBGROUP', `User group ${absent} is not a subgroup of this group.`);
}

/** Use that prevents the deactivation of a group. Permissions have their registry names. */
export type GroupUse =
  | { readonly type: 'subgroup'; readonly supergroupIds: readonly GroupId[] }
  | { readonly type: 'channel'; readonly channelId: ChannelId; readonly permissions: readonly ChannelPermission[] }
  | { readonly type: 'group'; readonly groupId: GroupId; readonly permissions: readonly GroupPermission[] }
  | { readonly type: 'realm'; readonly permissions: readonly RealmPermission[] };

/** Returns all active uses of the group, in the order of users §12.3. Lists ascend by id or follow the registry. */
export function usesOfGroup(
  id: GroupId,
  world: {
    readonly realm: RealmRights;
    /** Archived channels are ignored. */
    readonly channels: readonly Pick<Channel, 'id' | 'isArchived' | 'permissions'>[];
    /** Named groups; deactivated ones are ignored. */
    readonly groups: readonly Group[];
    readonly edges: Iterable<GroupEdge>;
  },
): readonly GroupUse[] {
  const holders = new Set([...world.edges].filter((edge) => edge.subgroupId === id).map((edge) => edge.groupId));
  const groups = world.groups.filter((group) => !group.isDeactivated).sort((a, b) => a.id - b.id);
  const named = new Set(world.groups.map((group) => group.id));
  const supergroupIds = groups.filter((group) => holders.has(group.id)).map((group) => group.id);
  // A value given as users and groups is an anonymous group that contains this one.
  const isGiven = (value: GroupId): boolean => value === id || (holders.has(value) && !named.has(value));
  const changedOf = <P extends string>(permissions: Readonly<Record<P, GroupId>>): readonly P[] =>
    (Object.keys(permissions) as P[]).filter((permission) => isGiven(permissions[permission]));

  const uses: GroupUse[] = supergroupIds.length > 0 ? [{ type: 'subgroup', supergroupIds }] : [];
  for (const channel of [...world.channels].sort((a, b) => a.id - b.id)) {
    const permissions = changedOf(channel.permissions);
    if (!channel.isArchived && permissions.length > 0)
      uses.push({ type: 'channel', channelId: channel.id, permissions });
  }
  for (const group of groups) {
    const permissions = group.permissions === null ? [] : changedOf(group.permissions);
    if (permissions.length > 0) uses.push({ type: 'group', groupId: group.id, permissions });
  }
  const permissions = changedOf(world.realm.permissions);
  if (permissions.length > 0) uses.push({ type: 'realm', permissions });
  return uses;
}

/** Implements users §12.3, after the permission check. `details.objections` contains the uses. */
export const canDeactivateUnused = (uses: readonly GroupUse[]): Decision =>
  denyIf(uses.length > 0, 'CANNOT_DEACTIVATE_GROUP_IN_USE', 'Cannot deactivate user group in use.', {
    objections: uses,
  });

const isOnly = (userIds: readonly UserId[], id: UserId): boolean =>
  userIds.length > 0 && userIds.every((userId) => userId === id);
