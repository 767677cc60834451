import type { GroupSettingUpdate, GroupSettingValue } from '@parley/domain/access';
import type { GroupId, UserId } from '@parley/domain/kernel';
import { groupSetting, groupSettingChange, type ValueOf, type WireGroupSetting } from '../kernel/param-types.js';
import { type Dto, given, param } from '../kernel/params.js';

/** Channels §2.4. */
export function presentGroupSetting(value: GroupSettingValue): WireGroupSetting {
  if (typeof value === 'number') return value;
  return { direct_members: [...value.directMembers], direct_subgroups: [...value.directSubgroups] };
}

/** The way back, for what clients choose. */
export function toGroupSetting(wire: WireGroupSetting): GroupSettingValue {
  if (typeof wire === 'number') return wire as GroupId;
  return {
    directMembers: wire.direct_members as UserId[],
    directSubgroups: wire.direct_subgroups as GroupId[],
  };
}

/** What the API calls a permission that groups hold: `canSubscribe` is `can_subscribe_group`. */
export function permissionTitle(name: string): string {
  const title = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return title.endsWith('_groups') ? title : `${title}_group`;
}

const permissionChange = groupSettingChange();
type PermissionChange = ValueOf<typeof permissionChange>;

/** Gives a DTO a parameter for each of the permissions: `{new, old?}`. */
export function declarePermissionChanges(dto: Dto, permissions: readonly string[]): void {
  for (const permission of permissions) {
    param(permissionChange, { optional: true })(dto.prototype, permissionTitle(permission));
  }
}

/** Gives a DTO a parameter for each of the permissions: what it is given to. */
export function declarePermissions(dto: Dto, permissions: readonly string[]): void {
  for (const permission of permissions) {
    param(groupSetting(), { optional: true })(dto.prototype, permissionTitle(permission));
  }
}

/** Of a DTO with `declarePermissionChanges`: those that the request names. */
export function toPermissionChanges<P extends string>(
  dto: object,
  permissions: readonly P[],
): { readonly [K in P]?: GroupSettingUpdate } {
  const changes: { [K in P]?: GroupSettingUpdate } = {};
  for (const permission of permissions) {
    const change = read<PermissionChange>(dto, permission);
    if (!change) continue;
    changes[permission] = given({
      new: toGroupSetting(change.new),
      old: change.old === undefined ? undefined : toGroupSetting(change.old),
    });
  }
  return changes;
}

/** Of a DTO with `declarePermissions`: those that the request names. */
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
