import type { GroupSettingValue, GroupSettingValues, SystemGroupName } from '@parley/domain/access';
import { GROUP_PERMISSIONS, type Group, type GroupRepository, type GroupView } from '@parley/domain/groups';
import { foldCase, type GroupId, type RealmId, type UserId } from '@parley/domain/kernel';
import { type GroupRow, groupRows, membersOf } from './group-closure.js';
import { ascending, type MemoryUnit } from './tables.js';

export class MemoryGroups implements GroupRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: GroupId): Promise<Group | null> {
    return this.row(realmId, id)?.group ?? null;
  }

  async findByName(realmId: RealmId, name: string): Promise<Group | null> {
    return (await this.listByName(realmId, [name]))[0] ?? null;
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Group[]> {
    const wanted = new Set(names.map(foldCase));
    return groupRows(this.unit, realmId)
      .map(({ group }) => group)
      .filter(({ name }) => name !== null && wanted.has(foldCase(name)));
  }

  async systemGroupIds(realmId: RealmId): Promise<Readonly<Record<SystemGroupName, GroupId>>> {
    const ids = {} as Record<SystemGroupName, GroupId>;
    for (const { group } of groupRows(this.unit, realmId)) if (group.systemName) ids[group.systemName] = group.id;
    return ids;
  }

  async listDirectIds(realmId: RealmId, userId: UserId): Promise<readonly GroupId[]> {
    return groupRows(this.unit, realmId)
      .filter(({ memberIds }) => memberIds.includes(userId))
      .map(({ group }) => group.id);
  }

  async listDirectMembers(realmId: RealmId, id: GroupId): Promise<readonly UserId[]> {
    return groupRows(this.unit, realmId).find(({ group }) => group.id === id)?.memberIds ?? [];
  }

  async listViews(realmId: RealmId): Promise<readonly GroupView[]> {
    return groupRows(this.unit, realmId).flatMap((row) => this.viewOf(row) ?? []);
  }

  async listLeanViews(realmId: RealmId): Promise<readonly GroupView[]> {
    const views = await this.listViews(realmId);
    return views.map((view) => (view.systemName === 'everyone' ? { ...view, memberIds: [] } : view));
  }

  async findView(realmId: RealmId, id: GroupId): Promise<GroupView | null> {
    const row = this.row(realmId, id);
    return row ? this.viewOf(row) : null;
  }

  async listNamed(realmId: RealmId): Promise<readonly Group[]> {
    return groupRows(this.unit, realmId).flatMap(({ group }) => (group.name === null ? [] : [group]));
  }

  async list(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly Group[]> {
    return groupRows(this.unit, realmId).flatMap(({ group }) => (ids.includes(group.id) ? [group] : []));
  }

  async listAnonymousIds(realmId: RealmId): Promise<readonly GroupId[]> {
    return groupRows(this.unit, realmId).flatMap(({ group }) => (group.name === null ? [group.id] : []));
  }

  async findOfOne(realmId: RealmId, userId: UserId): Promise<GroupId | null> {
    const row = groupRows(this.unit, realmId).find(({ isOfOne, memberIds }) => isOfOne && memberIds[0] === userId);
    return row?.group.id ?? null;
  }

  async listIdsOfOne(realmId: RealmId): Promise<readonly GroupId[]> {
    return groupRows(this.unit, realmId).flatMap(({ group, isOfOne }) => (isOfOne ? [group.id] : []));
  }

  async shareOfOne(realmId: RealmId, _userId: UserId, id: GroupId): Promise<void> {
    this.unit.change('groups').set(id, { ...this.getRow(realmId, id), isOfOne: true });
  }

  async removeAnonymous(realmId: RealmId, ids: readonly GroupId[]): Promise<void> {
    for (const id of ids) if (this.row(realmId, id)?.group.name === null) this.unit.change('groups').delete(id);
  }

  async countNamed(realmId: RealmId): Promise<number> {
    return (await this.listNamed(realmId)).length;
  }

  async countMemberships(realmId: RealmId): Promise<number> {
    const counted = groupRows(this.unit, realmId).filter(
      ({ group }) => group.name !== null && group.systemName === null,
    );
    return counted.reduce((sum, { memberIds }) => sum + [...memberIds].length, 0);
  }

  async countPermissionHolders(realmId: RealmId): Promise<number> {
    const anonymous = groupRows(this.unit, realmId).filter(({ group }) => group.name === null);
    return anonymous.reduce((sum, { memberIds, subgroupIds }) => sum + [...memberIds, ...subgroupIds].length, 0);
  }

  async filterDirectMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    return (await this.listDirectMembers(realmId, id)).filter((userId) => userIds.includes(userId));
  }

  async listSubgroupIds(realmId: RealmId, id: GroupId): Promise<readonly GroupId[]> {
    return this.row(realmId, id)?.subgroupIds ?? [];
  }

  async settingValues(realmId: RealmId, ids: readonly GroupId[]): Promise<ReadonlyMap<GroupId, GroupSettingValue>> {
    const rows = groupRows(this.unit, realmId).filter(({ group }) => ids.includes(group.id));
    return new Map(rows.map((row) => [row.group.id, settingValueOf(this.unit, row)]));
  }

  async listMembersRecursively(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly UserId[]> {
    const members = new Set(ids.flatMap((id) => membersOf(this.unit, realmId, id)));
    return [...members].sort((a, b) => a - b);
  }

  async listEdges(realmId: RealmId): Promise<readonly { readonly subgroupId: GroupId; readonly groupId: GroupId }[]> {
    return groupRows(this.unit, realmId).flatMap(({ group, subgroupIds }) =>
      subgroupIds.map((subgroupId) => ({ subgroupId, groupId: group.id })),
    );
  }

  async listDeactivatedIds(realmId: RealmId): Promise<readonly GroupId[]> {
    return groupRows(this.unit, realmId).flatMap(({ group }) => (group.isDeactivated ? [group.id] : []));
  }

  async add(
    newGroup: Omit<Group, 'id'>,
    memberIds: readonly UserId[],
    subgroupIds: readonly GroupId[],
  ): Promise<Group> {
    const group: Group = { ...newGroup, id: this.unit.nextNumber<GroupId>('group') };
    this.unit.change('groups').set(group.id, {
      group,
      memberIds: [...new Set(memberIds)].sort(ascending),
      subgroupIds: [...new Set(subgroupIds)].sort(ascending),
    });
    return group;
  }

  async update(group: Group): Promise<void> {
    const row = this.getRow(group.realmId, group.id);
    this.unit.change('groups').set(group.id, { ...row, group });
  }

  async addMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    const row = this.getRow(realmId, id);
    const added = missing(userIds, row.memberIds);
    this.unit.change('groups').set(id, { ...row, memberIds: [...row.memberIds, ...added].sort(ascending) });
    return added;
  }

  async removeMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    const row = this.getRow(realmId, id);
    const memberIds = missing(row.memberIds, userIds);
    this.unit.change('groups').set(id, { ...row, memberIds });
    return missing(row.memberIds, memberIds);
  }

  async addSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<readonly GroupId[]> {
    const row = this.getRow(realmId, id);
    const added = missing(subgroupIds, row.subgroupIds);
    this.unit.change('groups').set(id, { ...row, subgroupIds: [...row.subgroupIds, ...added].sort(ascending) });
    return added;
  }

  async removeSubgroups(realmId: RealmId, id: GroupId, removedIds: readonly GroupId[]): Promise<readonly GroupId[]> {
    const row = this.getRow(realmId, id);
    const subgroupIds = missing(row.subgroupIds, removedIds);
    this.unit.change('groups').set(id, { ...row, subgroupIds });
    return missing(row.subgroupIds, subgroupIds);
  }

  private viewOf(row: GroupRow): GroupView | null {
    const { name, permissions, ...group } = row.group;
    if (name === null) return null;
    return {
      ...group,
      name,
      permissions: groupSettingValues(this.unit, GROUP_PERMISSIONS, permissions),
      memberIds: this.activeMembers(row),
      subgroupIds: row.subgroupIds,
    };
  }

  private row(realmId: RealmId, id: GroupId): GroupRow | undefined {
    const row = this.unit.read('groups').get(id);
    return row?.group.realmId === realmId ? row : undefined;
  }

  private getRow(realmId: RealmId, id: GroupId): GroupRow {
    const row = this.row(realmId, id);
    if (!row) throw new Error(`Realm ${realmId} has no group ${id}`);
    return row;
  }

  private activeMembers(row: GroupRow): UserId[] {
    return activeMembers(this.unit, row);
  }
}

/** Values of each permission in a registry. */
export function groupSettingValues<R extends object>(
  unit: MemoryUnit,
  registry: R,
  groupSettings: { readonly [K in keyof R]: GroupId } | null,
): GroupSettingValues<R> {
  const values: Record<string, GroupSettingValue> = {};
  for (const name of Object.keys(registry)) {
    const row = groupSettings && unit.read('groups').get(groupSettings[name as keyof R]);
    if (row) values[name] = settingValueOf(unit, row);
  }
  return values as GroupSettingValues<R>;
}

function settingValueOf(unit: MemoryUnit, row: GroupRow): GroupSettingValue {
  return row.group.name === null
    ? { directMembers: activeMembers(unit, row), directSubgroups: row.subgroupIds }
    : row.group.id;
}

function activeMembers(unit: MemoryUnit, row: GroupRow): UserId[] {
  return row.memberIds.filter((id) => unit.read('users').get(id)?.user.isActive);
}

/** Returns the ids in the first list that are missing from the second, ascending. */
function missing<T extends number>(wanted: readonly T[], present: readonly T[]): T[] {
  return [...new Set(wanted)].filter((id) => !present.includes(id)).sort(ascending);
}
