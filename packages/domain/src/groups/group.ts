import type { GroupId, RealmId, UnixSeconds, UserId } from '../shared/ids.js';
import { type GroupSettings, type GroupSettingValues, groupSetting } from './group-setting.js';
import type { SystemGroupName } from './system-groups.js';

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
  /** Null for unnamed groups, which nobody manages. */
  readonly permissions: GroupSettings<typeof GROUP_PERMISSIONS> | null;
}

/** A named group as members of the realm see it. Lists ascend; only active users count as members. */
export interface GroupView extends Omit<Group, 'permissions' | 'name'> {
  readonly name: string;
  readonly permissions: GroupSettingValues<typeof GROUP_PERMISSIONS>;
  readonly memberIds: readonly UserId[];
  readonly subgroupIds: readonly GroupId[];
}
