import type { Group } from '@parley/domain/groups';
import type { GroupId, RealmId, UserId } from '@parley/domain/kernel';
import { ascending, type MemoryUnit } from './tables.js';

export interface GroupRow {
  readonly group: Group;
  /** Ascending, including deactivated users. */
  readonly memberIds: readonly UserId[];
  /** Ascending. */
  readonly subgroupIds: readonly GroupId[];
}

declare module './tables.js' {
  interface Tables {
    readonly groups: Map<GroupId, GroupRow>;
  }
}

export function groupRows(unit: MemoryUnit, realmId: RealmId): GroupRow[] {
  return [...unit.read('groups').values()].filter(({ group }) => group.realmId === realmId);
}

/** Returns recursive members. Groups may form cycles; deactivated groups contribute none. */
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

export function groupsOf(unit: MemoryUnit, realmId: RealmId, userId: UserId): ReadonlySet<GroupId> {
  const ids = groupRows(unit, realmId).map(({ group }) => group.id);
  return new Set(ids.filter((id) => membersOf(unit, realmId, id).includes(userId)));
}
