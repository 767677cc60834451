import {
  ChangeGroupMembers,
  CreateGroup,
  DeactivateGroup,
  IsGroupMember,
  ListGroupMembers,
  ListGroups,
  ListSubgroups,
  UpdateGroup,
} from '@parley/domain/groups';
import type { GroupId, UserId } from '@parley/domain/kernel';
import { given } from '../kernel/given.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';
import { group } from './group.answers.js';
import {
  ChangeGroupMembersDto,
  ChangeSubgroupsDto,
  CreateGroupDto,
  GroupIdDto,
  IsGroupMemberDto,
  ListGroupMembersDto,
  ListGroupsDto,
  ListSubgroupsDto,
  toGroupPermissionChanges,
  toGroupPermissions,
  UpdateGroupDto,
} from './group.dtos.js';
import { presentGroup } from './group.presenters.js';

const forMembers = { auth: 'user', roleRequirements: ['member'] } as const;

/** Users §12.3, §12.4. */
export const groupRoutes: readonly Route[] = [
  route('GET', '/user_groups', {
    ...forMembers,
    isExpensive: true,
    dto: ListGroupsDto,
    useCase: ListGroups,
    toInput: ({ include_deactivated_groups }) => ({ includesDeactivated: include_deactivated_groups }),
    answer: wire.fields({ user_groups: wire.listOf(group) }),
    present: (groups) => ({ user_groups: groups.map(presentGroup) }),
  }),
  route('POST', '/user_groups/create', {
    ...forMembers,
    dto: CreateGroupDto,
    useCase: CreateGroup,
    toInput: (dto) => ({
      name: dto.name,
      description: dto.description,
      memberIds: dto.members as UserId[],
      subgroupIds: dto.subgroups as GroupId[],
      permissions: toGroupPermissions(dto),
    }),
    answer: wire.fields({ group_id: wire.integer() }),
    present: (id) => ({ group_id: id }),
  }),
  route('PATCH', '/user_groups/:user_group_id', {
    ...forMembers,
    dto: UpdateGroupDto,
    useCase: UpdateGroup,
    toInput: (dto) => ({
      groupId: dto.user_group_id as GroupId,
      ...given({ name: dto.name, description: dto.description, isDeactivated: dto.deactivated }),
      permissions: toGroupPermissionChanges(dto),
    }),
  }),
  route('POST', '/user_groups/:user_group_id/deactivate', {
    ...forMembers,
    dto: GroupIdDto,
    useCase: DeactivateGroup,
    toInput: ({ user_group_id }) => user_group_id as GroupId,
  }),
  route('GET', '/user_groups/:user_group_id/members', {
    ...forMembers,
    dto: ListGroupMembersDto,
    useCase: ListGroupMembers,
    toInput: ({ user_group_id, direct_member_only }) => ({
      groupId: user_group_id as GroupId,
      directOnly: direct_member_only,
    }),
    answer: wire.fields({ members: wire.listOf(wire.integer()) }),
    present: (members) => ({ members }),
  }),
  route('GET', '/user_groups/:user_group_id/members/:user_id', {
    ...forMembers,
    dto: IsGroupMemberDto,
    useCase: IsGroupMember,
    toInput: ({ user_group_id, user_id, direct_member_only }) => ({
      groupId: user_group_id as GroupId,
      userId: user_id as UserId,
      directOnly: direct_member_only,
    }),
    answer: wire.fields({ is_user_group_member: wire.boolean() }),
    present: (isMember) => ({ is_user_group_member: isMember }),
  }),
  route('GET', '/user_groups/:user_group_id/subgroups', {
    ...forMembers,
    dto: ListSubgroupsDto,
    useCase: ListSubgroups,
    toInput: ({ user_group_id, direct_subgroup_only }) => ({
      groupId: user_group_id as GroupId,
      directOnly: direct_subgroup_only,
    }),
    answer: wire.fields({ subgroups: wire.listOf(wire.integer()) }),
    present: (subgroups) => ({ subgroups }),
  }),
  route('POST', '/user_groups/:user_group_id/members', {
    ...forMembers,
    dto: ChangeGroupMembersDto,
    useCase: ChangeGroupMembers,
    toInput: (dto) => ({
      groupId: dto.user_group_id as GroupId,
      addedUserIds: dto.add as UserId[],
      removedUserIds: dto.delete as UserId[],
      addedSubgroupIds: dto.add_subgroups as GroupId[],
      removedSubgroupIds: dto.delete_subgroups as GroupId[],
      of: 'members' as const,
    }),
  }),
  route('POST', '/user_groups/:user_group_id/subgroups', {
    ...forMembers,
    dto: ChangeSubgroupsDto,
    useCase: ChangeGroupMembers,
    toInput: (dto) => ({
      groupId: dto.user_group_id as GroupId,
      addedUserIds: [],
      removedUserIds: [],
      addedSubgroupIds: dto.add as GroupId[],
      removedSubgroupIds: dto.delete as GroupId[],
      of: 'subgroups' as const,
    }),
  }),
];
