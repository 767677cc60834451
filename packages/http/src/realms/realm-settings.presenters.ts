import type { SettingValue } from '@parley/domain/kernel';
import type { ChangeRealmOutput } from '@parley/domain/membership';
import { presentGroupSetting } from '../groups/group-setting.presenters.js';
import { permissionTitle } from '../groups/permission-title.js';
import type { WireFields } from '../kernel/reply.js';
import type { ChangeRealmDto } from './realm-settings.dtos.js';
import { REALM_SETTING_FORMS } from './realm-settings.wire.js';

/** What really changed; of texts no more than that (organization §2). */
export function presentRealmChanges(output: ChangeRealmOutput, dto: ChangeRealmDto): WireFields {
  const { name, settings, permissions, changesAuthentication } = output;
  const fields: Record<string, unknown> = name === null ? {} : { name: UPDATED };
  for (const { name: setting, value } of settings) {
    const shown: SettingValue = REALM_SETTING_FORMS.presentValue(setting, value);
    fields[REALM_SETTING_FORMS.nameOf(setting)] = typeof shown === 'string' ? UPDATED : shown;
  }
  for (const { name: permission, value } of permissions)
    fields[permissionTitle(permission)] = presentGroupSetting(value);
  if (changesAuthentication) fields.authentication_methods = dto.authentication_methods;
  return fields;
}

const UPDATED = 'updated';
