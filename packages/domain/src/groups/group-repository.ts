import type { GroupSettingValue } from '../access/group-setting.js';
import type { SystemGroupName } from '../access/system-groups.js';
import type { GroupId, RealmId, UserId } from '../kernel/ids.js';
import type { Group, GroupView } from './group.js';

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
