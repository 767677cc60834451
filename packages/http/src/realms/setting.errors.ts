import type { DomainError } from '@parley/domain/kernel';
import type { WireError, WireErrors } from '../kernel/wire-error.js';
import { USER_SETTING_FORMS } from '../users/user-settings.wire.js';
import { unknownMethodText } from './authentication-methods.wire.js';
import { REALM_SETTING_FORMS } from './realm-settings.wire.js';

export const SETTING_WIRE_ERRORS = { BAD_SETTING_VALUE: badSetting } as const satisfies WireErrors;

/** In the words that clients know the setting by. */
function badSetting({ details: { of, setting, value } }: DomainError<'BAD_SETTING_VALUE'>): WireError {
  if (setting === 'authenticationMethods') return { text: unknownMethodText(String(value)) };
  const forms = of === 'user' ? USER_SETTING_FORMS : REALM_SETTING_FORMS;
  return forms.refusalOf(setting, value);
}
