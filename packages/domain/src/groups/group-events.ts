import type { GroupSettingValue } from '../access/group-setting.js';
import type { FeatureParts } from '../kernel/event.js';
import type { GroupId, UserId } from '../kernel/ids.js';
import type { GroupPermission, GroupView } from './group.js';

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
