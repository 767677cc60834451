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

/** Who may do what to a group (channels §3.6). */
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
/** Of a realm, with those of the system and those that are deactivated: every client gets them all. */
export const MAX_GROUPS = 5000;

/** @throws DomainError TOO_MANY_GROUPS unless there is room for one more. */
export function requireRoomForGroup(present: number): void {
  if (present >= MAX_GROUPS) {
    throw new DomainError('TOO_MANY_GROUPS', `Too many user groups (limit: ${MAX_GROUPS}).`);
  }
}

/** Direct members of a realm's named groups together, without those of the system: every client gets them all. */
export const MAX_MEMBERSHIPS = 250_000;

/** @throws DomainError TOO_MANY_MEMBERSHIPS unless there is room for so many more. */
export function requireRoomForMembers(present: number, added: number): void {
  if (added > 0 && present + added > MAX_MEMBERSHIPS) {
    throw new DomainError('TOO_MANY_MEMBERSHIPS', `Too many members of user groups (limit: ${MAX_MEMBERSHIPS}).`);
  }
}

/** What names that mean something else begin with; those of system groups begin with `role:` (channels §3.2). */
const RESERVED_PREFIXES = ['@', 'role:', 'user:', 'stream:', 'channel:'] as const;

/** Of a named group that is no system one. Returns it trimmed. @throws DomainError INVALID_GROUP_NAME with the texts of users §12.3 */
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

/** Of another group of the organization, deactivated ones included, whatever the letter case (users §12.3). */
export const groupNameTaken = (name: string): DomainError =>
  new DomainError('GROUP_NAME_TAKEN', `User group '${name}' already exists.`);

/** A set of users and other groups. Unnamed ones hold the value of one permission and appear in no listing. */
export interface Group {
  readonly id: GroupId;
  readonly realmId: RealmId;
  /** Null: unnamed. */
  readonly name: string | null;
  readonly description: string;
  readonly systemName: SystemGroupName | null;
  readonly isDeactivated: boolean;
  readonly creatorId: UserId | null;
  readonly createdAt: UnixSeconds | null;
  /** Null for anonymous groups, which nobody manages. */
  readonly permissions: GroupSettings<typeof GROUP_PERMISSIONS> | null;
}

/** A named group as members of the realm see it. Lists ascend; only active users count as members. */
export interface GroupView extends Omit<Group, 'permissions' | 'name'> {
  readonly name: string;
  readonly permissions: GroupSettingValues<typeof GROUP_PERMISSIONS>;
  readonly memberIds: readonly UserId[];
  readonly subgroupIds: readonly GroupId[];
}

export interface GroupEventTypes {
  /** To everybody; anonymous groups to nobody, and their `view` is null. The rest is for following who is in which group. */
  'group.created': {
    readonly groupId: GroupId;
    readonly memberIds: readonly UserId[];
    readonly subgroupIds: readonly GroupId[];
    readonly view: GroupView | null;
  };
  /** To everybody. */
  'group.members_changed': {
    readonly op: 'add' | 'remove';
    readonly groupId: GroupId;
    readonly userIds: readonly UserId[];
  };
  /** To everybody. */
  'group.subgroups_changed': {
    readonly op: 'add' | 'remove';
    readonly groupId: GroupId;
    readonly subgroupIds: readonly GroupId[];
  };
  /** To everybody. `value`: a text, or of a permission what it is given to. */
  'group.property_changed': {
    readonly groupId: GroupId;
    readonly isDeactivated: boolean;
    readonly property: 'name' | 'description' | GroupPermission;
    readonly value: string | GroupSettingValue;
  };
  /** To everybody; the group as it is afterwards: clients that know no deactivated groups see it come and go. */
  'group.activation_changed': { readonly view: GroupView };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends GroupEventTypes {}
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
  /** Null when the realm has no such group, named or not. */
  find(realmId: RealmId, id: GroupId): Promise<Group | null>;
  /** Named groups only, whatever the letter case. */
  findByName(realmId: RealmId, name: string): Promise<Group | null>;
  /** Named groups only, whatever the letter case; names nobody has are absent; ascending id. */
  listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Group[]>;
  systemGroupIds(realmId: RealmId): Promise<Readonly<Record<SystemGroupName, GroupId>>>;
  /** Named groups, ascending id, deactivated ones included. */
  listViews(realmId: RealmId): Promise<readonly GroupView[]>;
  /** Null when the realm has no such group, or it has no name. */
  findView(realmId: RealmId, id: GroupId): Promise<GroupView | null>;
  /** Named groups, ascending id, deactivated ones included. */
  listNamed(realmId: RealmId): Promise<readonly Group[]>;
  /** Named or not; unknown ids are absent; ascending. */
  list(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly Group[]>;
  /** Ascending. */
  listAnonymousIds(realmId: RealmId): Promise<readonly GroupId[]>;
  /** Named groups, deactivated ones and those of the system included. */
  countNamed(realmId: RealmId): Promise<number>;
  /** Direct ones of named groups, also of deactivated ones and of users who are not active; those of the system do not count. */
  countMemberships(realmId: RealmId): Promise<number>;
  /** Direct members and subgroups of the anonymous groups together, also of those that nothing refers to any more. */
  countPermissionHolders(realmId: RealmId): Promise<number>;
  /**
   * What each group stands for as a permission's value: its id when named; when not, its content, of users the active ones.
   * Unknown ids are absent.
   */
  settingValues(realmId: RealmId, ids: readonly GroupId[]): Promise<ReadonlyMap<GroupId, GroupSettingValue>>;
  /** Deactivated users too; ascending. */
  listDirectMembers(realmId: RealmId, id: GroupId): Promise<readonly UserId[]>;
  /** Which of these users are direct members, deactivated ones too; ascending. Costs by the users asked about. */
  filterDirectMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
  /** Direct ones; ascending. */
  listSubgroupIds(realmId: RealmId, id: GroupId): Promise<readonly GroupId[]>;
  /** Every active user who is in one of the groups or, at any depth, in a subgroup that is not deactivated; ascending. */
  listMembersRecursively(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly UserId[]>;
  /** The groups, named or not, that the user is a direct member of; ascending. */
  listDirectIds(realmId: RealmId, userId: UserId): Promise<readonly GroupId[]>;
  /** Every (subgroup, group that holds it) of the realm, anonymous groups included; in no particular order. */
  listEdges(realmId: RealmId): Promise<readonly { readonly subgroupId: GroupId; readonly groupId: GroupId }[]>;
  /** Ascending. */
  listDeactivatedIds(realmId: RealmId): Promise<readonly GroupId[]>;
}

/** Every implementation passes group-repository.contract.ts. */
export interface GroupRepository extends GroupReads {
  add(group: Omit<Group, 'id'>, memberIds: readonly UserId[], subgroupIds: readonly GroupId[]): Promise<Group>;
  update(group: Group): Promise<void>;
  /** With their members and subgroups; named ones among them stay. Nothing may refer to them. Idempotent. */
  removeAnonymous(realmId: RealmId, ids: readonly GroupId[]): Promise<void>;
  /** Idempotent. Returns only those who were not direct members before, ascending. */
  addMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
  /** Idempotent. Returns only those who were direct members before, ascending. */
  removeMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
  /** Idempotent. Returns only those that were not direct subgroups before, ascending. */
  addSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<readonly GroupId[]>;
  /** Idempotent. Returns only those that were direct subgroups before, ascending. */
  removeSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<readonly GroupId[]>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    groups: [reads: GroupReads, repository: GroupRepository];
  }
}

/** Every group; ascending id, deactivated ones included. */
export const loadGroups = ({ caller, repositories }: Snapshot): Promise<readonly GroupView[]> =>
  repositories.groups.listViews(caller.realmId);

export interface MembershipNotice {
  readonly op: 'add' | 'remove';
  /** Whoever did it; names in the message lead to what they may see. */
  readonly actor: Actor;
  readonly by: Pick<User, 'id' | 'fullName'>;
  readonly group: Pick<Group, 'id' | 'name'>;
  /** Those who are notified. */
  readonly people: readonly User[];
}

/** Notifies people by message that somebody put them into a group, or took them out (users §12.4). Runs inside the unit. */
export interface GroupNotices {
  send(tx: Transaction, realm: Realm, notice: MembershipNotice): Promise<void>;
}
