import { useLingui } from '@lingui/react';
import type { ConversationRow, Destination } from '@parley/chat';
import { type ReactNode, useEffect } from 'react';
import { Bookmark } from '../icons/icons.js';
import { CountBadge } from '../kit/badge.js';
import { Empty } from '../kit/empty.js';
import { useChat, useComputed, useField } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { useReading } from '../services/use-reading.js';
import { ConversationItem } from './conversation-item.js';
import styles from './inbox.module.css';
import { ReminderList } from './reminders-page.js';
import { ScheduledList } from './scheduled-page.js';
import { followedRows, newestOf } from './triage.js';
import { useMessages } from './use-messages.js';

/** Maximum starred messages; their view lists all. */
const MAX_STARRED = 20;
/** Maximum followed topics; the view of their messages has all. */
const MAX_FOLLOWED = 100;
/** Maximum channels with followed topics, whose lists of topics are loaded. */
const MAX_CHANNELS = 20;

/** Everything kept for later: reminders, scheduled and starred messages, and followed topics. */
export function LaterList() {
  const { i18n } = useLingui();
  const chat = useChat();
  const reminders = useField('reminders') ?? [];
  const scheduled = useField('scheduled_messages') ?? [];
  const starred = useComputed(() => chat.state.starred.keys(), [chat]);
  const followed = useFollowed();
  const shownStars = newestOf(starred, MAX_STARRED);
  const shownTopics = followed.slice(0, MAX_FOLLOWED);
  useMessages([...shownStars, ...shownTopics.map(({ lastMessageId }) => lastMessageId)].filter((id) => id > 0));
  if (reminders.length + scheduled.length + starred.length + followed.length === 0) {
    return (
      <Empty
        icon={Bookmark}
        text={i18n._('Reminders, scheduled messages, starred messages and topics that you follow appear here.')}
      />
    );
  }
  return (
    <>
      <Part title={i18n._('Reminders')} count={reminders.length}>
        <ReminderList />
      </Part>
      <Part title={i18n._('Scheduled messages')} count={scheduled.length}>
        <ScheduledList />
      </Part>
      <Part title={i18n._('Starred messages')} count={starred.length} href="#narrow/is/starred">
        <ul>
          {shownStars.map((id) => (
            <StarredItem key={id} id={id} />
          ))}
        </ul>
      </Part>
      <Part title={i18n._('Followed topics')} count={followed.length} href="#narrow/is/followed">
        <ul>
          {shownTopics.map((row) => (
            <ConversationItem key={row.key} row={row} messageId={row.lastMessageId} />
          ))}
        </ul>
      </Part>
    </>
  );
}

/** Followed topics of subscribed channels, latest first. */
function useFollowed(): readonly ConversationRow[] {
  const chat = useChat();
  const rows = useComputed(() => followedRows(chat), [chat]);
  const channels = [...new Set(rows.flatMap(({ destination: to }) => (to.kind === 'channel' ? to.channelId : [])))];
  const key = channels
    .sort((a, b) => a - b)
    .slice(0, MAX_CHANNELS)
    .join();
  useEffect(() => {
    for (const id of key.split(',').filter(Boolean)) chat.loadTopics(Number(id)).catch(reportFailure);
  }, [chat, key]);
  return rows;
}

interface PartProps {
  readonly title: string;
  readonly count: number;
  /** Page that lists everything. */
  readonly href?: string;
  readonly children: ReactNode;
}

function Part({ title, count, href, children }: PartProps) {
  if (count === 0) return null;
  return (
    <section>
      <h2 className={styles.heading}>
        {href ? <a href={href}>{title}</a> : title} <CountBadge count={count} />
      </h2>
      {children}
    </section>
  );
}

function StarredItem({ id }: { readonly id: number }) {
  const chat = useChat();
  const message = useReading(chat.message(chat.keyOf(id)));
  if (!message) return null;
  return <ConversationItem row={rowOf(message.destination, id)} messageId={id} near={id} />;
}

const rowOf = (destination: Destination, id: number): ConversationRow => {
  return { key: `starred:${id}`, destination, lastMessageId: id, unread: { count: 0, hasMention: false } };
};
