import { GROUP_PERMISSIONS, type GroupPermission, MAX_GROUP_DESCRIPTION_LENGTH } from '@parley/domain/groups';
import { MAX_IDS, MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { BooleanParam, IntegerListParam, IntegerParam, TextParam } from '../kernel/params.js';
import {
  declarePermissionChanges,
  declarePermissions,
  toPermissionChanges,
  toPermissions,
} from './permission-changes.js';

const PERMISSIONS = Object.keys(GROUP_PERMISSIONS) as GroupPermission[];
const DESCRIPTION = { max: MAX_GROUP_DESCRIPTION_LENGTH };
const IDS = { max: MAX_IDS };

export class ListGroupsDto {
  @BooleanParam() include_deactivated_groups = false;
}

/** And every permission of a group, by the registry. */
export class CreateGroupDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) name!: string;
  @TextParam(DESCRIPTION) description!: string;
  @IntegerListParam(IDS) members!: number[];
  @IntegerListParam(IDS) subgroups: number[] = [];
}
declarePermissions(CreateGroupDto, PERMISSIONS);

export const toGroupPermissions = (dto: CreateGroupDto) => toPermissions(dto, PERMISSIONS);

/** And every permission of a group, by the registry. */
export class UpdateGroupDto {
  @IntegerParam() user_group_id!: number;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) name?: string;
  @TextParam({ ...DESCRIPTION, optional: true }) description?: string;
  @BooleanParam({ optional: true }) deactivated?: boolean;
}
declarePermissionChanges(UpdateGroupDto, PERMISSIONS);

export const toGroupPermissionChanges = (dto: UpdateGroupDto) => toPermissionChanges(dto, PERMISSIONS);

export class GroupIdDto {
  @IntegerParam() user_group_id!: number;
}

export class ListGroupMembersDto {
  @IntegerParam() user_group_id!: number;
  @BooleanParam() direct_member_only = false;
}

export class IsGroupMemberDto {
  @IntegerParam() user_group_id!: number;
  @IntegerParam() user_id!: number;
  @BooleanParam() direct_member_only = false;
}

export class ListSubgroupsDto {
  @IntegerParam() user_group_id!: number;
  @BooleanParam() direct_subgroup_only = false;
}

export class ChangeGroupMembersDto {
  @IntegerParam() user_group_id!: number;
  @IntegerListParam(IDS) add: number[] = [];
  @IntegerListParam(IDS) delete: number[] = [];
  @IntegerListParam(IDS) add_subgroups: number[] = [];
  @IntegerListParam(IDS) delete_subgroups: number[] = [];
}

export class ChangeSubgroupsDto {
  @IntegerParam() user_group_id!: number;
  @IntegerListParam(IDS) add: number[] = [];
  @IntegerListParam(IDS) delete: number[] = [];
}
