export {
  GROUP_PERMISSIONS,
  type Group,
  type GroupPermission,
  type GroupView,
  MAX_GROUP_DESCRIPTION_LENGTH,
} from './group.js';

import './group-errors.js';

export type { GroupEventTypes } from './group-events.js';
export { loadGroups } from './group-loaders.js';
export type { GroupUse } from './group-permissions.js';
export type { GroupRepository } from './group-repository.js';
export * from './use-cases/change-group-members.js';
export * from './use-cases/create-group.js';
export * from './use-cases/list-groups.js';
export * from './use-cases/promote-full-members.js';
export * from './use-cases/read-group.js';
export * from './use-cases/remove-unused-groups.js';
export * from './use-cases/update-group.js';
