import type { GroupSettingUpdate, GroupSettingValue } from '@parley/domain/access';
import type { GroupId, UserId } from '@parley/domain/kernel';
import { anyOf, integer, listOf, MAX_IDS, named, object, optional, type ValueOf } from '../params/param-types.js';
import { type Dto, definedFields, param } from '../params/params.js';
import { snakeCase } from '../wire/reply.js';

const ids = listOf(integer(), { max: MAX_IDS });
/** Holders of a permission: a group id, or a set of users and groups. */
const groupSetting = named(
  'GroupSettingValue',
  anyOf([integer(), object({ direct_members: ids, direct_subgroups: ids })]),
);
export type WireGroupSetting = ValueOf<typeof groupSetting>;

/** Change of a group setting; `old` detects concurrent changes. */
const permissionChange = object({ new: groupSetting, old: optional(groupSetting) });
type PermissionChange = ValueOf<typeof permissionChange>;

/** Channels §2.4. */
export function presentGroupSetting(value: GroupSettingValue): WireGroupSetting {
  if (typeof value === 'number') return value;
  return { direct_members: [...value.directMembers], direct_subgroups: [...value.directSubgroups] };
}

/** Converts a wire value chosen by the client. */
export function toGroupSetting(wire: WireGroupSetting): GroupSettingValue {
  if (typeof wire === 'number') return wire as GroupId;
  return {
    directMembers: wire.direct_members as UserId[],
    directSubgroups: wire.direct_subgroups as GroupId[],
  };
}

/** Returns the wire name of a group permission: `canSubscribe` becomes `can_subscribe_group`. */
export function permissionTitle(name: string): string {
  const title = snakeCase(name);
  return title.endsWith('_groups') ? title : `${title}_group`;
}

/** Declares a `{new, old?}` parameter per permission on a DTO. */
export function declarePermissionChanges(dto: Dto, permissions: readonly string[]): void {
  for (const permission of permissions) {
    param(permissionChange, { optional: true })(dto.prototype, permissionTitle(permission));
  }
}

/** Declares a parameter with the permitted groups and users per permission on a DTO. */
export function declarePermissions(dto: Dto, permissions: readonly string[]): void {
  for (const permission of permissions) {
    param(groupSetting, { optional: true })(dto.prototype, permissionTitle(permission));
  }
}

/** Returns the permission changes present in a DTO declared with `declarePermissionChanges`. */
export function toPermissionChanges<P extends string>(
  dto: object,
  permissions: readonly P[],
): { readonly [K in P]?: GroupSettingUpdate } {
  const changes: { [K in P]?: GroupSettingUpdate } = {};
  for (const permission of permissions) {
    const change = read<PermissionChange>(dto, permission);
    if (!change) continue;
    changes[permission] = definedFields({
      new: toGroupSetting(change.new),
      old: change.old === undefined ? undefined : toGroupSetting(change.old),
    });
  }
  return changes;
}

/** Returns the permissions present in a DTO declared with `declarePermissions`. */
export function toPermissions<P extends string>(
  dto: object,
  permissions: readonly P[],
): { readonly [K in P]?: GroupSettingUpdate['new'] } {
  const chosen: { [K in P]?: GroupSettingUpdate['new'] } = {};
  for (const permission of permissions) {
    const value = read<WireGroupSetting>(dto, permission);
    if (value !== undefined) chosen[permission] = toGroupSetting(value);
  }
  return chosen;
}

const read = <T>(dto: object, permission: string): T | undefined =>
  (dto as Readonly<Record<string, T | undefined>>)[permissionTitle(permission)];
