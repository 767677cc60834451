import { GROUP_PERMISSIONS, type GroupPermission, type GroupUse, type GroupView } from '@parley/domain';
import { presentGroupSetting } from './group-setting.presenters.js';
import { permissionTitle } from './permission-title.js';

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

/** What keeps a group from being deactivated: users §12.3, `objections`. */
export const presentGroupUses = (uses: readonly GroupUse[]) => uses.map(presentGroupUse);

function presentGroupUse(use: GroupUse) {
  switch (use.type) {
    case 'subgroup':
      return { type: 'subgroup', supergroup_ids: use.supergroupIds };
    case 'channel':
      return { type: 'channel', channel_id: use.channelId, settings: use.permissions.map(permissionTitle) };
    case 'group':
      return { type: 'user_group', group_id: use.groupId, settings: use.permissions.map(permissionTitle) };
    case 'realm':
      return { type: 'realm', settings: use.permissions.map(permissionTitle) };
  }
}
