import type { Registry } from '@parley/domain/kernel';
import { type Dto, param } from '../kernel/params.js';
import type { WireSettings } from './wire-settings.js';

/** Makes optional parameters of the settings named, after those that the class has already. `forms.read` reads them. */
export function declareSettings<R extends Registry>(
  dto: Dto,
  forms: WireSettings<R>,
  names: readonly (keyof R & string)[],
): void {
  for (const setting of names) {
    const { name, type } = forms.parameterOf(setting);
    param(type, { optional: true })(dto.prototype as object, name);
  }
}
