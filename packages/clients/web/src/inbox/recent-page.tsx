import { useLingui } from '@lingui/react';
import type { Chat } from '@parley/chat';
import { useEffect, useMemo, useState } from 'react';
import { Clock } from '../icons/icons.js';
import { Empty } from '../kit/empty.js';
import { Loading } from '../kit/loading.js';
import { useChat, useComputed } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { useReading } from '../services/use-reading.js';
import { Choices } from './choices.js';
import { ConversationItem, MAX_FACES, ROWS, RowsEnd } from './conversation-item.js';
import styles from './inbox.module.css';
import { storedChoice } from './list-settings.js';
import { type LastRow, useRowKeys } from './row-keys.js';
import { policyOf, type RecentConversation, sortedRecent } from './triage.js';
import { useMessages } from './use-messages.js';

const lastRow: LastRow = { row: null, index: 0 };

const filterChoice = storedChoice('parley-recent-filter', ['all', 'unread', 'participated', 'direct', 'followed']);
const orderChoice = storedChoice('parley-recent-order', ['time', 'unread', 'participants']);

/** Conversations including read ones, latest message first. */
export function RecentPage() {
  const { i18n } = useLingui();
  const chat = useChat();
  const filter = useReading(filterChoice.current);
  const order = useReading(orderChoice.current);
  const all = useReading(chat.conversations.recent);
  const [limit, setLimit] = useState(lastRow.index + ROWS);
  const sorted = useComputed(
    () => sortedRecent(withSenders(chat), filter, order, chat.state.selfId, (row) => policyOf(chat, row)),
    [chat, filter, order],
  );
  const rows = useMemo(() => sorted.slice(0, limit), [sorted, limit]);
  // Senders are known from messages.
  const wanted = filter === 'participated' || order === 'participants' ? all : rows;
  useMessages(useMemo(() => wanted.map(({ lastMessageId }) => lastMessageId).sort((a, b) => a - b), [wanted]));
  const keys = useRowKeys(lastRow, () => false);
  const isLoading = useRecentTopics();
  if (all.length === 0) {
    if (isLoading) return <Loading />;
    return (
      <Empty
        icon={Clock}
        text={i18n._('There are no conversations yet.')}
        link={{ href: '#channels/all', text: i18n._('Browse channels') }}
      />
    );
  }
  return (
    <div className={styles.page}>
      <Tools />
      {rows.length === 0 && <p className={styles.empty}>{i18n._('Nothing found')}</p>}
      <section
        {...keys}
        className={styles.list}
        tabIndex={-1}
        aria-label={i18n._('Recent conversations')}
        data-messages
      >
        <ul>
          {rows.map((row) => (
            <ConversationItem
              key={row.key}
              row={row}
              messageId={row.lastMessageId}
              faces={(row.destination.kind === 'direct' ? row.destination.userIds : row.senderIds).slice(0, MAX_FACES)}
            />
          ))}
        </ul>
        {rows.length < sorted.length && <RowsEnd key={limit} onNear={() => setLimit(limit + ROWS)} />}
      </section>
    </div>
  );
}

/** Loads the newest messages. Returns true until they are loaded. */
function useRecentTopics(): boolean {
  const chat = useChat();
  const [isLoading, setLoading] = useState(true);
  useEffect(() => {
    chat
      .loadRecentTopics()
      .catch(reportFailure)
      .finally(() => setLoading(false));
  }, [chat]);
  return isLoading;
}

function Tools() {
  const { i18n } = useLingui();
  return (
    <div className={styles.tools}>
      <Choices
        label={i18n._('Filter conversations')}
        choice={filterChoice}
        options={[
          ['all', i18n._('All')],
          ['unread', i18n._('Unread')],
          ['participated', i18n._('Participated')],
          ['direct', i18n._('Direct messages')],
          ['followed', i18n._('Followed topics')],
        ]}
      />
      <Choices
        label={i18n._('Sort by')}
        choice={orderChoice}
        options={[
          ['time', i18n._('Latest')],
          ['unread', i18n._('Most unread')],
          ['participants', i18n._('Most participants')],
        ]}
      />
    </div>
  );
}

/** Recent conversations with the senders of known messages. Observed inside computations. */
function withSenders({ state, conversations }: Chat): readonly RecentConversation[] {
  state.messages.keys();
  const senders = new Map<string, Set<number>>();
  for (const [, { stream_id, subject, sender_id, display_recipient }] of [...state.messages.all()].sort(
    ([a], [b]) => b - a,
  )) {
    const key =
      typeof display_recipient === 'string'
        ? `${stream_id}:${subject.toLowerCase()}`
        : `dm:${display_recipient
            .map(({ id }) => id)
            .filter((id) => id !== state.selfId)
            .sort((a, b) => a - b)}`;
    senders.set(key, (senders.get(key) ?? new Set()).add(sender_id));
  }
  return conversations.recent.value.map((row) => ({ ...row, senderIds: [...(senders.get(row.key) ?? [])] }));
}
