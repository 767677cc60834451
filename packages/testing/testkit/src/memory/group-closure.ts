import type { Group } from '@parley/domain/groups';
import type { GroupId, RealmId, UserId } from '@parley/domain/kernel';
import { ascending, type MemoryUnit } from './tables.js';

export interface GroupRow {
  readonly group: Group;
  /** Ascending, including deactivated users. */
  readonly memberIds: readonly UserId[];
  /** Ascending. */
  readonly subgroupIds: readonly GroupId[];
  /** True for the shared group of its only member. */
  readonly isOfOne?: true;
}

declare module './tables.js' {
  interface Tables {
    readonly groups: Map<GroupId, GroupRow>;
  }
}

export function groupRows(unit: MemoryUnit, realmId: RealmId): GroupRow[] {
  return [...unit.read('groups').values()].filter(({ group }) => group.realmId === realmId);
}

/** Returns recursive members. Groups may form cycles; deactivated groups contribute no members. */
export function membersOf(unit: MemoryUnit, realmId: RealmId, id: GroupId): UserId[] {
  const members = new Set<UserId>();
  const visited = new Set<GroupId>();
  const visit = (groupId: GroupId): void => {
    const row = unit.read('groups').get(groupId);
    if (visited.has(groupId) || row?.group.realmId !== realmId) return;
    if (row.group.isDeactivated && groupId !== id) return;
    visited.add(groupId);
    for (const userId of row.memberIds) if (unit.read('users').get(userId)?.user.isActive) members.add(userId);
    row.subgroupIds.forEach(visit);
  };
  visit(id);
  return [...members].sort(ascending);
}

/** Returns the groups that recursively contain the user, who may be deactivated; otherwise the inverse of `membersOf`. */
export function groupsOf(unit: MemoryUnit, realmId: RealmId, userId: UserId): ReadonlySet<GroupId> {
  const groups = new Set<GroupId>();
  const rows = groupRows(unit, realmId);
  const add = ({ group }: GroupRow): void => {
    if (groups.has(group.id)) return;
    groups.add(group.id);
    if (!group.isDeactivated) for (const row of rows) if (row.subgroupIds.includes(group.id)) add(row);
  };
  for (const row of rows) if (row.memberIds.includes(userId)) add(row);
  return groups;
}
