import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { type ComponentType, useId } from 'react';
import { useComputed } from '../services/context.js';
import { useManagement } from '../services/use-management.js';
import { Account } from './account.js';
import { AllBots, OwnBots } from './bots.js';
import styles from './managing.module.css';
import { OrganizationProfile, OrganizationSettings, UserDefaults } from './organization.js';
import {
  ChannelFolders,
  CustomEmoji,
  DefaultChannels,
  Exports,
  Linkifiers,
  Playgrounds,
  ProfileFieldsOfAll,
} from './organization-lists.js';
import { Heading, Missing } from './page-parts.js';
import { Authentication, OrganizationPermissions } from './permissions.js';
import { AlertWords, MutedPeople, MutedTopics, Sessions, Uploads } from './personal-lists.js';
import { Notifications, Preferences } from './preferences.js';
import { Profile } from './profile.js';
import { Invitations, Users } from './users.js';

interface SectionPage {
  /** Last part of the address, as in Zulip. */
  readonly key: string;
  readonly title: string;
  readonly Page: ComponentType;
  readonly isFilling?: boolean;
}

type Area = 'settings' | 'organization';

function sectionsOf(area: string, i18n: I18n, isAdmin: boolean): readonly SectionPage[] {
  if (area === 'settings') {
    return [
      { key: 'profile', title: i18n._('Profile'), Page: Profile },
      { key: 'account-and-privacy', title: i18n._('Account and privacy'), Page: Account },
      { key: 'preferences', title: i18n._('Preferences'), Page: OwnPreferences },
      { key: 'notifications', title: i18n._('Notifications'), Page: OwnNotifications },
      { key: 'alert-words', title: i18n._('Alert words'), Page: AlertWords },
      { key: 'topics', title: i18n._('Topics'), Page: MutedTopics, isFilling: true },
      { key: 'muted-users', title: i18n._('Muted people'), Page: MutedPeople, isFilling: true },
      { key: 'your-bots', title: i18n._('Bots'), Page: OwnBots, isFilling: true },
      { key: 'uploaded-files', title: i18n._('Uploaded files'), Page: Uploads, isFilling: true },
      { key: 'sessions', title: i18n._('Sessions'), Page: Sessions },
    ];
  }
  return [
    { key: 'organization-profile', title: i18n._('Organization profile'), Page: OrganizationProfile },
    { key: 'organization-settings', title: i18n._('Messages and more'), Page: OrganizationSettings },
    { key: 'organization-permissions', title: i18n._('Permissions'), Page: OrganizationPermissions },
    { key: 'auth-methods', title: i18n._('Log-in'), Page: Authentication },
    { key: 'users', title: i18n._('People'), Page: Users, isFilling: true },
    { key: 'invitations', title: i18n._('Invitations'), Page: Invitations },
    { key: 'bots', title: i18n._('Bots'), Page: AllBots, isFilling: true },
    { key: 'emoji-settings', title: i18n._('Custom emoji'), Page: CustomEmoji },
    { key: 'linkifier-settings', title: i18n._('Linkifiers'), Page: Linkifiers },
    { key: 'playground-settings', title: i18n._('Code playgrounds'), Page: Playgrounds },
    { key: 'profile-field-settings', title: i18n._('Profile fields'), Page: ProfileFieldsOfAll },
    { key: 'default-channels-list', title: i18n._('Default channels'), Page: DefaultChannels },
    { key: 'channel-folders', title: i18n._('Channel folders'), Page: ChannelFolders },
    ...(isAdmin
      ? [
          { key: 'organization-level-user-defaults', title: i18n._('Settings of new people'), Page: UserDefaults },
          { key: 'data-exports-admin', title: i18n._('Data exports'), Page: Exports },
        ]
      : []),
  ];
}

function OwnPreferences() {
  return <Preferences source={useManagement().personal} isOwn />;
}

function OwnNotifications() {
  return <Notifications source={useManagement().personal} isOwn />;
}

/** Personal settings or those of the organization: a list of sections, and the one that the address names. */
export function SettingsPages({ area, section }: { readonly area: Area; readonly section: string }) {
  const { i18n } = useLingui();
  const { rights } = useManagement();
  const titleId = useId();
  const isAdmin = useComputed(() => rights.isAdmin, [rights]);
  const sections = sectionsOf(area, i18n, isAdmin);
  const current = sections.find(({ key }) => key === section);
  // On small screens the area by itself is the list of its sections.
  const shown = current ?? (section === '' ? sections[0] : undefined);
  return (
    <div className={styles.layout} data-section={section === '' ? undefined : section}>
      <nav className={styles.sections} aria-labelledby={titleId}>
        <h2 id={titleId}>{area === 'settings' ? i18n._('Personal settings') : i18n._('Organization settings')}</h2>
        <ul>
          {sections.map(({ key, title }) => (
            <li key={key}>
              <a href={`#${area}/${key}`} aria-current={key === shown?.key ? 'page' : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {shown ? (
        <section
          className={styles.page}
          data-filling={shown.isFilling}
          key={shown.key}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls pages whose controls are all disabled.
          tabIndex={0}
        >
          <a className={styles.toSections} href={`#${area}`}>
            {area === 'settings' ? i18n._('All settings') : i18n._('All organization settings')}
          </a>
          <Heading title={shown.title} />
          <shown.Page />
        </section>
      ) : (
        <Missing />
      )}
    </div>
  );
}
