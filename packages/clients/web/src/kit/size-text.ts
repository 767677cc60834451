import type { I18n } from '@lingui/core';

/** File size in the user's language. */
export function sizeText(i18n: I18n, bytes: number): string {
  if (bytes < 1e3) return i18n.number(bytes, { style: 'unit', unit: 'byte', unitDisplay: 'long' });
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, 'kilobyte'] : [bytes / 1e6, 'megabyte'];
  return i18n.number(value, { style: 'unit', unit, maximumFractionDigits: 1 });
}
