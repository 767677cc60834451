import type { WireErrors } from '../kernel/wire-error.js';
import { presentGroupUses } from './group.presenters.js';
import { permissionTitle } from './permission-title.js';

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
