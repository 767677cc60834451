import type { I18n } from '@lingui/core';

/** Settings page, without its code. */
export interface SettingsSection {
  /** Last part of the address, as in Zulip. */
  readonly key: string;
  readonly title: string;
}

export type SettingsArea = 'settings' | 'organization';

export function sectionsOf(
  area: SettingsArea,
  i18n: I18n,
  { isAdmin, isOwner }: { readonly isAdmin: boolean; readonly isOwner: boolean },
): readonly SettingsSection[] {
  if (area === 'settings') {
    return [
      { key: 'profile', title: i18n._('Profile') },
      { key: 'account-and-privacy', title: i18n._('Account and privacy') },
      { key: 'preferences', title: i18n._('Preferences') },
      { key: 'notifications', title: i18n._('Notifications') },
      { key: 'alert-words', title: i18n._('Alert words') },
      { key: 'topics', title: i18n._('Topics') },
      { key: 'muted-users', title: i18n._('Muted people') },
      { key: 'your-bots', title: i18n._('Bots') },
      { key: 'uploaded-files', title: i18n._('Uploaded files') },
      { key: 'sessions', title: i18n._('Sessions') },
    ];
  }
  return [
    { key: 'organization-profile', title: i18n._('Organization profile') },
    { key: 'organization-settings', title: i18n._('Messages and more') },
    { key: 'organization-permissions', title: i18n._('Permissions') },
    { key: 'auth-methods', title: i18n._('Log-in') },
    { key: 'users', title: i18n._('People') },
    { key: 'invitations', title: i18n._('Invitations') },
    { key: 'bots', title: i18n._('Bots') },
    { key: 'integrations', title: i18n._('Integrations') },
    { key: 'emoji-settings', title: i18n._('Custom emoji') },
    { key: 'linkifier-settings', title: i18n._('Linkifiers') },
    { key: 'playground-settings', title: i18n._('Code playgrounds') },
    { key: 'profile-field-settings', title: i18n._('Profile fields') },
    { key: 'default-channels-list', title: i18n._('Default channels') },
    { key: 'default-channel-groups', title: i18n._('Default channel groups') },
    { key: 'channel-folders', title: i18n._('Channel folders') },
    ...(isAdmin
      ? [
          { key: 'organization-level-user-defaults', title: i18n._('Settings of new people') },
          { key: 'data-exports-admin', title: i18n._('Data exports') },
        ]
      : []),
    ...(isOwner
      ? [
          { key: 'imports', title: i18n._('Imports') },
          { key: 'audit-log', title: i18n._('Audit log') },
        ]
      : []),
  ];
}
