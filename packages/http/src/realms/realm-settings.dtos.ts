import type { ChangeRealmInput } from '@parley/domain/membership';
import {
  MAX_REALM_NAME_LENGTH,
  REALM_PERMISSIONS,
  REALM_SETTINGS,
  type RealmPermission,
  type RealmSettingName,
} from '@parley/domain/realms';
import { declarePermissionChanges, toPermissionChanges } from '../groups/permission-changes.js';
import { param, TextParam } from '../kernel/params.js';
import { authenticationMethodsParam } from './authentication-methods.wire.js';
import { declareSettings } from './declare-settings.js';
import { REALM_SETTING_FORMS } from './realm-settings.wire.js';

const PERMISSIONS = Object.keys(REALM_PERMISSIONS) as RealmPermission[];
const SETTINGS = (Object.keys(REALM_SETTINGS) as RealmSettingName[]).filter(
  (name) => REALM_SETTINGS[name].changedBy !== 'nobody',
);

const MAX_STRING_ID_LENGTH = 40;

/** And every setting and permission of the organization, by the registries. */
export class ChangeRealmDto {
  @TextParam({ max: MAX_REALM_NAME_LENGTH, notBlank: true, optional: true }) name?: string;
  @TextParam({ max: MAX_STRING_ID_LENGTH, optional: true }) string_id?: string;
  @param(authenticationMethodsParam, { optional: true }) authentication_methods?: Record<string, boolean>;
}
declareSettings(ChangeRealmDto, REALM_SETTING_FORMS, SETTINGS);
declarePermissionChanges(ChangeRealmDto, PERMISSIONS);

export const toRealmPermissionChanges = (dto: ChangeRealmDto): ChangeRealmInput['permissions'] =>
  toPermissionChanges(dto, PERMISSIONS);
