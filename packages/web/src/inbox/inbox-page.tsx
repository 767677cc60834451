import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { ConversationRow } from '@parley/chat';
import { MailCheck } from 'lucide-react';
import { useEffect, useState } from 'react';
import { DestinationName, groupTitle } from '../conversation/destination-heading.js';
import { UnreadBadge } from '../kit/badge.js';
import { useAddressOf, useChat, useField } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { useLoaded } from '../services/loading.js';
import { openOverlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';
import styles from './inbox.module.css';

const loadFirstSteps = () => import('./first-steps.js').then(({ FirstSteps }) => FirstSteps);

/** Unread conversations: direct ones, then topics by channel, with channels grouped under headings. */
export function InboxPage() {
  const chat = useChat();
  const { i18n } = useLingui();
  const { directs, groups } = useReading(chat.conversations.inbox);
  const isNew = useField('onboarding_steps')?.some(({ name }) => name === 'first_steps') === true;
  const FirstSteps = useLoaded(loadFirstSteps, isNew);
  const firstSteps = isNew && FirstSteps && <FirstSteps />;
  if (directs.length === 0 && groups.length === 0) {
    const nothing = <p className={styles.empty}>{i18n._('You have read everything.')}</p>;
    if (!firstSteps) return nothing;
    return (
      <div className={styles.page}>
        {firstSteps}
        {nothing}
      </div>
    );
  }
  return (
    <div className={styles.page}>
      {firstSteps}
      <button
        type="button"
        className={styles.readAll}
        aria-haspopup="dialog"
        onClick={({ currentTarget }) =>
          openOverlay(currentTarget, async () => {
            const { ReadAllDialog } = await import('./read-all-dialog.js');
            return <ReadAllDialog />;
          })
        }
      >
        <MailCheck size={16} aria-hidden /> {i18n._('Mark all as read')}
      </button>
      {directs.length > 0 && (
        <section>
          <h2>{i18n._('Direct messages')}</h2>
          <Rows rows={directs} />
        </section>
      )}
      {groups.map((group) => (
        <section key={group.key}>
          {group.key !== 'all' && <h2>{groupTitle(i18n, group)}</h2>}
          {group.channels.map(({ channelId, topics }) => (
            <section key={channelId}>
              <ChannelTitle channelId={channelId} as={group.key === 'all' ? 'h2' : 'h3'} />
              <Rows rows={topics} />
            </section>
          ))}
        </section>
      ))}
    </div>
  );
}

function ChannelTitle({ channelId, as: Heading }: { readonly channelId: number; readonly as: 'h2' | 'h3' }) {
  const chat = useChat();
  const channel = useReading(chat.sidebar.channel(channelId));
  return (
    <Heading>
      <a
        href={chat.formatAddress({ view: 'narrow', narrow: [{ operator: 'channel', operand: channelId }], near: null })}
      >
        #{channel?.name}
      </a>
    </Heading>
  );
}

/** Conversations including read ones, latest message first. */
export function RecentPage() {
  const { i18n } = useLingui();
  const chat = useChat();
  const rows = useReading(chat.conversations.recent);
  const [isLoading, setLoading] = useState(true);
  useEffect(() => {
    chat
      .loadRecentTopics()
      .catch(reportFailure)
      .finally(() => setLoading(false));
  }, [chat]);
  if (rows.length === 0) {
    const text = isLoading ? i18n._('Loading…') : i18n._('There are no conversations yet.');
    return <p className={styles.empty}>{text}</p>;
  }
  return (
    <div className={styles.page}>
      <ul>
        {rows.map((row) => (
          <Row key={row.key} row={row} lastMessageAt={row.lastMessageAt} />
        ))}
      </ul>
    </div>
  );
}

function Rows({ rows }: { readonly rows: readonly ConversationRow[] }) {
  return (
    <ul>
      {rows.map((row) => (
        <Row key={row.key} row={row} />
      ))}
    </ul>
  );
}

function Row({ row, lastMessageAt = null }: { readonly row: ConversationRow; readonly lastMessageAt?: number | null }) {
  const { i18n } = useLingui();
  const href = useAddressOf(row.destination);
  return (
    <li>
      <a className={styles.row} href={href}>
        <span className={styles.name}>
          <DestinationName destination={row.destination} />
        </span>
        {lastMessageAt !== null && <time className={styles.time}>{shortTime(i18n, lastMessageAt)}</time>}
        {row.unread.hasMention && (
          <span className={styles.mention} role="img" aria-label={i18n._('You were mentioned')}>
            @
          </span>
        )}
        <UnreadBadge count={row.unread.count} />
      </a>
    </li>
  );
}

/** Time of a message of today, or its day. */
function shortTime(i18n: I18n, timestamp: number): string {
  const date = new Date(timestamp * 1000);
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return i18n.date(date, { timeStyle: 'short' });
  const isThisYear = date.getFullYear() === now.getFullYear();
  return i18n.date(date, { day: 'numeric', month: 'short', ...(!isThisYear && { year: 'numeric' }) });
}
