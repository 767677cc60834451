import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { ConversationRow } from '@parley/chat';
import { memo, type ReactNode, useEffect, useMemo, useRef } from 'react';
import { firstWords } from '../content/first-words.js';
import { parseContent } from '../content/tree.js';
import { DestinationName, useTopicTitle } from '../editor/destination-heading.js';
import { BellOff, BellRing, Check, SquareCheck } from '../icons/icons.js';
import { Avatar } from '../kit/avatar.js';
import { UnreadBadge } from '../kit/badge.js';
import { mounted } from '../kit/mounted.js';
import { useAddressOf, useChat, useComputed, useNames, useServices } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import { useToday } from '../services/use-today.js';
import styles from './inbox.module.css';

/** Maximum number of pictures in a row. */
export const MAX_FACES = 3;

/** Rows drawn at first, and further ones when their end approaches the viewport. */
export const ROWS = 20;

interface Props {
  readonly row: ConversationRow;
  /** Message that represents the conversation. */
  readonly messageId: number;
  /** People whose pictures are shown; default: the sender. */
  readonly faces?: readonly number[];
  /** True below a heading with the channel name. */
  readonly isInChannel?: boolean;
  /** True for a row to which the next command applies, together with others. */
  readonly isSelected?: boolean;
  /** Message at which the link opens the conversation; default: its first unread message. */
  readonly near?: number;
  /** Buttons next to the link. */
  readonly actions?: ReactNode;
}

/** Conversation with its last message, participants, time and unread count. */
export const ConversationItem = memo(function ConversationItem(props: Props) {
  const { row, messageId, isInChannel = false, isSelected = false, near = null, actions } = props;
  const { key, destination, unread } = row;
  const { i18n } = useLingui();
  const chat = useChat();
  const message = useComputed(() => chat.state.messages.get(messageId), [chat, messageId]);
  const faces = props.faces ?? (message ? [message.sender_id] : []);
  return (
    <li className={styles.item} data-selected={isSelected || undefined}>
      <a
        className={styles.row}
        href={useAddressOf(destination, near)}
        data-row={key}
        data-unread={unread.count > 0 || undefined}
      >
        <Faces userIds={faces} />
        <span className={styles.texts}>
          <span className={styles.first}>
            <span className={styles.name}>
              {isInChannel && destination.kind === 'channel' ? (
                <TopicTitle topic={destination.topic} />
              ) : (
                <DestinationName destination={destination} />
              )}
            </span>
            {message && <Time timestamp={message.timestamp} />}
          </span>
          <span className={styles.second}>
            <span className={styles.words}>
              {message && (
                <Words
                  senderId={message.sender_id}
                  html={message.content}
                  isPartner={destination.kind === 'direct' && String(destination.userIds) === String(message.sender_id)}
                />
              )}
            </span>
            {isSelected && <SquareCheck size={14} aria-label={i18n._('Selected')} />}
            {destination.kind === 'channel' && <PolicyMark {...destination} />}
            {unread.hasMention && (
              <span className={styles.mention} role="img" aria-label={i18n._('You were mentioned')}>
                @
              </span>
            )}
            <UnreadBadge count={unread.count} />
          </span>
        </span>
      </a>
      {actions && <span className={styles.actions}>{actions}</span>}
    </li>
  );
});

function TopicTitle({ topic }: { readonly topic: string }) {
  const { i18n } = useLingui();
  const { title, isResolved } = useTopicTitle(topic);
  return (
    <span className={styles.topic}>
      {isResolved && <Check size={14} aria-label={i18n._('resolved')} />} <bdi>{title}</bdi>
    </span>
  );
}

/** Mark of a followed or muted topic. */
function PolicyMark({ channelId, topic }: Extract<ConversationRow['destination'], { kind: 'channel' }>) {
  const { i18n } = useLingui();
  const chat = useChat();
  const policy = useComputed(() => chat.sidebar.policyOf(channelId, topic), [chat, channelId, topic]);
  if (policy === 'followed') return <BellRing size={14} aria-label={i18n._('Followed')} />;
  return policy === 'muted' ? <BellOff size={14} aria-label={i18n._('Muted')} /> : null;
}

/** Pictures of up to three people in one square. */
function Faces({ userIds }: { readonly userIds: readonly number[] }) {
  const names = useNames(userIds);
  return (
    <span className={styles.faces} data-count={userIds.length} title={names.join(', ')} aria-hidden>
      {userIds.map((id) => (
        <Face key={id} userId={id} size={userIds.length === 1 ? 36 : 20} />
      ))}
    </span>
  );
}

function Face({ userId, size }: { readonly userId: number; readonly size: number }) {
  const { avatarUrl, name } = useReading(useChat().people.person(userId));
  return <Avatar url={avatarUrl} name={name} size={size} />;
}

interface WordsProps {
  readonly senderId: number;
  readonly html: string;
  /** True for the other person of a direct conversation, who is named above. */
  readonly isPartner: boolean;
}

function Words({ senderId, html, isPartner }: WordsProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const { baseUrl } = useServices();
  const { name, isMuted } = useReading(chat.people.person(senderId));
  const words = useMemo(() => firstWords(parseContent(html, baseUrl)), [html, baseUrl]);
  if (isMuted) return <bdi>{i18n._('Message from a person you have muted.')}</bdi>;
  if (isPartner) return <bdi>{words}</bdi>;
  const sender = senderId === chat.state.selfId ? i18n._('You') : name;
  return (
    <>
      <span className={styles.sender}>
        <bdi>{sender}</bdi>:
      </span>{' '}
      <bdi>{words}</bdi>
    </>
  );
}

function Time({ timestamp }: { readonly timestamp: number }) {
  const { i18n } = useLingui();
  useToday();
  return (
    <time className={styles.time} dir="auto">
      {shortTime(i18n, timestamp)}
    </time>
  );
}

/** Formats times of today as a time, and earlier ones as a date. */
function shortTime(i18n: I18n, timestamp: number): string {
  const date = new Date(timestamp * 1000);
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return i18n.date(date, { timeStyle: 'short' });
  const isThisYear = date.getFullYear() === now.getFullYear();
  return i18n.date(date, { day: 'numeric', month: 'short', ...(!isThisYear && { year: 'numeric' }) });
}

/** End of the drawn rows. */
export function RowsEnd({ onNear }: { onNear(): void }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = mounted(end);
    const observer = new IntersectionObserver(([entry]) => entry!.isIntersecting && onNear(), {
      root: element.closest(`.${styles.page}`),
      rootMargin: '50%',
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [onNear]);
  return <div ref={end} />;
}
