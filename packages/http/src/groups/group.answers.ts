import { GROUP_PERMISSIONS, type GroupPermission } from '@parley/domain/groups';
import * as wire from '../kernel/wire-schema.js';
import { permissionTitle } from './permission-title.js';

/** Channels §2.4. */
export const groupSetting = wire.named(
  'GroupSetting',
  wire.anyOf(
    wire.integer(),
    wire.fields({ direct_members: wire.listOf(wire.integer()), direct_subgroups: wire.listOf(wire.integer()) }),
  ),
);

/** A field for each permission, under the API's name of it. */
export const permissionFields = (permissions: readonly string[]): Readonly<Record<string, typeof groupSetting>> =>
  Object.fromEntries(permissions.map((permission) => [permission, groupSetting]));

const CHANGEABLE = {
  name: wire.text(),
  description: wire.text(),
  deactivated: wire.boolean(),
  ...permissionFields((Object.keys(GROUP_PERMISSIONS) as GroupPermission[]).map(permissionTitle)),
};

/** Events §4.6. */
export const group = wire.named(
  'UserGroup',
  wire.fields({
    id: wire.integer(),
    ...CHANGEABLE,
    creator_id: wire.nullable(wire.integer()),
    date_created: wire.nullable(wire.integer()),
    members: wire.listOf(wire.integer()),
    direct_subgroup_ids: wire.listOf(wire.integer()),
    is_system_group: wire.boolean(),
  }),
);

export const groupChange = wire.fields(wire.optionalFields(CHANGEABLE));
