import type { I18n } from '@lingui/core';
import type { UserGroup } from '@parley/client';

/** Name of a group in the user's language. */
export function groupName({ name, is_system_group }: UserGroup, i18n: I18n): string {
  if (!is_system_group) return name;
  const names: Readonly<Record<string, string>> = {
    'role:owners': i18n._('Owners'),
    'role:administrators': i18n._('Administrators'),
    'role:moderators': i18n._('Moderators'),
    'role:fullmembers': i18n._('Full members'),
    'role:members': i18n._('Members'),
    'role:everyone': i18n._('Everyone'),
    'role:internet': i18n._('Everyone on the internet'),
    'role:nobody': i18n._('Nobody'),
  };
  return names[name] ?? name;
}
