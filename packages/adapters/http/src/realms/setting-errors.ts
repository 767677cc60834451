import type { DomainError } from '@parley/domain/kernel';
import type { HttpFeature } from '../declarations/feature.js';
import { USER_SETTING_FORMS } from '../users/user-settings.js';
import type { WireError, WireErrors } from '../wire/reply.js';
import { REALM_SETTING_FORMS, unknownMethodText } from './realm-settings.js';

export const SETTING_WIRE_ERRORS = { BAD_SETTING_VALUE: badSetting } as const satisfies WireErrors;

/** Presents the error with the setting's wire name. */
function badSetting({ details: { of, setting, value } }: DomainError<'BAD_SETTING_VALUE'>): WireError {
  if (setting === 'authenticationMethods') return { text: unknownMethodText(String(value)) };
  const forms = of === 'user' ? USER_SETTING_FORMS : REALM_SETTING_FORMS;
  return forms.refusalOf(setting, value);
}

export const SETTINGS = { errors: SETTING_WIRE_ERRORS } satisfies HttpFeature;
