import { useLingui } from '@lingui/react';
import {
  type ConversationView,
  destinationKey,
  type MessageRow as Message,
  narrowOf,
  type SearchMatch,
  widgetOf,
} from '@parley/chat';
import { Star } from 'lucide-react';
import { lazy, type MouseEvent, memo, Suspense, useContext, useRef, useState } from 'react';
import { MessageBody } from '../content/message-body.js';
import { Avatar } from '../kit/avatar.js';
import { Emoji } from '../kit/emoji.js';
import { openPersonCard } from '../people/open-card.js';
import { ComponentsContext } from '../services/components.js';
import { useChat, useComputed, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { retrying, useLoaded } from '../services/loading.js';
import { useReading } from '../services/use-reading.js';
import { DestinationHeading } from './destination-heading.js';
import { MessageActions } from './message-actions.js';
import type { MessageCommands } from './message-menu.js';
import styles from './message-row.module.css';
import { OwnMessage } from './own-message.js';
import { Reactions } from './reactions.js';

export interface MessageRowProps {
  readonly messageKey: string;
  /** Key of the preceding message; null for the first one. */
  readonly previousKey: string | null;
  readonly isFirstUnread: boolean;
  /** True for the row that has or last had the focus. */
  readonly isSelected: boolean;
  /** True in lists of several conversations. */
  readonly showsDestination: boolean;
  readonly commands: MessageCommands;
  readonly view: ConversationView;
  /** Prefix of the element ids that label the row: name, text and time. */
  readonly labelId: string;
}

/** Maximum seconds between messages of one person that share a name and an avatar. */
const GROUP_SECONDS = 600;

export const MessageRow = memo(function MessageRow(props: MessageRowProps) {
  const { messageKey, previousKey, isFirstUnread, isSelected, showsDestination, commands, view, labelId } = props;
  const chat = useChat();
  const message = useReading(chat.message(messageKey));
  const previous = useReading(chat.message(previousKey ?? ''));
  const sender = useReading(chat.people.person(message?.sender.id ?? 0));
  const { i18n } = useLingui();
  const { Message: Own } = useContext(ComponentsContext);
  const [isRevealed, setRevealed] = useState(false);
  const [wasPointedAt, setPointedAt] = useState(false);
  const id = message?.id ?? 0;
  const { fieldTexts } = useServices();
  const field = `edit ${id}`;
  const isEditing = useComputed(() => fieldTexts.isOpen(field), [fieldTexts, field]);
  const takesFocus = useRef(false);
  const match = useComputed(() => view.match(id), [view, id]);
  if (!message) return null;
  const href = chat.formatAddress({ view: 'narrow', narrow: narrowOf(message.destination), near: message.id });

  const isHidden = sender.isMuted && !isRevealed;
  const day = dayOf(message.timestamp);
  const isNewDay = !previous || dayOf(previous.timestamp) !== day;
  const hasHeading = showsDestination && (isNewDay || !isSamePlace(previous!, message));
  const isContinued =
    !isNewDay &&
    !hasHeading &&
    !isFirstUnread &&
    !message.isMe &&
    !previous!.isMe &&
    previous!.sender.id === message.sender.id &&
    message.timestamp - previous!.timestamp < GROUP_SECONDS;
  const edit = () => {
    takesFocus.current = true;
    if (isEditing === false) fieldTexts.resume(field);
    else chat.commands.source(id).then((source) => fieldTexts.begin(field, source), reportFailure);
  };
  const closeEdit = () => {
    takesFocus.current = false;
    fieldTexts.close(field);
  };
  const content = <Content message={message} match={match} />;
  const show = ({ currentTarget }: MouseEvent<HTMLElement>) => {
    // The clicked button disappears.
    currentTarget.closest<HTMLElement>('[data-key]')?.focus({ preventScroll: true });
    if (isHidden) setRevealed(true);
    else chat.commands.collapse(id, false).catch(reportFailure);
  };
  const body =
    isHidden || (message.isCollapsed && isEditing === null) ? (
      <button type="button" className={styles.reveal} onClick={show}>
        {isHidden ? i18n._('Message of a person you have muted. Show it') : i18n._('Collapsed message. Show it')}
      </button>
    ) : isEditing === null ? (
      content
    ) : (
      <Suspense fallback={content}>
        <MessageEditor
          message={message}
          field={field}
          takesFocus={takesFocus.current}
          onOpen={edit}
          onClose={closeEdit}
        >
          {content}
        </MessageEditor>
      </Suspense>
    );
  const time = i18n.date(new Date(message.timestamp * 1000), { timeStyle: 'short' });
  return (
    <>
      {isNewDay && (
        <div className={styles.day} part="day">
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
        <div className={styles.unread} part="unread-line">
          <span>{i18n._('New')}</span>
        </div>
      )}
      {hasHeading && (
        <DestinationHeading destination={message.destination} messageId={message.id} match={match?.subject} />
      )}
      {Own ? (
        <div id={`${labelId}-text`}>
          <OwnMessage as={Own} message={message} isContinued={isContinued} body={body} commands={commands} />
        </div>
      ) : (
        <article
          className={styles.message}
          part="message"
          data-continued={isContinued || undefined}
          data-selected={isSelected || undefined}
          data-mentioned={message.isMentioned || undefined}
          data-status={(message.isMe && !isHidden && isEditing === null) || undefined}
          onPointerEnter={() => setPointedAt(true)}
        >
          <div className={styles.side}>
            {isContinued ? (
              <time id={`${labelId}-time`} className={styles.smallTime}>
                {time}
              </time>
            ) : (
              <button
                type="button"
                className={styles.avatar}
                tabIndex={-1}
                aria-hidden
                onClick={({ currentTarget }) => openPersonCard(currentTarget, message.sender.id)}
              >
                <Avatar url={message.sender.avatarUrl} name={message.sender.name} size={38} />
              </button>
            )}
          </div>
          <div className={styles.content}>
            {isContinued ? (
              <span id={`${labelId}-name`} hidden>
                {message.sender.name}
              </span>
            ) : (
              <header className={styles.header}>
                <button
                  type="button"
                  id={`${labelId}-name`}
                  className={styles.sender}
                  part="sender"
                  aria-haspopup="dialog"
                  onClick={({ currentTarget }) => openPersonCard(currentTarget, message.sender.id)}
                >
                  {message.sender.name}
                </button>
                {sender.statusEmoji && <Emoji {...sender.statusEmoji} />}
                <a className={styles.time} part="time" href={href}>
                  <time id={`${labelId}-time`} dateTime={new Date(message.timestamp * 1000).toISOString()}>
                    {time}
                  </time>
                </a>
              </header>
            )}
            <div id={`${labelId}-text`}>
              {body}
              <Footer message={message} onEdit={commands.editFailed} />
              {!isHidden && <Reactions message={message} />}
            </div>
          </div>
          {message.isStarred && (
            <Star className={styles.star} size={12} fill="currentColor" role="img" aria-label={i18n._('Starred')} />
          )}
          {(wasPointedAt || isSelected) && message.id !== null && !isEditing && !chat.isVisitor && (
            <MessageActions message={message} commands={commands} onEdit={edit} />
          )}
        </article>
      )}
    </>
  );
});

/** Start of a status such as "/me waves" in Markdown and HTML; the name replaces it (markdown §3). */
const ME = /^(<p>)?\/me /;

interface ContentProps {
  readonly message: Message;
  readonly match: SearchMatch | null;
}

const MessageEditor = lazy(() => retrying(() => import('./message-editor.js')));

const loadWidget = () => import('./widget.js').then(({ Widget }) => Widget);

function Content({ message, match }: ContentProps) {
  const hasWidget = message.submessages.length > 0 && widgetOf(message.submessages) !== null;
  const Widget = useLoaded(loadWidget, hasWidget);
  const { MessageBody: Own } = useContext(ComponentsContext);
  const statusOf = (text: string) => (message.isMe ? text.replace(ME, '$1') : text);
  // Own messages that the server has not rendered yet.
  if (message.html === null) return <p className={styles.source}>{statusOf(message.markdown!)}</p>;
  if (Widget) return <Widget message={message} />;
  const html = statusOf(match?.content ?? message.html);
  return Own ? <Own message={message} html={html} /> : <MessageBody html={html} hasAlertWord={message.hasAlertWord} />;
}

const NotSent = lazy(() => retrying(() => import('./warnings.js')).then((file) => ({ default: file.NotSent })));

function Footer({ message, onEdit }: { readonly message: Message; readonly onEdit: MessageCommands['editFailed'] }) {
  const { i18n } = useLingui();
  const { delivery } = message;
  if (delivery === 'failed') {
    return (
      <Suspense>
        <NotSent message={message} onEdit={onEdit} />
      </Suspense>
    );
  }
  if (delivery === 'waiting') return <div className={styles.note}>{i18n._('Will be sent when you are online')}</div>;
  if (message.editedAt !== null) return <div className={styles.note}>{i18n._('edited')}</div>;
  if (message.movedAt !== null) return <div className={styles.note}>{i18n._('moved')}</div>;
  return null;
}

const dayOf = (timestamp: number): string => new Date(timestamp * 1000).toDateString();

const isSamePlace = (a: Message, b: Message): boolean =>
  destinationKey(a.destination) === destinationKey(b.destination);
