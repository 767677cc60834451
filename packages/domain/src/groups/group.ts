import type { Actor } from '../access/actor.js';
import {
  type GroupSettings,
  type GroupSettingValue,
  type GroupSettingValues,
  groupSetting,
} from '../access/group-settings.js';
import type { SystemGroupName } from '../access/roles.js';
import { DomainError } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { GroupId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import { isLongerThan, trim } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';

/** Permissions of a group (channels §3.6). */
export const GROUP_PERMISSIONS = {
  canAddMembers: groupSetting('creator', 'n', { defaultOnSystemGroups: 'nobody' }),
  canJoin: groupSetting('nobody', 'n', { defaultOnSystemGroups: 'nobody' }),
  canLeave: groupSetting('everyone', 'ny', { defaultOnSystemGroups: 'nobody' }),
  canManage: groupSetting('creator', 'n', { defaultOnSystemGroups: 'nobody' }),
  canMention: groupSetting('everyone', 'ny', { defaultOnSystemGroups: 'nobody' }),
  canRemoveMembers: groupSetting('nobody', 'n', { defaultOnSystemGroups: 'nobody' }),
} as const;
export type GroupPermission = keyof typeof GROUP_PERMISSIONS;

/** In code points (protocol §14). */
export const MAX_GROUP_NAME_LENGTH = 100;
export const MAX_GROUP_DESCRIPTION_LENGTH = 1024;
/** Limit per realm, including system and deactivated groups, because clients receive all of them. */
export const MAX_GROUPS = 5000;

/** @throws DomainError TOO_MANY_GROUPS if there is no room for another group */
export function requireRoomForGroup(present: number): void {
  if (present >= MAX_GROUPS) {
    throw new DomainError('TOO_MANY_GROUPS', `Too many user groups (limit: ${MAX_GROUPS}).`);
  }
}

/** Limit on direct members of all named groups of a realm except system groups, because clients receive all of them. */
export const MAX_MEMBERSHIPS = 250_000;

/** Maximum number of users who join or leave a group, or see or lose channels by it, in one unit of work. */
export const MAX_MEMBERS_AT_ONCE = 250;

/** @throws DomainError TOO_MANY_MEMBERSHIPS if there is no room for `added` more members */
export function requireRoomForMembers(present: number, added: number): void {
  if (added > 0 && present + added > MAX_MEMBERSHIPS) {
    throw new DomainError('TOO_MANY_MEMBERSHIPS', `Too many members of user groups (limit: ${MAX_MEMBERSHIPS}).`);
  }
}

/** Name prefixes with a special meaning; names of system groups begin with `role:` (channels §3.2). */
const RESERVED_PREFIXES = ['@', 'role:', 'user:', 'stream:', 'channel:'] as const;

/**
 * Validates and trims the name of a named group other than a system group. @throws DomainError INVALID_GROUP_NAME with
 * the texts of users §12.3
 */
export function parseGroupName(raw: string): string {
  const name = trim(raw);
  if (name === '') throw new DomainError('INVALID_GROUP_NAME', "User group name can't be empty!");
  if (isLongerThan(name, MAX_GROUP_NAME_LENGTH)) {
    throw new DomainError('INVALID_GROUP_NAME', `User group name cannot exceed ${MAX_GROUP_NAME_LENGTH} characters.`);
  }
  const prefix = RESERVED_PREFIXES.find((one) => name.startsWith(one));
  if (prefix !== undefined)
    throw new DomainError('INVALID_GROUP_NAME', `User group name cannot start with '${prefix}'.`);
  return name;
}

/**
 * Error for a name used by another group of the organization, active or not, regardless of letter case (users §12.3).
 */
export const groupNameTaken = (name: string): DomainError =>
  new DomainError('GROUP_NAME_TAKEN', `User group '${name}' already exists.`);

/** Set of users and other groups. An anonymous group holds the value of one permission and is never listed. */
export interface Group {
  readonly id: GroupId;
  readonly realmId: RealmId;
  /** Null for anonymous groups. */
  readonly name: string | null;
  readonly description: string;
  readonly systemName: SystemGroupName | null;
  readonly isDeactivated: boolean;
  readonly creatorId: UserId | null;
  readonly createdAt: UnixSeconds | null;
  /** Null for anonymous groups, which cannot be managed. */
  readonly permissions: GroupSettings<typeof GROUP_PERMISSIONS> | null;
}

/** Named group as shown to users of the realm. Lists ascend; only active users count as members. */
export interface GroupView extends Omit<Group, 'permissions' | 'name'> {
  readonly name: string;
  readonly permissions: GroupSettingValues<typeof GROUP_PERMISSIONS>;
  readonly memberIds: readonly UserId[];
  readonly subgroupIds: readonly GroupId[];
}

export interface GroupEventTypes {
  /**
   * Sent to the whole realm. Events of anonymous groups are sent to nobody and have a null `view`; their other
   * properties are for tracking membership.
   */
  'group.created': {
    readonly groupId: GroupId;
    readonly memberIds: readonly UserId[];
    readonly subgroupIds: readonly GroupId[];
    readonly view: GroupView | null;
  };
  /** Sent to the whole realm. */
  'group.members_changed': {
    readonly op: 'add' | 'remove';
    readonly groupId: GroupId;
    readonly userIds: readonly UserId[];
  };
  /** Sent to the whole realm. */
  'group.subgroups_changed': {
    readonly op: 'add' | 'remove';
    readonly groupId: GroupId;
    readonly subgroupIds: readonly GroupId[];
  };
  /** Sent to the whole realm. `value` is a text or, for a permission, its value. */
  'group.property_changed': {
    readonly groupId: GroupId;
    readonly isDeactivated: boolean;
    readonly property: 'name' | 'description' | GroupPermission;
    readonly value: string | GroupSettingValue;
  };
  /** Sent to the whole realm with the new state of the group. Clients that hide deactivated groups add or remove it. */
  'group.activation_changed': { readonly view: GroupView };
}

export const GROUP_FEATURE = {
  eventFormats: {
    'group.created': 1,
    'group.members_changed': 1,
    'group.subgroups_changed': 1,
    'group.property_changed': 1,
    'group.activation_changed': 1,
  },
} satisfies FeatureParts<GroupEventTypes>;

export interface GroupReads {
  /** Returns null if the realm has no such group, named or not. */
  find(realmId: RealmId, id: GroupId): Promise<Group | null>;
  /** Finds named groups only, case-insensitively. */
  findByName(realmId: RealmId, name: string): Promise<Group | null>;
  /** Returns named groups only, case-insensitively, by ascending id; unknown names are absent. */
  listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Group[]>;
  systemGroupIds(realmId: RealmId): Promise<Readonly<Record<SystemGroupName, GroupId>>>;
  /** Returns named groups, including deactivated ones, by ascending id. */
  listViews(realmId: RealmId): Promise<readonly GroupView[]>;
  /** The same without the members of `role:everyone`, at a cost that does not depend on the number of guests. */
  listLeanViews(realmId: RealmId): Promise<readonly GroupView[]>;
  /** Returns null if the realm has no such group or it is anonymous. */
  findView(realmId: RealmId, id: GroupId): Promise<GroupView | null>;
  /** Returns named groups, including deactivated ones, by ascending id. */
  listNamed(realmId: RealmId): Promise<readonly Group[]>;
  /** Returns groups by ascending id, including anonymous ones; unknown ids are absent. */
  list(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly Group[]>;
  /** Returns ascending ids, including `findOfOne`. */
  listAnonymousIds(realmId: RealmId): Promise<readonly GroupId[]>;
  /** Returns the anonymous group that all values with only this user share; null if there is none. */
  findOfOne(realmId: RealmId, userId: UserId): Promise<GroupId | null>;
  /** Returns the groups of `findOfOne` of all users; ascending. */
  listIdsOfOne(realmId: RealmId): Promise<readonly GroupId[]>;
  /** Counts named groups, including deactivated and system groups. */
  countNamed(realmId: RealmId): Promise<number>;
  /** Counts direct memberships in named groups, including deactivated groups and users; system groups are excluded. */
  countMemberships(realmId: RealmId): Promise<number>;
  /** Counts direct members and subgroups of all anonymous groups, including unreferenced ones. */
  countPermissionHolders(realmId: RealmId): Promise<number>;
  /**
   * Returns the permission value of each group: the id if named, otherwise its content with active users only. Unknown
   * ids are absent.
   */
  settingValues(realmId: RealmId, ids: readonly GroupId[]): Promise<ReadonlyMap<GroupId, GroupSettingValue>>;
  /** Returns ascending ids, including deactivated users. */
  listDirectMembers(realmId: RealmId, id: GroupId): Promise<readonly UserId[]>;
  /**
   * Returns the given users who are direct members, including deactivated ones, ascending. The cost grows with the
   * number of given users.
   */
  filterDirectMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
  /** Returns direct subgroups; ascending. */
  listSubgroupIds(realmId: RealmId, id: GroupId): Promise<readonly GroupId[]>;
  /** Returns all active users in the groups or, at any depth, in their active subgroups; ascending. */
  listMembersRecursively(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly UserId[]>;
  /** Returns the groups, named or anonymous, that have the user as a direct member; ascending. */
  listDirectIds(realmId: RealmId, userId: UserId): Promise<readonly GroupId[]>;
  /** Returns every pair of subgroup and containing group, including anonymous groups, unordered. */
  listEdges(realmId: RealmId): Promise<readonly { readonly subgroupId: GroupId; readonly groupId: GroupId }[]>;
  /** Returns ascending ids. */
  listDeactivatedIds(realmId: RealmId): Promise<readonly GroupId[]>;
}

/** Every implementation passes group-repository.contract.ts. */
export interface GroupRepository extends GroupReads {
  add(group: Omit<Group, 'id'>, memberIds: readonly UserId[], subgroupIds: readonly GroupId[]): Promise<Group>;
  update(group: Group): Promise<void>;
  /** Makes an anonymous group with only this user the result of `findOfOne`, permanently. */
  shareOfOne(realmId: RealmId, userId: UserId, id: GroupId): Promise<void>;
  /** Removes these groups, unless named, with their members and subgroups. They must be unreferenced. Idempotent. */
  removeAnonymous(realmId: RealmId, ids: readonly GroupId[]): Promise<void>;
  /** Idempotent. Returns only users who were not direct members before, ascending. */
  addMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
  /** Idempotent. Returns only users who were direct members before, ascending. */
  removeMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
  /** Idempotent. Returns only groups that were not direct subgroups before, ascending. */
  addSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<readonly GroupId[]>;
  /** Idempotent. Returns only groups that were direct subgroups before, ascending. */
  removeSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<readonly GroupId[]>;
}

declare module '../kernel/feature-types.js' {
  interface DomainEventTypes extends GroupEventTypes {}
  interface RepositoryMap {
    groups: [reads: GroupReads, repository: GroupRepository];
  }
}

/** Loads all groups, including deactivated ones, by ascending id. */
export const loadGroups = ({ caller, repositories }: Snapshot): Promise<readonly GroupView[]> =>
  repositories.groups.listViews(caller.realmId);

/** Loads the groups without the members of `role:everyone`, who are all guests. */
export const loadLeanGroups = ({ caller, repositories }: Snapshot): Promise<readonly GroupView[]> =>
  repositories.groups.listLeanViews(caller.realmId);

export interface MembershipNotice {
  readonly op: 'add' | 'remove';
  /** Acting user; links in the message are limited to what this user can access. */
  readonly actor: Actor;
  readonly by: Pick<User, 'id' | 'fullName'>;
  readonly group: Pick<Group, 'id' | 'name'>;
  /** Users to notify. */
  readonly people: readonly User[];
}

/** Sends messages to users added to or removed from a group (users §12.4). Runs inside the transaction. */
export interface GroupNotices {
  send(tx: Transaction, realm: Realm, notice: MembershipNotice): Promise<void>;
}
