import { useLingui } from '@lingui/react';
import type { Chat, SettingsSource } from '@parley/chat';
import { type ComponentType, useCallback, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from 'react';
import { mounted } from '../kit/mounted.js';
import { useChat, useComputed, useField, useServices } from '../services/context.js';
import { setShowsInitials, showsInitials } from '../services/shows-initials.js';
import { useManagement } from '../services/use-management.js';
import { Account } from './account.js';
import { Audit } from './audit.js';
import { AllBots, OwnBots } from './bots.js';
import { ChannelSettings } from './channel-settings.js';
import { BrowseChannels, CreateChannel } from './channels.js';
import { BrowseGroups, GroupSettings } from './groups.js';
import { Imports } from './imports.js';
import { Integrations } from './integrations.js';
import styles from './managing.module.css';
import { OrganizationProfile, OrganizationSettings, UserDefaults } from './organization.js';
import { ChannelFolders, DefaultChannelGroups, DefaultChannels } from './organization-channels.js';
import { CustomEmoji, Exports, Linkifiers, Playgrounds, ProfileFieldsOfAll } from './organization-lists.js';
import { Heading, Missing, SearchField } from './page-parts.js';
import { Authentication, OrganizationPermissions } from './permissions.js';
import { AlertWords, MutedPeople, MutedTopics, Sessions, Uploads } from './personal-lists.js';
import { Notifications, Preferences } from './preferences.js';
import { Profile } from './profile.js';
import { type SettingsArea, type SettingsSection, sectionsOf } from './sections.js';
import { FoundSettings, type SettingPlace, SettingsIndex, showSetting } from './settings-search.js';
import { Invitations, Users } from './users.js';

/** Settings pages, addressed in Zulip's form: `#channels/5/name/general`, `#settings/profile` … */
export function ManagingPage({ path }: { readonly path: readonly string[] }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => keepFocus(mounted(frame)), []);
  return (
    <div ref={frame} className={styles.managing}>
      <Page path={path} />
    </div>
  );
}

const CONTROLS = 'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled';

/**
 * Moves the focus from a removed control to its replacement in the row, the next row, or the page. Returns an
 * unsubscribe function.
 */
function keepFocus(frame: HTMLElement): () => void {
  const root = frame.closest('[data-parley]')!;
  let last: { readonly control: HTMLElement; readonly rows: readonly Element[]; readonly place: number } | null = null;
  const onFocus = ({ target }: Event) => {
    const control = target as HTMLElement;
    const row = control.closest('li, tr, [data-setting]');
    const siblings = row ? [...row.parentElement!.children] : [];
    // The row itself, then following rows, then preceding ones.
    const index = siblings.indexOf(row!);
    const rows = [...siblings.slice(index), ...siblings.slice(0, Math.max(index, 0)).reverse()];
    last = { control, rows, place: row ? [...row.querySelectorAll(CONTROLS)].indexOf(control) : 0 };
  };
  const onPointer = ({ target }: Event) => {
    if (!last?.control.contains(target as Node)) last = null;
  };
  const restore = () => {
    const { activeElement } = frame.getRootNode() as Document | ShadowRoot;
    if (!last || last.control.isConnected || (activeElement && activeElement !== document.body)) return;
    const controls = last.rows.find((row) => row.isConnected)?.querySelectorAll<HTMLElement>(CONTROLS) ?? [];
    const next = controls[Math.min(last.place, controls.length - 1)];
    const page = frame.querySelector<HTMLElement>('section[tabindex], :not(nav) > h2, input[type="search"]:not(nav *)');
    last = null;
    if (page?.matches('h2')) page.tabIndex = -1;
    (next ?? page)?.focus();
  };
  const observer = new MutationObserver(restore);
  observer.observe(root, { childList: true, subtree: true });
  frame.addEventListener('focusin', onFocus);
  frame.addEventListener('pointerdown', onPointer);
  return () => observer.disconnect();
}

function Page({ path }: { readonly path: readonly string[] }) {
  const [area, place = '', ...rest] = path;
  if (area === 'channels') {
    if (place === 'new') return <CreateChannel />;
    if (/^\d+$/.test(place))
      return <ChannelSettings key={place} channelId={Number(place)} section={rest[1] ?? 'general'} />;
    return <BrowseChannels filter={place} />;
  }
  if (area === 'groups') {
    if (/^\d+$/.test(place))
      return <GroupSettings key={place} groupId={Number(place)} section={rest[1] ?? 'general'} />;
    return <BrowseGroups filter={place} />;
  }
  if (area === 'settings' || area === 'organization')
    return <SettingsPages area={area} place={path.slice(1).join('/')} />;
  return <Missing />;
}

const PAGES: Readonly<Record<string, ComponentType<{ readonly part: string | undefined }>>> = {
  profile: Profile,
  'account-and-privacy': Account,
  preferences: OwnPreferences,
  notifications: OwnNotifications,
  'alert-words': AlertWords,
  topics: MutedTopics,
  'muted-users': MutedPeople,
  'your-bots': OwnBots,
  'uploaded-files': Uploads,
  sessions: Sessions,
  'organization-profile': OrganizationProfile,
  'organization-settings': OrganizationSettings,
  'organization-permissions': OrganizationPermissions,
  'auth-methods': Authentication,
  users: Users,
  invitations: Invitations,
  bots: AllBots,
  integrations: Integrations,
  'emoji-settings': CustomEmoji,
  'linkifier-settings': Linkifiers,
  'playground-settings': Playgrounds,
  'profile-field-settings': ProfileFieldsOfAll,
  'default-channels-list': DefaultChannels,
  'default-channel-groups': DefaultChannelGroups,
  'channel-folders': ChannelFolders,
  'organization-level-user-defaults': UserDefaults,
  'data-exports-admin': Exports,
  imports: Imports,
  'audit-log': Audit,
};

/** Sections and parts in other addresses of current and older Zulip clients. */
const SYNONYMS: Readonly<Record<string, string>> = {
  'users/invitations': 'invitations',
  'invites-admin': 'invitations',
  'user-list-admin': 'users',
  'deactivated-users-admin': 'users/deactivated',
  'bot-list-admin': 'bots',
  'your-account': 'profile',
  'display-settings': 'preferences',
  'muted-topics': 'topics',
  'user-topics': 'topics',
};

/** Pages that consist of a full-height list. */
const FILLING = new Set(['topics', 'muted-users', 'your-bots', 'uploaded-files', 'users', 'bots']);

/** Pages covered by the search for settings. */
const SEARCHED = new Set([
  ...['profile', 'account-and-privacy', 'preferences', 'notifications'],
  ...['organization-profile', 'organization-settings', 'organization-permissions', 'auth-methods'],
  'organization-level-user-defaults',
]);

const searchedOf = (sections: readonly SettingsSection[]) =>
  sections.filter(({ key }) => SEARCHED.has(key)).map((each) => ({ ...each, Page: PAGES[each.key]! }));

interface AllSettingsProps {
  readonly areas: readonly SettingsArea[];
  onRead(settings: readonly SettingPlace[]): void;
}

/** Settings that were listed last, and what they depend on: language, sections and profile fields. */
const listed = new WeakMap<Chat, { readonly key: string; readonly settings: readonly SettingPlace[] }>();

/** Lists the settings of all pages that the search for settings covers. */
export function AllSettings({ areas, onRead }: AllSettingsProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const fields = useField('custom_profile_fields');
  const { rights } = useManagement();
  const isAdmin = useComputed(() => rights.isAdmin, [rights]);
  const isOwner = useComputed(() => rights.isOwner, [rights]);
  const sections = useMemo(
    () =>
      areas.flatMap((area) =>
        searchedOf(sectionsOf(area, i18n, { isAdmin, isOwner })).map((each) => ({ ...each, area })),
      ),
    [areas, i18n, isAdmin, isOwner],
  );
  const key = JSON.stringify([i18n.locale, sections.map((each) => each.key), fields]);
  const last = listed.get(chat);
  const isListed = last?.key === key;
  useEffect(() => {
    if (isListed) onRead(last.settings);
  }, [isListed, last, onRead]);
  const onList = useCallback(
    (settings: readonly SettingPlace[]) => {
      listed.set(chat, { key, settings });
      onRead(settings);
    },
    [chat, key, onRead],
  );
  return isListed ? null : <SettingsIndex key={key} sections={sections} onRead={onList} />;
}

function OwnPreferences() {
  const { personal } = useManagement();
  const { setLanguage } = useServices();
  const { locale } = useLingui().i18n;
  // While the setting is the organization's default, which the user did not choose, the page uses the browser's
  // language.
  const source = useMemo<SettingsSource>(
    () => ({
      ...personal,
      read: (name) => {
        if (name === 'initials') return showsInitials.value;
        return name === 'default_language' && setLanguage !== undefined ? locale : personal.read(name);
      },
      save: async (changes) => {
        if (changes.initials !== undefined) return setShowsInitials(changes.initials === true);
        await personal.save(changes);
        if (changes.default_language !== undefined) setLanguage?.(String(changes.default_language));
      },
    }),
    [personal, setLanguage, locale],
  );
  return <Preferences source={source} isOwn />;
}

function OwnNotifications() {
  return <Notifications source={useManagement().personal} isOwn />;
}

interface SettingsPagesProps {
  readonly area: SettingsArea;
  /** Section with its part: `users/deactivated`. */
  readonly place: string;
}

/** Personal or organization settings: a section list and the addressed section. */
function SettingsPages({ area, place }: SettingsPagesProps) {
  const { i18n } = useLingui();
  const { rights } = useManagement();
  const titleId = useId();
  const isAdmin = useComputed(() => rights.isAdmin, [rights]);
  const isOwner = useComputed(() => rights.isOwner, [rights]);
  const sections = sectionsOf(area, i18n, { isAdmin, isOwner });
  const [section = '', part] = (SYNONYMS[place] ?? place).split('/');
  const current = sections.find(({ key }) => key === section);
  const isForAdmins = sectionsOf(area, i18n, { isAdmin: true, isOwner: true }).some(({ key }) => key === section);
  // On small screens the bare settings URL shows the section list.
  const shown = current ?? (section === '' ? sections[0] : undefined);
  const [query, setQuery] = useState('');
  const wanted = useDeferredValue(query.trim());
  // Choosing a section ends the search.
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above.
  useEffect(() => setQuery(''), [area, section]);
  return (
    <div
      className={styles.layout}
      data-section={section === '' ? undefined : section}
      data-searching={wanted !== '' || undefined}
    >
      <nav className={styles.sections} aria-labelledby={titleId}>
        <h2 id={titleId}>{area === 'settings' ? i18n._('Personal settings') : i18n._('Organization settings')}</h2>
        <SearchField label={i18n._('Search settings')} value={query} onChange={setQuery} />
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
      {wanted !== '' ? (
        <FoundSettings key={area} query={wanted} sections={searchedOf(sections)} />
      ) : shown ? (
        <SettingsSectionPage key={`${shown.key}/${part}`} area={area} section={shown} part={part} />
      ) : (
        <Missing {...(isForAdmins && { kind: 'for administrators' })} />
      )}
    </div>
  );
}

interface SectionProps {
  readonly area: SettingsArea;
  readonly section: SettingsSection;
  readonly part: string | undefined;
}

function SettingsSectionPage({ area, section: { key, title }, part }: SectionProps) {
  const { i18n } = useLingui();
  const isFilling = FILLING.has(key);
  const Page = PAGES[key]!;
  const page = <Page part={part} />;
  const frame = useRef<HTMLElement>(null);
  useEffect(() => (part === undefined ? undefined : showSetting(mounted(frame), part)), [part]);
  return (
    <section
      ref={frame}
      className={styles.page}
      data-filling={isFilling || undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls pages whose controls are all disabled.
      tabIndex={0}
    >
      <a className={styles.toSections} href={`#${area}`}>
        {area === 'settings' ? i18n._('All settings') : i18n._('All organization settings')}
      </a>
      <Heading title={title} />
      {isFilling ? page : <div className={styles.columns}>{page}</div>}
    </section>
  );
}
