import type { I18n } from '@lingui/core';

/** Names of keys joined by `+`, as they are printed on keyboards for the language. */
export function keyNames(keys: string, i18n: I18n): string {
  const names: Readonly<Record<string, string>> = {
    Ctrl: i18n._('Ctrl'),
    Enter: i18n._('Enter'),
    Shift: i18n._('Shift'),
  };
  return keys
    .split('+')
    .map((key) => names[key] ?? key)
    .join('+');
}
