import { useLingui } from '@lingui/react';
import type { MessageSnapshot } from '@parley/client';
import { useEffect, useState } from 'react';
import { MessageBody } from '../content/message-body.js';
import { Dialog, FailureText } from '../kit/dialog.js';
import { Loading } from '../kit/loading.js';
import overlays from '../kit/overlays.module.css';
import { useChat, useField, useServices } from '../services/context.js';
import type { Refusal } from '../services/reasons.js';
import styles from './history-dialog.module.css';

/** Versions of a message, newest first. */
export function HistoryDialog({ messageId }: { readonly messageId: number }) {
  const { i18n } = useLingui();
  const { client } = useServices();
  const [versions, setVersions] = useState<readonly MessageSnapshot[] | null>(null);
  const [failure, setFailure] = useState<Refusal | null>(null);
  useEffect(() => {
    client
      .get('/messages/{message_id}/history', { message_id: messageId, allow_empty_topic_name: true })
      .then(({ message_history: all }) => setVersions(all.toReversed()))
      .catch(setFailure);
  }, [client, messageId]);
  return (
    <Dialog title={i18n._('Edit history')}>
      <div className={overlays.scroll}>
        <FailureText failure={failure} />
        {versions === null && failure === null && <Loading />}
        <ol className={styles.versions}>
          {versions?.map((version, index) => (
            <Version
              key={`${version.timestamp} ${version.content}`}
              version={version}
              isFirst={index === versions.length - 1}
            />
          ))}
        </ol>
      </div>
    </Dialog>
  );
}

function Version({ version, isFirst }: { readonly version: MessageSnapshot; readonly isFirst: boolean }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const emptyTopic = useField('realm_empty_topic_display_name') ?? '';
  const name = version.user_id === null ? '' : chat.people.person(version.user_id).peek().name;
  const time = i18n.date(new Date(version.timestamp * 1000), { dateStyle: 'medium', timeStyle: 'short' });
  const channel = (id: number | undefined) => (id === undefined ? '' : (chat.sidebar.channel(id).peek()?.name ?? ''));
  const { prev_topic: from, topic: to } = version;
  return (
    <li className={styles.version}>
      <p className={styles.what}>
        <strong dir="auto">{name}</strong> <bdi className={styles.time}>{time}</bdi>
        {isFirst && <span className={styles.time}> · {i18n._('Original message')}</span>}
      </p>
      {from !== undefined && (
        <p>
          {i18n._('Topic')}: <del>{from === '' ? emptyTopic : from}</del> → <ins>{to === '' ? emptyTopic : to}</ins>
        </p>
      )}
      {version.prev_stream !== undefined && (
        <p>
          {i18n._('Channel')}: <del>{channel(version.prev_stream)}</del> → <ins>{channel(version.stream)}</ins>
        </p>
      )}
      {(isFirst || version.content_html_diff !== undefined) && (
        <MessageBody html={contentOf(version.content_html_diff ?? version.rendered_content)} />
      )}
    </li>
  );
}

/** Differences are wrapped in an additional element (messages §10). */
const contentOf = (html: string): string => html.replace(/^<div>([\s\S]*)<\/div>$/, '$1');
