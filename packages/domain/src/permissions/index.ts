export { type Actor, type ActorReads, isAdministrator } from './actor.js';
export type { GroupSettingDefinition, GroupSettings, GroupSettingValue, GroupSettingValues } from './group-setting.js';
export { isAtLeast, ROLES, type Role } from './role.js';
export { mustBeAdministrator, mustBeBot, mustBeHuman, mustBeOwner, mustNotBeGuest } from './role-rules.js';
export {
  directSystemGroups,
  SUBGROUP_OF,
  SYSTEM_GROUPS,
  type SystemGroupName,
  systemGroupTitle,
} from './system-groups.js';
