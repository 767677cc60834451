import { useLingui } from '@lingui/react';
import type { SettingsSource } from '@parley/chat';
import { TEXT_LANGUAGES, textLanguageFor } from '@parley/domain/kernel';
import { useEffect, useId, useState } from 'react';
import { FailureText } from '../kit/dialog.js';
import overlays from '../kit/overlays.module.css';
import { useComputed, useField } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';
import type { Refusal } from '../services/reasons.js';
import type { Option, Setting } from './fields.js';
import { Section, useTurns } from './form.js';
import styles from './managing.module.css';

interface Props {
  readonly source: SettingsSource;
  /** False for the initial settings of new accounts. */
  readonly isOwn?: boolean;
}

const choice = (name: string, label: string, options: readonly (readonly [number | string, string])[]): Setting => ({
  name,
  label,
  kind: 'choice',
  options: options.map(([value, text]) => ({ value, label: text })),
});

/** Translations by their own names, such as “français”. */
export const languageOptions = (): readonly Option[] =>
  TEXT_LANGUAGES.map((language) => ({
    value: language,
    label: new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language,
  }));

/** Appearance, reading and writing. */
export function Preferences({ source, isOwn = false }: Props) {
  return (
    <>
      <Appearance source={source} isOwn={isOwn} />
      <Reading source={source} />
      <Writing source={source} />
    </>
  );
}

function Appearance({ source, isOwn = false }: Props) {
  const { i18n } = useLingui();
  const language: Setting = {
    name: 'default_language',
    label: i18n._('Language'),
    kind: 'choice',
    options: languageOptions(),
    ...useMissingLanguage(),
  };
  const initialsSetting: Setting = {
    name: 'initials',
    label: i18n._('Show initials of people without a picture'),
    hint: i18n._('Instead of patterns, in this browser only'),
    kind: 'switch',
  };
  return (
    <Section
      title={i18n._('Appearance')}
      source={source}
      settings={[
        choice('color_scheme', i18n._('Theme'), [
          [1, i18n._('Same as the system')],
          [3, i18n._('Light')],
          [2, i18n._('Dark')],
        ]),
        ...(isOwn ? [language] : []),
        {
          name: 'twenty_four_hour_time',
          label: i18n._('Time'),
          kind: 'choice',
          options: [
            { value: null, label: i18n._('As usual in the language') },
            { value: true, label: '17:00' },
            { value: false, label: '5:00 PM' },
          ],
        },
        choice('web_font_size_px', i18n._('Text size'), [
          [14, i18n._('Small')],
          [16, i18n._('Normal')],
          [18, i18n._('Large')],
          [20, i18n._('Very large')],
        ]),
        choice('web_line_height_percent', i18n._('Density'), [
          [140, i18n._('Comfortable')],
          [122, i18n._('Compact')],
        ]),
        ...(isOwn ? [initialsSetting] : []),
        choice('web_home_view', i18n._('First view'), [
          ['inbox', i18n._('Inbox')],
          ['recent', i18n._('Recent conversations')],
          ['all_messages', i18n._('Combined feed')],
        ]),
        {
          name: 'web_escape_navigates_to_home_view',
          label: i18n._('Return to the first view with Escape'),
          kind: 'switch',
        },
        {
          name: 'web_left_sidebar_show_channel_folders',
          label: i18n._('Group channels by folder in the sidebar'),
          kind: 'switch',
        },
        choice('demote_inactive_streams', i18n._('Fold inactive channels in the sidebar'), [
          [1, i18n._('From 30 channels on')],
          [2, i18n._('Always')],
          [3, i18n._('Never')],
        ]),
        {
          name: 'web_inbox_show_channel_folders',
          label: i18n._('Group channels by folder in the inbox'),
          kind: 'switch',
        },
      ]}
    />
  );
}

/** Hint that the language chosen by the user, such as in another app, has no translation. */
function useMissingLanguage(): Pick<Setting, 'hint'> {
  const { i18n } = useLingui();
  const chosen = useField('user_settings')?.default_language;
  if (chosen === undefined || textLanguageFor(chosen) !== undefined) return {};
  const language = nameOf(chosen, i18n.locale);
  return { hint: i18n._('There is no translation for “{language}”, which you chose elsewhere.', { language }) };
}

function nameOf(tag: string, locale: string): string {
  try {
    return new Intl.DisplayNames(locale, { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

function Reading({ source }: Pick<Props, 'source'>) {
  const { i18n } = useLingui();
  const following = [
    { value: 1, label: i18n._('Topics I take part in') },
    { value: 2, label: i18n._('Topics I write in') },
    { value: 3, label: i18n._('Topics I start') },
    { value: 4, label: i18n._('Never') },
  ];
  return (
    <Section
      title={i18n._('Reading')}
      source={source}
      settings={[
        choice('web_mark_read_on_scroll_policy', i18n._('Mark messages as read once they were on screen'), [
          [1, i18n._('Always')],
          [2, i18n._('Only in conversations')],
          [3, i18n._('Never')],
        ]),
        {
          name: 'automatically_follow_topics_policy',
          label: i18n._('Follow automatically'),
          kind: 'choice',
          options: following,
        },
        {
          name: 'automatically_unmute_topics_in_muted_streams_policy',
          label: i18n._('Unmute automatically in muted channels'),
          kind: 'choice',
          options: following,
        },
        {
          name: 'automatically_follow_topics_where_mentioned',
          label: i18n._('Follow topics in which I am mentioned'),
          kind: 'switch',
        },
        choice('resolved_topic_notice_auto_read_policy', i18n._('Mark notices about resolved topics as read'), [
          ['always', i18n._('Always')],
          ['except_followed', i18n._('Except in topics that I follow')],
          ['never', i18n._('Never')],
        ]),
      ]}
    />
  );
}

function Writing({ source }: Pick<Props, 'source'>) {
  const { i18n } = useLingui();
  return (
    <Section
      title={i18n._('Writing')}
      source={source}
      settings={[
        {
          name: 'enter_sends',
          label: i18n._('Enter sends the message'),
          hint: i18n._('Otherwise Ctrl+Enter does.'),
          kind: 'switch',
        },
        {
          name: 'translate_emoticons',
          label: i18n._('Turn emoticons into emoji'),
          hint: i18n._('Such as :) and <3 in sent messages'),
          kind: 'switch',
        },
        choice('emojiset', i18n._('Emoji'), [
          ['google', 'Google'],
          ['text', i18n._('Plain text')],
        ]),
        { name: 'receives_typing_notifications', label: i18n._('Show who is typing'), kind: 'switch' },
      ]}
    />
  );
}

/** Table of setting names in Zulip's order; null for empty cells. */
const TRIGGERS = {
  messages: [
    'enable_desktop_notifications',
    'enable_sounds',
    'enable_offline_push_notifications',
    'enable_offline_email_notifications',
    'wildcard_mentions_notify',
  ],
  followed: [
    'enable_followed_topic_desktop_notifications',
    'enable_followed_topic_audible_notifications',
    'enable_followed_topic_push_notifications',
    'enable_followed_topic_email_notifications',
    'enable_followed_topic_wildcard_mentions_notify',
  ],
  channels: [
    'enable_stream_desktop_notifications',
    'enable_stream_audible_notifications',
    'enable_stream_push_notifications',
    'enable_stream_email_notifications',
    null,
  ],
} as const;

/** Notification settings by trigger and delivery method. */
export function Notifications({ source, isOwn = false }: Props) {
  const { i18n } = useLingui();
  return (
    <>
      <Triggers source={source} isOwn={isOwn} />
      <ComputerNotifications source={source} isOwn={isOwn} />
      <Section
        title={i18n._('On phones')}
        source={source}
        settings={[
          {
            name: 'enable_online_push_notifications',
            label: i18n._('Also notify phones while I am active here'),
            kind: 'switch',
          },
        ]}
      />
      <EmailNotifications source={source} isOwn={isOwn} />
    </>
  );
}

function Triggers({ source, isOwn = false }: Props) {
  const { i18n } = useLingui();
  const rows = [
    { names: TRIGGERS.messages, label: i18n._('Direct messages and mentions') },
    { names: TRIGGERS.followed, label: i18n._('Followed topics') },
    { names: TRIGGERS.channels, label: i18n._('All messages of channels') },
  ];
  const columns = [
    i18n._('Browser'),
    i18n._('Sound'),
    i18n._('Phone'),
    i18n._('Email'),
    i18n._('Mentions of everybody'),
  ];
  const [failure, setFailure] = useState<Refusal | null>(null);
  return (
    <section className={styles.section}>
      <h3>{i18n._('Notify me about')}</h3>
      <table className={styles.triggers}>
        <thead>
          <tr>
            <td />
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ names, label }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {names.map((name, index) => (
                <td key={columns[index]} data-empty={name === null || undefined}>
                  {name !== null && (
                    <Trigger source={source} name={name} row={label} column={columns[index]!} onFailure={setFailure} />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <FailureText failure={failure} />
      {isOwn && <p className={styles.hint}>{i18n._('Each channel can differ: see its settings, under "Personal".')}</p>}
    </section>
  );
}

function ComputerNotifications({ source, isOwn = false }: Props) {
  const { i18n } = useLingui();
  const sounds = useField('user_settings')?.available_notification_sounds ?? [];
  return (
    <Section
      title={i18n._('On this computer')}
      source={source}
      settings={[
        {
          name: 'notification_sound',
          label: i18n._('Sound'),
          kind: 'choice',
          options: [
            { value: 'none', label: i18n._('None') },
            ...sounds.map((sound) => ({ value: sound, label: sound })),
          ],
        },
        {
          name: 'pm_content_in_desktop_notifications',
          label: i18n._('Show the text of direct messages'),
          kind: 'switch',
        },
      ]}
    >
      {isOwn && <DeviceButton />}
    </Section>
  );
}

function EmailNotifications({ source, isOwn = false }: Props) {
  const { i18n } = useLingui();
  return (
    <Section
      title={i18n._('By email')}
      source={source}
      settings={[
        {
          name: 'email_notifications_batching_period_seconds',
          label: i18n._('Collect messages for'),
          kind: 'choice',
          options: [120, 300, 600, 3600].map((value) => ({
            value,
            label: i18n._('{count, plural, one {# minute} other {# minutes}}', { count: value / 60 }),
          })),
        },
        {
          name: 'message_content_in_email_notifications',
          label: i18n._('Include the text of messages'),
          kind: 'switch',
        },
        {
          name: 'realm_name_in_email_notifications_policy',
          label: i18n._('Name of the organization in the subject'),
          kind: 'choice',
          options: [
            { value: 1, label: i18n._('Automatically') },
            { value: 2, label: i18n._('Always') },
            { value: 3, label: i18n._('Never') },
          ],
        },
        { name: 'enable_digest_emails', label: i18n._('Send digests when I am away'), kind: 'switch' },
        ...(isOwn
          ? [
              { name: 'enable_login_emails', label: i18n._('Notify me of log-ins'), kind: 'switch' } as const,
              {
                name: 'enable_marketing_emails',
                label: i18n._('Send news about the product'),
                kind: 'switch',
              } as const,
            ]
          : []),
      ]}
    />
  );
}

/** Leads to the settings for notifications while the chat is closed. */
function DeviceButton() {
  const { i18n } = useLingui();
  return (
    <button
      type="button"
      className={overlays.button}
      aria-haspopup="dialog"
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => {
          const { DeviceNotificationsDialog } = await import('../push/device-notifications.js');
          return <DeviceNotificationsDialog />;
        })
      }
    >
      {i18n._('Notifications on this device')}
    </button>
  );
}

interface TriggerProps {
  readonly source: SettingsSource;
  readonly name: string;
  readonly row: string;
  readonly column: string;
  /** Called with null when a change starts. */
  onFailure(failure: Refusal | null): void;
}

function Trigger({ source, name, row, column, onFailure }: TriggerProps) {
  const id = useId();
  const value = useComputed(() => source.read(name) === true, [source, name]);
  const mayEdit = useComputed(() => source.mayEdit(name), [source, name]);
  const [draft, setDraft] = useState<boolean | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the event with the new value ends the draft.
  useEffect(() => setDraft(null), [value]);
  const sendInTurn = useTurns();
  const change = async (next: boolean) => {
    setDraft(next);
    onFailure(null);
    const outcome = await sendInTurn(() => source.save({ [name]: next }));
    if (!outcome?.failure) return;
    setDraft(null);
    onFailure(outcome.failure);
  };
  return (
    <label htmlFor={id}>
      <input
        id={id}
        type="checkbox"
        aria-label={`${row}: ${column}`}
        checked={draft ?? value}
        disabled={!mayEdit}
        onChange={(event) => void change(event.target.checked)}
      />
      <span aria-hidden>{column}</span>
    </label>
  );
}
