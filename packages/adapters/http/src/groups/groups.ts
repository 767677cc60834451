import type { GroupSettingValue } from '@parley/domain/access';
import {
  ChangeGroupMembers,
  CreateGroup,
  DeactivateGroup,
  GROUP_PERMISSIONS,
  type GroupEventTypes,
  type GroupPermission,
  type GroupUse,
  type GroupView,
  IsGroupMember,
  ListGroupMembers,
  ListGroups,
  ListSubgroups,
  loadGroups,
  loadLeanGroups,
  MAX_GROUP_DESCRIPTION_LENGTH,
  UpdateGroup,
} from '@parley/domain/groups';
import type { EventOf, GroupId, UserId } from '@parley/domain/kernel';
import type { HttpFeature } from '../declarations/feature.js';
import { type RegisterSection, registerSection, unusual } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import {
  can,
  type EventContext,
  form,
  formWithout,
  opened,
  type Presented,
  type Presenters,
  toAll,
} from '../delivery/event-presenter.js';
import { PresentedList } from '../params/json-lists.js';
import { MAX_IDS, MAX_TEXT_LENGTH } from '../params/param-types.js';
import { BooleanParam, definedFields, IntegerListParam, IntegerParam, TextParam } from '../params/params.js';
import type { WireErrors, WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import {
  declarePermissionChanges,
  declarePermissions,
  permissionTitle,
  presentGroupSetting,
  toPermissionChanges,
  toPermissions,
} from './group-settings.js';

/** Channels §2.4. */
export const groupSetting = wire.named(
  'GroupSetting',
  wire.anyOf(
    wire.integer(),
    wire.fields({ direct_members: wire.listOf(wire.integer()), direct_subgroups: wire.listOf(wire.integer()) }),
  ),
);

/** Returns a field per permission, under its wire name. */
export const permissionFields = (permissions: readonly string[]): Readonly<Record<string, typeof groupSetting>> =>
  Object.fromEntries(permissions.map((permission) => [permission, groupSetting]));

const GROUP_PERMISSION_FIELDS = permissionFields(
  (Object.keys(GROUP_PERMISSIONS) as GroupPermission[]).map(permissionTitle),
);
const CHANGEABLE = {
  name: wire.text(),
  description: wire.text(),
  deactivated: wire.boolean(),
  ...GROUP_PERMISSION_FIELDS,
};
const GROUP = {
  id: wire.integer(),
  ...CHANGEABLE,
  creator_id: wire.nullable(wire.integer()),
  date_created: wire.nullable(wire.integer()),
  members: wire.listOf(wire.integer()),
  direct_subgroup_ids: wire.listOf(wire.integer()),
  is_system_group: wire.boolean(),
};

/** Events §4.6. */
export const group = wire.named('UserGroup', wire.fields(GROUP));

export const groupChange = wire.fields(wire.optionalFields(CHANGEABLE));

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

/** Presents the uses that prevent deactivation (users §12.3, `objections`). */
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

const NOTHING_TO_DO = {
  group: 'No new data supplied',
  members: 'Nothing to do. Specify at least one of "add", "delete", "add_subgroups" or "delete_subgroups".',
  subgroups: 'Nothing to do. Specify at least one of "add" or "delete".',
};

export const GROUP_WIRE_ERRORS = {
  NO_GROUP_CHANGE: { text: ({ of }) => NOTHING_TO_DO[of] },
  STALE_VALUE: { code: 'EXPECTATION_MISMATCH' },
  GROUP_NOT_ALLOWED: {
    text: ({ permission, groupName }) =>
      `'${permissionTitle(permission)}' setting cannot be set to '${groupName}' group.`,
  },
  SYSTEM_GROUP_REQUIRED: {
    code: 'SYSTEM_GROUP_REQUIRED',
    fields: { permission: 'setting_name' },
    present: { permission: permissionTitle },
    text: ({ permission }) => `'${permissionTitle(permission)}' must be a system user group.`,
  },
  CANNOT_DEACTIVATE_GROUP_IN_USE: {
    code: 'CANNOT_DEACTIVATE_GROUP_IN_USE',
    fields: { objections: 'objections' },
    present: { objections: presentGroupUses },
  },
} as const satisfies WireErrors;

const PERMISSIONS = Object.keys(GROUP_PERMISSIONS) as GroupPermission[];
const DESCRIPTION = { max: MAX_GROUP_DESCRIPTION_LENGTH };
const IDS = { max: MAX_IDS };

export class ListGroupsDto {
  @BooleanParam({ description: 'Whether to include deactivated groups.' }) include_deactivated_groups = false;
}

/** Parameters of a new group; permissions are declared from the registry. */
export class CreateGroupDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) name!: string;
  @TextParam(DESCRIPTION) description!: string;
  @IntegerListParam({ ...IDS, description: 'Ids of the members.' }) members!: number[];
  @IntegerListParam({ ...IDS, description: 'Ids of the subgroups.' }) subgroups: number[] = [];
}
declarePermissions(CreateGroupDto, PERMISSIONS);

export const toGroupPermissions = (dto: CreateGroupDto) => toPermissions(dto, PERMISSIONS);

/** Parameters of a group change; permissions are declared from the registry. */
export class UpdateGroupDto {
  @IntegerParam() user_group_id!: number;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) name?: string;
  @TextParam({ ...DESCRIPTION, optional: true }) description?: string;
  @BooleanParam({ optional: true, description: 'False to reactivate the group.' }) deactivated?: boolean;
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
  @BooleanParam({ description: 'Whether to ignore subgroups of subgroups.' }) direct_subgroup_only = false;
}

export class ChangeGroupMembersDto {
  @IntegerParam() user_group_id!: number;
  @IntegerListParam(IDS) add: number[] = [];
  @IntegerListParam(IDS) delete: number[] = [];
  @IntegerListParam({ ...IDS, description: 'Ids of the groups to add.' }) add_subgroups: number[] = [];
  @IntegerListParam({ ...IDS, description: 'Ids of the groups to remove.' }) delete_subgroups: number[] = [];
}

export class ChangeSubgroupsDto {
  @IntegerParam() user_group_id!: number;
  @IntegerListParam(IDS) add: number[] = [];
  @IntegerListParam(IDS) delete: number[] = [];
}

const CAPABILITY = 'include_deactivated_groups';

const ADDED = form('user_group', { op: wire.oneOf('add'), group });
const CHANGED = form('user_group', { op: wire.oneOf('update'), group_id: wire.integer(), data: groupChange });
const REMOVED = formWithout(CAPABILITY, 'user_group', { op: wire.oneOf('remove'), group_id: wire.integer() });

export const GROUP_EVENTS = {
  'group.created': {
    forms: [ADDED],
    present: ({ view }, context) =>
      view ? [[context.shared('', () => opened({ type: 'user_group', op: 'add', group: presentGroup(view) }))]] : [],
  },
  'group.members_changed': {
    forms: [
      form('user_group', {
        op: wire.oneOf('add_members', 'remove_members'),
        group_id: wire.integer(),
        user_ids: wire.listOf(wire.integer()),
      }),
    ],
    present: ({ op, groupId, userIds }, context) =>
      groupId === context.publicRealm.everyoneId && can(context.presentation, 'lean_state')
        ? []
        : context.shared('', () =>
            opened({ type: 'user_group', op: `${op}_members`, group_id: groupId, user_ids: userIds }),
          ),
  },
  'group.subgroups_changed': toAll(
    form('user_group', {
      op: wire.oneOf('add_subgroups', 'remove_subgroups'),
      group_id: wire.integer(),
      direct_subgroup_ids: wire.listOf(wire.integer()),
    }),
    ({ op, groupId, subgroupIds }) => ({ op: `${op}_subgroups`, group_id: groupId, direct_subgroup_ids: subgroupIds }),
  ),
  'group.property_changed': { forms: [CHANGED], present: presentGroupChange },
  'group.activation_changed': { forms: [CHANGED, ADDED, REMOVED], present: presentGroupActivation },
} satisfies Presenters<keyof GroupEventTypes>;

/** Hides name changes of deactivated groups from clients that do not support deactivated groups (users §12.3). */
function presentGroupChange(event: EventOf<'group.property_changed'>, context: EventContext): Presented {
  const { groupId: group_id, isDeactivated, property, value } = event;
  const isHidden = isDeactivated && property === 'name';
  if (isHidden && !can(context.presentation, CAPABILITY)) return [];
  const data =
    property === 'name' || property === 'description'
      ? { [property]: value }
      : { [permissionTitle(property)]: presentGroupSetting(value as GroupSettingValue) };
  return [[context.shared('', () => opened({ type: 'user_group', op: 'update', group_id, data }))]];
}

/** Presents activation according to `include_deactivated_groups` (events §2). */
function presentGroupActivation({ view }: EventOf<'group.activation_changed'>, context: EventContext): Presented {
  if (can(context.presentation, CAPABILITY)) {
    const data = { deactivated: view.isDeactivated };
    return [[context.shared('update', () => opened({ type: 'user_group', op: 'update', group_id: view.id, data }))]];
  }
  return view.isDeactivated
    ? [[context.shared('remove', () => opened({ type: 'user_group', op: 'remove', group_id: view.id }))]]
    : [[context.shared('add', () => opened({ type: 'user_group', op: 'add', group: presentGroup(view) }))]];
}

/** Group as in the initial state of clients with `partial_state`. */
const shortGroup = wire.fields({ ...GROUP, ...wire.optionalFields(GROUP_PERMISSION_FIELDS) });

/** Permissions that only `role:nobody` has, which clients with `partial_state` fill in (extensions §18). */
function usualPermissions(groups: readonly GroupView[]): WireFields {
  const nobody = groups.find(({ systemName }) => systemName === 'nobody')?.id;
  return Object.fromEntries(WIRE_GROUP_PERMISSIONS.map(([, wireName]) => [wireName, nobody]));
}

export const groupsSection: RegisterSection = registerSection({
  name: 'realm_user_groups',
  fields: {
    realm_user_groups: wire.listOf(shortGroup),
    usual_group_permissions: wire.optional(wire.fields(wire.optionalFields(GROUP_PERMISSION_FIELDS))),
  },
  forSpectators: { realm_user_groups: [] },
  load: (snapshot, { presentation }) => snapshot.load(can(presentation, 'lean_state') ? loadLeanGroups : loadGroups),
  // Clients offer what membership permits. Other members and groups are none of the token's business.
  forTokens: (groups, { actions }, viewer) =>
    groups.flatMap((group) => {
      const memberIds = group.memberIds.filter((id) => id === viewer.id);
      if (group.systemName === null && memberIds.length === 0) return [];
      return [{ ...group, memberIds: actions.includes('write') ? memberIds : [] }];
    }),
  present: (groups, { presentation }) => {
    const usual = can(presentation, 'partial_state') ? usualPermissions(groups) : null;
    return {
      realm_user_groups: new PresentedList(
        groups.filter((group) => !group.isDeactivated || can(presentation, 'include_deactivated_groups')),
        (group) => (usual ? unusual(presentGroup(group), usual) : presentGroup(group)),
      ),
      ...(usual && { usual_group_permissions: usual }),
    };
  },
});

const forMembers = { auth: 'user', scope: 'account', roleRequirements: ['member'] } as const;

/** Users §12.3, §12.4. */
export const groupRoutes: readonly Route[] = [
  route('GET', '/user_groups', {
    summary: 'List user groups',
    section: 'users §12.3',
    withoutPage: 'state',
    ...forMembers,
    isExpensive: true,
    dto: ListGroupsDto,
    useCase: ListGroups,
    toInput: ({ include_deactivated_groups }) => ({ includesDeactivated: include_deactivated_groups }),
    response: wire.fields({ user_groups: wire.listOf(group) }),
    present: (groups) => ({ user_groups: groups.map(presentGroup) }),
  }),
  route('POST', '/user_groups/create', {
    summary: 'Create a user group',
    section: 'users §12.3',
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
    response: wire.fields({ group_id: wire.integer() }),
    present: (id) => ({ group_id: id }),
  }),
  route('PATCH', '/user_groups/:user_group_id', {
    summary: 'Change a user group',
    section: 'users §12.3',
    ...forMembers,
    dto: UpdateGroupDto,
    useCase: UpdateGroup,
    toInput: (dto) => ({
      groupId: dto.user_group_id as GroupId,
      ...definedFields({ name: dto.name, description: dto.description, isDeactivated: dto.deactivated }),
      permissions: toGroupPermissionChanges(dto),
    }),
  }),
  route('POST', '/user_groups/:user_group_id/deactivate', {
    summary: 'Deactivate a user group',
    section: 'users §12.3',
    ...forMembers,
    dto: GroupIdDto,
    useCase: DeactivateGroup,
    toInput: ({ user_group_id }) => user_group_id as GroupId,
  }),
  route('GET', '/user_groups/:user_group_id/members', {
    summary: 'List the members of a user group',
    section: 'users §12.3',
    withoutPage: 'state',
    ...forMembers,
    dto: ListGroupMembersDto,
    useCase: ListGroupMembers,
    toInput: ({ user_group_id, direct_member_only }) => ({
      groupId: user_group_id as GroupId,
      directOnly: direct_member_only,
    }),
    response: wire.fields({ members: wire.listOf(wire.integer()) }),
    present: (members) => ({ members }),
  }),
  route('GET', '/user_groups/:user_group_id/members/:user_id', {
    summary: 'Check whether a user is a member of a user group',
    section: 'users §12.3',
    withoutPage: 'state',
    ...forMembers,
    dto: IsGroupMemberDto,
    useCase: IsGroupMember,
    toInput: ({ user_group_id, user_id, direct_member_only }) => ({
      groupId: user_group_id as GroupId,
      userId: user_id as UserId,
      directOnly: direct_member_only,
    }),
    response: wire.fields({ is_user_group_member: wire.boolean() }),
    present: (isMember) => ({ is_user_group_member: isMember }),
  }),
  route('GET', '/user_groups/:user_group_id/subgroups', {
    summary: 'List the subgroups of a user group',
    section: 'users §12.3',
    withoutPage: 'state',
    ...forMembers,
    dto: ListSubgroupsDto,
    useCase: ListSubgroups,
    toInput: ({ user_group_id, direct_subgroup_only }) => ({
      groupId: user_group_id as GroupId,
      directOnly: direct_subgroup_only,
    }),
    response: wire.fields({ subgroups: wire.listOf(wire.integer()) }),
    present: (subgroups) => ({ subgroups }),
  }),
  route('POST', '/user_groups/:user_group_id/members', {
    summary: 'Add and remove members and subgroups',
    section: 'users §12.4',
    isStarred: true,
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
    summary: 'Add and remove subgroups',
    section: 'users §12.4',
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

export const GROUPS = {
  tag: 'Groups',
  routes: () => groupRoutes,
  events: GROUP_EVENTS,
  errors: GROUP_WIRE_ERRORS,
  registerSections: () => [groupsSection],
} satisfies HttpFeature;
