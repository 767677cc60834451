import { useLingui } from '@lingui/react';
import { destinationKey, type MessageRow as Message, narrowOf } from '@parley/chat';
import { Pencil, Quote, RotateCcw, Star, Trash2 } from 'lucide-react';
import { memo } from 'react';
import { MessageBody } from '../content/message-body.js';
import { Avatar } from '../kit/avatar.js';
import { IconButton } from '../kit/icon-button.js';
import { useChat } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { useReading } from '../services/use-reading.js';
import { DestinationHeading } from './destination-heading.js';
import styles from './message-row.module.css';
import { Reactions } from './reactions.js';

export interface MessageRowProps {
  readonly messageKey: string;
  /** Key of the message above; null for the first one. */
  readonly previousKey: string | null;
  readonly isFirstUnread: boolean;
  /** True in lists of several conversations. */
  readonly showsDestination: boolean;
  readonly onQuote: (message: Message) => void;
  /** Takes a message that failed back into the composer. */
  readonly onEditFailed: (message: Message) => void;
}

/** Messages of one person within ten minutes share a name and a picture. */
const GROUP_SECONDS = 600;

export const MessageRow = memo(function MessageRow(props: MessageRowProps) {
  const { messageKey, previousKey, isFirstUnread, showsDestination, onQuote, onEditFailed } = props;
  const chat = useChat();
  const message = useReading(chat.message(messageKey));
  const previous = useReading(chat.message(previousKey ?? ''));
  const { i18n } = useLingui();
  if (!message) return null;
  const href = chat.formatAddress({ view: 'narrow', narrow: narrowOf(message.destination), near: message.id });

  const day = dayOf(message.timestamp);
  const isNewDay = !previous || dayOf(previous.timestamp) !== day;
  const hasHeading = showsDestination && (isNewDay || !isSamePlace(previous!, message));
  const isContinued =
    !isNewDay &&
    !hasHeading &&
    !isFirstUnread &&
    !message.isMe &&
    previous!.sender.id === message.sender.id &&
    message.timestamp - previous!.timestamp < GROUP_SECONDS;
  const time = i18n.date(new Date(message.timestamp * 1000), { hour: '2-digit', minute: '2-digit' });
  return (
    <>
      {isNewDay && (
        <div className={styles.day}>
          <span>
            {i18n.date(new Date(message.timestamp * 1000), {
              weekday: 'long',
              day: 'numeric',
              month: 'long',
              year: 'numeric',
            })}
          </span>
        </div>
      )}
      {isFirstUnread && (
        <div className={styles.unread}>
          <span>{i18n._('New')}</span>
        </div>
      )}
      {hasHeading && <DestinationHeading destination={message.destination} messageId={message.id} />}
      <article
        className={styles.message}
        data-continued={isContinued || undefined}
        data-mentioned={message.isMentioned || undefined}
      >
        <div className={styles.side}>
          {isContinued ? (
            <time className={styles.smallTime}>{time}</time>
          ) : (
            <Avatar url={message.sender.avatarUrl} name={message.sender.name} size={38} />
          )}
        </div>
        <div className={styles.content}>
          {!isContinued && (
            <header className={styles.header}>
              <span className={styles.sender}>{message.sender.name}</span>
              <a className={styles.time} href={href}>
                <time dateTime={new Date(message.timestamp * 1000).toISOString()}>{time}</time>
              </a>
            </header>
          )}
          {message.html === null ? (
            <p className={styles.source}>{message.markdown}</p>
          ) : (
            <MessageBody html={message.html} />
          )}
          <Footer message={message} onEdit={onEditFailed} />
          <Reactions message={message} />
        </div>
        {message.id !== null && <Actions message={message} onQuote={onQuote} />}
      </article>
    </>
  );
});

function Footer({ message, onEdit }: { readonly message: Message; readonly onEdit: (message: Message) => void }) {
  const { i18n } = useLingui();
  const chat = useChat();
  if (message.delivery === 'failed') {
    return (
      <div className={styles.failure} role="alert">
        <span>{i18n._('Not sent: {reason}', { reason: message.failure?.message ?? '' })}</span>
        <button type="button" onClick={() => chat.outbox.retry(message.key)}>
          <RotateCcw size={14} aria-hidden /> {i18n._('Try again')}
        </button>
        <button type="button" onClick={() => onEdit(message)}>
          <Pencil size={14} aria-hidden /> {i18n._('Edit')}
        </button>
        <button type="button" onClick={() => chat.outbox.discard(message.key)}>
          <Trash2 size={14} aria-hidden /> {i18n._('Delete')}
        </button>
      </div>
    );
  }
  if (message.delivery === 'waiting')
    return <div className={styles.note}>{i18n._('Will be sent when you are online')}</div>;
  if (message.editedAt !== null) return <div className={styles.note}>{i18n._('edited')}</div>;
  if (message.movedAt !== null) return <div className={styles.note}>{i18n._('moved')}</div>;
  return null;
}

function Actions({ message, onQuote }: { readonly message: Message; readonly onQuote: (message: Message) => void }) {
  const { i18n } = useLingui();
  const chat = useChat();
  return (
    <div className={styles.actions} role="toolbar" aria-label={i18n._('Message actions')}>
      <IconButton icon={Quote} label={i18n._('Quote')} onClick={() => onQuote(message)} />
      <IconButton
        icon={Star}
        label={message.isStarred ? i18n._('Remove star') : i18n._('Star')}
        isPressed={message.isStarred}
        onClick={() => void chat.commands.star(message.id!, !message.isStarred).catch(reportFailure)}
      />
    </div>
  );
}

const dayOf = (timestamp: number): string => new Date(timestamp * 1000).toDateString();

const isSamePlace = (a: Message, b: Message): boolean =>
  destinationKey(a.destination) === destinationKey(b.destination);
