import './permission-errors.js';

export { type Actor, type ActorReads, isAdministrator } from './actor.js';
export { defaultGroupSettings } from './default-group-settings.js';
export { GroupClosure } from './group-closure.js';
export type {} from './group-delivery.js';
export type { GroupSettingDefinition, GroupSettings, GroupSettingValue, GroupSettingValues } from './group-setting.js';
export type { GroupSettingUpdate } from './group-setting-rules.js';
export { isAtLeast, ROLES, type Role } from './role.js';
export { mustBeAdministrator, mustBeBot, mustBeHuman, mustBeOwner, mustNotBeGuest } from './role-rules.js';
export {
  directSystemGroups,
  SUBGROUP_OF,
  SYSTEM_GROUPS,
  type SystemGroupName,
  systemGroupTitle,
} from './system-groups.js';
