import type { I18n } from '@lingui/core';

/** Returns keys joined by `+` with their names in the page's language, such as `Strg+Enter`. */
export function keyNames(keys: string, i18n: I18n): string {
  const names: Readonly<Record<string, string>> = {
    Ctrl: i18n._('Ctrl'),
    Control: i18n._('Ctrl'),
    Enter: i18n._('Enter'),
    Shift: i18n._('Shift'),
  };
  return keys
    .split('+')
    .map((key) => names[key] ?? key)
    .join('+');
}
