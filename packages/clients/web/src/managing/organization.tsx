import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { Avatar } from '../kit/avatar.js';
import { useChat, useComputed, useField, useServices } from '../services/context.js';
import { useManagement } from '../services/use-management.js';
import type { Option, Setting } from './fields.js';
import { DangerousButton, Section } from './form.js';
import styles from './managing.module.css';
import { ReadOnlyNotice } from './permissions.js';
import { languageOptions, Notifications, Preferences } from './preferences.js';
import { ImageSection } from './profile.js';

/** Name, texts and images of the organization. */
export function OrganizationProfile() {
  const { i18n } = useLingui();
  const { baseUrl } = useServices();
  const { api, rights } = useManagement();
  const name = useField('realm_name') ?? '';
  const icon = { url: useField('realm_icon_url'), source: useField('realm_icon_source') };
  const logo = { url: useField('realm_logo_url'), source: useField('realm_logo_source') };
  const nightLogo = { url: useField('realm_night_logo_url'), source: useField('realm_night_logo_source') };
  const maxOfIcons = useField('max_icon_file_size_mib');
  const maxOfLogos = useField('max_logo_file_size_mib');
  const isAdmin = useComputed(() => rights.isAdmin, [rights]);
  const isOwner = useComputed(() => rights.isOwner, [rights]);
  const addressOf = (url: string | undefined) =>
    url === undefined ? null : new URL(url.replace(/^\//, ''), baseUrl).href;
  return (
    <>
      <ReadOnlyNotice />
      <NameSection />
      <ImageSection
        title={i18n._('Icon')}
        preview={<Avatar key={icon.url} url={addressOf(icon.url)} name={name} size={64} />}
        isOwn={icon.source === 'U'}
        isDisabled={!isAdmin}
        maxMebibytes={maxOfIcons}
        onChoose={(filename) => api.post('/realm/icon', { filename })}
        onRemove={() => api.delete('/realm/icon', {})}
      />
      {[
        { ...logo, night: false, title: i18n._('Logo for the light theme') },
        { ...nightLogo, night: true, title: i18n._('Logo for the dark theme') },
      ].map(({ url, source, night, title }) => (
        <ImageSection
          key={title}
          title={title}
          preview={
            source === 'U' ? (
              <img className={styles.logo} src={addressOf(url) ?? ''} alt="" />
            ) : (
              <span className={styles.hint}>{i18n._('None')}</span>
            )
          }
          isOwn={source === 'U'}
          isDisabled={!isAdmin}
          maxMebibytes={maxOfLogos}
          onChoose={(filename) => api.post('/realm/logo', { night, filename })}
          onRemove={() => api.delete('/realm/logo', { night })}
        />
      ))}
      {isOwner && <DeactivationSection />}
    </>
  );
}

function NameSection() {
  const { i18n } = useLingui();
  const { realm } = useManagement();
  const types: readonly (readonly [number, string])[] = [
    [0, i18n._('Unspecified')],
    [10, i18n._('Business')],
    [20, i18n._('Open-source project')],
    [30, i18n._('Education (non-profit)')],
    [35, i18n._('Education (for-profit)')],
    [40, i18n._('Research')],
    [50, i18n._('Event or conference')],
    [60, i18n._('Non-profit (registered)')],
    [70, i18n._('Government')],
    [80, i18n._('Political group')],
    [90, i18n._('Community')],
    [100, i18n._('Personal')],
    [1000, i18n._('Other')],
  ];
  return (
    <Section
      source={realm}
      settings={[
        { name: 'name', label: i18n._('Name'), kind: 'text', maxLength: 40 },
        { name: 'description', label: i18n._('Description'), kind: 'lines', maxLength: 1000 },
        {
          name: 'org_type',
          label: i18n._('Kind of organization'),
          kind: 'choice',
          options: types.map(([value, label]) => ({ value, label })),
        },
      ]}
    />
  );
}

function DeactivationSection() {
  const { i18n } = useLingui();
  const { api } = useManagement();
  return (
    <section className={styles.section}>
      <h3>{i18n._('Deactivate organization')}</h3>
      <DangerousButton
        title={i18n._('Deactivate the organization?')}
        action={i18n._('Deactivate')}
        text={i18n._('All users are logged out and can no longer log in.')}
        onConfirm={() => api.post('/realm/deactivate', {})}
      >
        {i18n._('Deactivate organization')}
      </DangerousButton>
    </section>
  );
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function limit(i18n: I18n, name: string, label: string): Setting {
  const option = (value: number, text: string): Option => ({ value, label: text });
  return {
    name,
    label,
    kind: 'limit',
    unit: i18n._('minutes'),
    unitSize: MINUTE,
    none: { value: null, wire: 'unlimited', label: i18n._('At any time') },
    presets: [
      option(2 * MINUTE, i18n._('Up to 2 minutes after sending')),
      option(10 * MINUTE, i18n._('Up to 10 minutes after sending')),
      option(HOUR, i18n._('Up to 1 hour after sending')),
      option(DAY, i18n._('Up to 1 day after sending')),
      option(7 * DAY, i18n._('Up to 1 week after sending')),
    ],
  };
}

const toggle = (name: string, label: string): Setting => ({ name, label, kind: 'switch' });

/** Messages, notifications and languages. */
export function OrganizationSettings() {
  return (
    <>
      <ReadOnlyNotice />
      <MessageSettings />
      <AutomaticMessages />
      <OrganizationNotifications />
      <OtherSettings />
    </>
  );
}

function MessageSettings() {
  const { i18n } = useLingui();
  const { realm } = useManagement();
  return (
    <Section
      title={i18n._('Messages')}
      source={realm}
      settings={[
        toggle('allow_message_editing', i18n._('People can edit their messages')),
        limit(i18n, 'message_content_edit_limit_seconds', i18n._('Messages can be edited')),
        {
          name: 'message_edit_history_visibility_policy',
          label: i18n._('Edit history of messages'),
          kind: 'choice',
          options: [
            { value: 'all', label: i18n._('Edits and moves') },
            { value: 'moves', label: i18n._('Only moves') },
            { value: 'none', label: i18n._('Hidden') },
          ],
        },
        limit(i18n, 'message_content_delete_limit_seconds', i18n._('Own messages can be deleted')),
        limit(i18n, 'move_messages_within_stream_limit_seconds', i18n._('Messages can be moved to other topics')),
        limit(i18n, 'move_messages_between_streams_limit_seconds', i18n._('Messages can be moved to other channels')),
        {
          name: 'message_retention_days',
          label: i18n._('Messages are kept'),
          kind: 'limit',
          unit: i18n._('days'),
          unitSize: 1,
          none: { value: -1, wire: 'unlimited', label: i18n._('Forever') },
          presets: [30, 90, 365].map((value) => ({
            value,
            label: i18n._('{count, plural, one {# day} other {# days}}', { count: value }),
          })),
        },
        {
          name: 'topics_policy',
          label: i18n._('Messages without a topic'),
          kind: 'choice',
          options: [
            { value: 'allow_empty_topic', label: i18n._('Allowed') },
            { value: 'disable_empty_topic', label: i18n._('Not allowed') },
          ],
        },
        toggle('enable_read_receipts', i18n._('Show who has read messages')),
        toggle('inline_image_preview', i18n._('Show previews of images')),
        toggle('inline_url_embed_preview', i18n._('Show previews of linked pages')),
        {
          name: 'media_preview_size',
          label: i18n._('Size of previews'),
          kind: 'choice',
          options: [
            { value: 100, label: i18n._('Normal') },
            { value: 150, label: i18n._('Large') },
            { value: 200, label: i18n._('Very large') },
          ],
        },
        {
          name: 'default_code_block_language',
          label: i18n._('Language of code blocks'),
          kind: 'text',
          isOptional: true,
          hint: i18n._('For blocks without a language, such as python'),
        },
        {
          name: 'search_languages',
          label: i18n._('Search languages'),
          kind: 'text',
          isOptional: true,
          hint: i18n._('Codes such as de,fr; if empty, the languages of each message'),
        },
      ]}
    />
  );
}

function AutomaticMessages() {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { realm } = useManagement();
  const channels = useComputed(
    () => [
      { value: -1, label: i18n._('None') },
      ...state.channels
        .values()
        .filter(({ channel }) => !channel.is_archived)
        .map(({ channel }) => ({ value: channel.stream_id, label: `#${channel.name}` })),
    ],
    [state, i18n],
  );
  const channel = (name: string, label: string): Setting => ({ name, label, kind: 'choice', options: channels });
  return (
    <Section
      title={i18n._('Automatic messages')}
      source={realm}
      settings={[
        channel('new_stream_announcements_stream_id', i18n._('New channels are announced in')),
        channel('signup_announcements_stream_id', i18n._('New people are announced in')),
        channel('zulip_update_announcements_stream_id', i18n._('Updates are announced in')),
        channel('moderation_request_channel_id', i18n._('Reported messages are shown in')),
        toggle('send_channel_events_messages', i18n._('Notify channels of changes to their settings')),
        {
          name: 'welcome_message_custom_text',
          label: i18n._('Welcome message'),
          kind: 'lines',
          maxLength: 8000,
          hint: i18n._('Sent to new people as a direct message'),
        },
      ]}
    />
  );
}

function OrganizationNotifications() {
  const { i18n } = useLingui();
  const { realm } = useManagement();
  const days = [1, 2, 3, 4, 5, 6, 7].map((day, index) => ({
    value: index,
    // January 1st, 2024 was a Monday.
    label: i18n.date(new Date(2024, 0, day), { weekday: 'long' }),
  }));
  return (
    <Section
      title={i18n._('Notifications and emails')}
      source={realm}
      settings={[
        toggle('message_content_allowed_in_email_notifications', i18n._('Emails may contain the text of messages')),
        toggle('require_e2ee_push_notifications', i18n._('Notifications on phones only with end-to-end encryption')),
        toggle('digest_emails_enabled', i18n._('Send digests to people who are away')),
        { name: 'digest_weekday', label: i18n._('Day of digests'), kind: 'choice', options: days },
        toggle('send_welcome_emails', i18n._('Send welcome emails')),
      ]}
    />
  );
}

function OtherSettings() {
  const { i18n } = useLingui();
  const { realm } = useManagement();
  const hasGifs = Boolean(useField('giphy_api_key'));
  const calls = Object.values(useField('realm_available_video_chat_providers') ?? {});
  return (
    <Section
      title={i18n._('Other')}
      source={realm}
      settings={[
        {
          name: 'default_language',
          label: i18n._('Language of automatic messages and invitations'),
          kind: 'choice',
          options: languageOptions(),
        },
        {
          name: 'video_chat_provider',
          label: i18n._('Calls'),
          kind: 'choice',
          options: calls.map(({ id, name }) => ({ value: id, label: name })),
        },
        ...(hasGifs
          ? [
              {
                name: 'gif_rating_policy',
                label: i18n._('Highest rating of GIFs'),
                kind: 'choice',
                options: [i18n._('Off'), 'Y', 'G', 'PG', 'PG-13', 'R'].map((label, value) => ({ value, label })),
              } as const,
            ]
          : []),
        {
          name: 'default_avatar_source',
          label: i18n._('Pictures of people without one'),
          kind: 'choice',
          options: [
            { value: 'J', label: i18n._('Generated') },
            { value: 'G', label: 'Gravatar' },
          ],
        },
        toggle('enable_guest_user_indicator', i18n._('Mark guests with "(guest)"')),
        toggle('enable_guest_user_dm_warning', i18n._('Warn before direct messages to guests')),
        toggle('enable_spectator_access', i18n._('Allow web-public channels')),
      ]}
    />
  );
}

/** Initial settings of new accounts. */
export function UserDefaults() {
  const { i18n } = useLingui();
  const { defaults } = useManagement();
  return (
    <>
      <ReadOnlyNotice />
      <p className={styles.hint}>{i18n._('New people begin with these settings and can change them.')}</p>
      <Preferences source={defaults} />
      <Notifications source={defaults} />
    </>
  );
}
