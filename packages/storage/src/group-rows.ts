import type { SystemGroupName } from '@parley/domain/access';
import { GROUP_PERMISSIONS, type Group } from '@parley/domain/groups';
import { foldCase, type GroupId, type RealmId, type UnixSeconds, type UserId } from '@parley/domain/kernel';
import { type Flag, groupSettingsColumn, toFlag } from './rows.js';

/** Column values from `is_deactivated` to `permissions`, in the order of both statements. */
export const fromGroup = (group: Omit<Group, 'id'>) => [
  toFlag(group.isDeactivated),
  group.name,
  group.name === null ? null : foldCase(group.name),
  group.description,
  group.systemName,
  group.creatorId,
  group.createdAt,
  group.permissions && JSON.stringify(group.permissions),
];

export const groupPermissions = groupSettingsColumn(GROUP_PERMISSIONS, 'user_group');

export interface GroupRow {
  readonly id: GroupId;
  readonly realm_id: RealmId;
  readonly is_deactivated: Flag;
  readonly name: string | null;
  readonly description: string;
  readonly system_name: SystemGroupName | null;
  readonly creator_id: UserId | null;
  readonly created_at: UnixSeconds | null;
  readonly permissions: string | null;
}

/** @param permissions read from the row; null for an anonymous group */
export const toGroup = (row: GroupRow, permissions: Group['permissions']): Group => ({
  id: row.id,
  realmId: row.realm_id,
  name: row.name,
  description: row.description,
  systemName: row.system_name,
  isDeactivated: row.is_deactivated === 1,
  creatorId: row.creator_id,
  createdAt: row.created_at,
  permissions,
});
