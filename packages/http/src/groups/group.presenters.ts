import { GROUP_PERMISSIONS, type GroupPermission, type GroupView, permissionTitle } from '@parley/domain';
import { presentGroupSetting } from './group-setting.presenters.js';

const WIRE_GROUP_PERMISSIONS = (Object.keys(GROUP_PERMISSIONS) as GroupPermission[]).map(
  (name) => [name, permissionTitle(name)] as const,
);

/** Events §4.6. */
export function presentGroup(group: GroupView) {
  return {
    id: group.id,
    name: group.name,
    description: group.description,
    creator_id: group.creatorId,
    date_created: group.createdAt,
    members: group.memberIds,
    direct_subgroup_ids: group.subgroupIds,
    is_system_group: group.systemName !== null,
    deactivated: group.isDeactivated,
    ...Object.fromEntries(
      WIRE_GROUP_PERMISSIONS.map(([name, wireName]) => [wireName, presentGroupSetting(group.permissions[name])]),
    ),
  };
}
