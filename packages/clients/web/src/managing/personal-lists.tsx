import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { narrowOf, type TopicPolicy } from '@parley/chat';
import { type FormEvent, Fragment, useCallback, useEffect, useState } from 'react';
import { ChannelIcon } from '../editor/destination-heading.js';
import { BellOff, Paperclip, Trash2, UserX, X } from '../icons/icons.js';
import { Empty } from '../kit/empty.js';
import { IconButton } from '../kit/icon-button.js';
import { Loading } from '../kit/loading.js';
import overlays from '../kit/overlays.module.css';
import { RowList } from '../kit/row-list.js';
import { sizeText } from '../kit/size-text.js';
import { useChat, useComputed, useField, useFieldText, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { useManagement } from '../services/use-management.js';
import { askFirst } from './form.js';
import styles from './managing.module.css';
import { MemberList } from './member-list.js';
import { Line } from './page-parts.js';

/** Words that notify the user whenever they occur. */
export function AlertWords() {
  const { i18n } = useLingui();
  const { api } = useManagement();
  const words = useField('alert_words') ?? [];
  const [word, setWord] = useFieldText('new alert word');
  const add = (event: FormEvent) => {
    event.preventDefault();
    api.post('/users/me/alert_words', { alert_words: [(word ?? '').trim()] }).then(() => setWord(null), reportFailure);
  };
  return (
    <>
      <p className={styles.hint}>{i18n._('Messages with these words notify you like a mention.')}</p>
      <form className={styles.adding} onSubmit={add}>
        <input
          className={overlays.input}
          aria-label={i18n._('New alert word')}
          placeholder={i18n._('New alert word')}
          maxLength={100}
          required
          value={word ?? ''}
          onChange={(event) => setWord(event.target.value || null)}
        />
        <button type="submit" className={overlays.primary}>
          {i18n._('Add')}
        </button>
      </form>
      {words.length === 0 ? (
        <p className={styles.empty}>{i18n._('There are no alert words.')}</p>
      ) : (
        <ul className={styles.rows} aria-label={i18n._('Alert words')}>
          {words.map((each) => (
            <Line key={each} title={each}>
              <IconButton
                icon={X}
                label={i18n._('Remove {name}', { name: each })}
                onClick={() => api.delete('/users/me/alert_words', { alert_words: [each] }).catch(reportFailure)}
              />
            </Line>
          ))}
        </ul>
      )}
    </>
  );
}

const POLICIES: readonly TopicPolicy[] = ['none', 'muted', 'unmuted', 'followed'];

/** Topics with a separate policy: muted, unmuted and followed. */
export function MutedTopics() {
  const { i18n } = useLingui();
  const { state } = useChat();
  const keys = useComputed(
    () =>
      [...state.policies.values()]
        .sort((a, b) => b.last_updated - a.last_updated)
        .map(({ stream_id, topic_name }) => `${stream_id}:${topic_name.toLowerCase()}`),
    [state],
  );
  if (keys.length === 0) {
    return (
      <Empty
        icon={BellOff}
        text={i18n._('No topics are muted or followed.')}
        hint={i18n._('Mute or follow a topic in its menu.')}
      />
    );
  }
  return (
    <RowList keys={keys} label={i18n._('Topics')} rowHeight={56}>
      {(key) => <PolicyLine policyKey={key} />}
    </RowList>
  );
}

function PolicyLine({ policyKey }: { readonly policyKey: string }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const policy = useComputed(() => chat.state.policies.get(policyKey), [chat, policyKey]);
  const emptyName = useField('realm_empty_topic_display_name');
  if (!policy) return null;
  const { stream_id: channelId, topic_name: topic } = policy;
  const place = { kind: 'channel', channelId, topic } as const;
  const labels: Readonly<Record<TopicPolicy, string>> = {
    none: i18n._('Default'),
    muted: i18n._('Muted'),
    unmuted: i18n._('Unmuted'),
    followed: i18n._('Followed'),
  };
  return (
    <div className={styles.line}>
      <ChannelIcon channelId={channelId} />
      <a className={styles.lineMain} href={chat.formatAddress({ view: 'narrow', narrow: narrowOf(place), near: null })}>
        <span className={styles.lineTitle}>{topic === '' ? emptyName : topic}</span>
        <span className={styles.lineDetail}>{chat.state.channels.peek(channelId)?.channel.name}</span>
      </a>
      <select
        className={styles.select}
        aria-label={i18n._('Notifications of {topic}', { topic })}
        value={POLICIES[policy.visibility_policy]}
        onChange={(event) =>
          chat.commands.setTopicPolicy(place, event.target.value as TopicPolicy).catch(reportFailure)
        }
      >
        {POLICIES.map((each) => (
          <option key={each} value={each}>
            {labels[each]}
          </option>
        ))}
      </select>
    </div>
  );
}

export function MutedPeople() {
  const { i18n } = useLingui();
  const chat = useChat();
  const ids = useComputed(() => (chat.field('muted_users') ?? []).map(({ id }) => id), [chat]);
  if (ids.length === 0) {
    return <Empty icon={UserX} text={i18n._('Nobody is muted.')} hint={i18n._('Mute people on their cards.')} />;
  }
  return (
    <MemberList userIds={ids} label={i18n._('Muted people')}>
      {(id, name) => (
        <button
          type="button"
          className={overlays.button}
          aria-label={i18n._('Unmute {name}', { name })}
          onClick={() => chat.commands.mutePerson(id, false).catch(reportFailure)}
        >
          {i18n._('Unmute')}
        </button>
      )}
    </MemberList>
  );
}

/** List outside of the state: fetched on opening, on request, and when it may have changed. */
export function useFetched<T>(
  fetch: () => Promise<T>,
  changing?: 'invites' | 'exports' | 'attachments',
): readonly [T | null, () => void] {
  const { state } = useChat();
  const revision = useComputed(() => (changing ? state.revisions.get(changing) : undefined), [state, changing]);
  const [value, setValue] = useState<T | null>(null);
  const load = useCallback(() => void fetch().then(setValue, reportFailure), [fetch]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another revision is fetched again.
  useEffect(load, [load, revision]);
  // No events report changes from other windows, or export changes by other administrators.
  useEffect(() => {
    addEventListener('focus', load);
    return () => removeEventListener('focus', load);
  }, [load]);
  return [value, load];
}

/** Browsers and devices with active sessions. */
export function Sessions() {
  const { i18n } = useLingui();
  const { api } = useManagement();
  const fetch = useCallback(async () => (await api.get('/users/me/sessions', {})).sessions, [api]);
  const [sessions, reload] = useFetched(fetch);
  if (!sessions) return <Loading />;
  const end = (call: Promise<unknown>) => void call.then(reload, reportFailure);
  const hasOthers = sessions.some(({ is_current }) => !is_current);
  return (
    <>
      <p className={styles.hint}>{i18n._('Browsers in which you are logged in. Phones use your API key.')}</p>
      <ul className={styles.rows} aria-label={i18n._('Sessions')}>
        {sessions.map(({ id, user_agent, last_used_at, is_current }) => (
          <Line
            key={id}
            title={browserOf(user_agent)}
            detail={
              is_current ? i18n._('This browser') : i18n._('Last used: {time}', { time: timeOf(last_used_at, i18n) })
            }
          >
            {!is_current && (
              <button
                type="button"
                className={overlays.button}
                onClick={() => end(api.delete('/users/me/sessions/{session_id}', { session_id: id }))}
              >
                {i18n._('Log out')}
              </button>
            )}
          </Line>
        ))}
      </ul>
      {hasOthers && (
        <button type="button" className={styles.add} onClick={() => end(api.delete('/users/me/sessions', {}))}>
          {i18n._('Log out of all other browsers')}
        </button>
      )}
    </>
  );
}

export const timeOf = (seconds: number, i18n: I18n): string =>
  i18n.date(new Date(seconds * 1000), { dateStyle: 'medium', timeStyle: 'short' });

/** Browser and system name, if recognized. */
export function browserOf(userAgent: string): string {
  const [, browser] =
    /(ZulipElectron|Edg|OPR|Firefox|Chrome|Safari)\//.exec(
      userAgent.replace(/Chrome(?=.*(Edg|OPR|ZulipElectron)\/)/, ''),
    ) ?? [];
  const [system] = /Windows|Android|iPhone|iPad|Mac OS X|Linux/.exec(userAgent) ?? [];
  const names: Readonly<Record<string, string>> = {
    Edg: 'Edge',
    OPR: 'Opera',
    ZulipElectron: 'Zulip Desktop',
    'Mac OS X': 'macOS',
  };
  const found = [browser, system].flatMap((name) => (name === undefined ? [] : [names[name] ?? name]));
  return found.length === 0 ? userAgent : found.join(', ');
}

/** Files uploaded by the user. */
export function Uploads() {
  const { i18n } = useLingui();
  const { baseUrl, chat } = useServices();
  const { api } = useManagement();
  const fetch = useCallback(() => api.get('/attachments', {}), [api]);
  const [answer, reload] = useFetched(fetch, 'attachments');
  if (!answer) return <Loading />;
  const files = new Map(answer.attachments.map((file) => [file.id, file]));
  if (files.size === 0) {
    return (
      <Empty
        icon={Paperclip}
        text={i18n._('You have not uploaded any files.')}
        hint={i18n._('Files that you attach to messages appear here.')}
      />
    );
  }
  return (
    <RowList keys={[...files.keys()]} label={i18n._('Uploaded files')} rowHeight={56}>
      {(id) => {
        const file = files.get(id)!;
        const remove = () => api.delete('/attachments/{attachment_id}', { attachment_id: id }).then(reload);
        return (
          <div className={styles.line}>
            <div className={styles.lineMain}>
              <a
                className={styles.lineTitle}
                href={new URL(`user_uploads/${file.path_id}`, baseUrl).href}
                target="_blank"
                rel="noopener"
              >
                {file.name}
              </a>
              <span className={styles.lineDetail}>
                {sizeText(i18n, file.size)} · {timeOf(file.create_time, i18n)} ·{' '}
                {file.message_ids.length === 0 && i18n._('in no message')}
                {file.message_ids.map((messageId) => (
                  <Fragment key={messageId}>
                    <a
                      href={chat.formatAddress({
                        view: 'narrow',
                        narrow: [{ operator: 'id', operand: messageId }],
                        near: null,
                      })}
                      aria-label={i18n._('Message {id}', { id: messageId })}
                    >
                      #{messageId}
                    </a>{' '}
                  </Fragment>
                ))}
              </span>
            </div>
            <IconButton
              icon={Trash2}
              label={i18n._('Delete {name}', { name: file.name })}
              opens="dialog"
              onClick={({ currentTarget }) =>
                askFirst(currentTarget, {
                  title: i18n._('Delete {name}?', { name: file.name }),
                  action: i18n._('Delete'),
                  text: i18n._('The file can no longer be opened, not even from messages.'),
                  onConfirm: remove,
                })
              }
            />
          </div>
        );
      }}
    </RowList>
  );
}
