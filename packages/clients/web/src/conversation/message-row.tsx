import { useLingui } from '@lingui/react';
import {
  type ConversationView,
  destinationKey,
  type MessageRow as Message,
  narrowOf,
  type PersonRow,
  type SearchMatch,
  widgetOf,
} from '@parley/chat';
import { lazy, type MouseEvent, memo, type ReactNode, Suspense, useContext, useRef, useState } from 'react';
import { MessageBody } from '../content/message-body.js';
import { DestinationHeading } from '../editor/destination-heading.js';
import { dayText } from '../editor/times.js';
import { Star } from '../icons/icons.js';
import { Avatar } from '../kit/avatar.js';
import { Emoji } from '../kit/emoji.js';
import { openPersonCard } from '../people/open-card.js';
import { ComponentsContext } from '../services/components.js';
import { useChat, useComputed, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { loadLater, retrying, useLoaded } from '../services/loading.js';
import { useReading } from '../services/use-reading.js';
import { useToday } from '../services/use-today.js';
import { Folding } from './folding.js';
import { MessageActions } from './message-actions.js';
import type { MessageCommands } from './message-menu.js';
import styles from './message-row.module.css';
import { OwnMessage } from './own-message.js';
import { Reactions } from './reactions.js';

const SpokenMessage = lazy(() => loadLater(() => import('./spoken-message.js')));

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
  /** Called with the name of the row for screen readers. */
  onLabel(label: string): void;
}

/** Maximum seconds between messages of one person that share a name and an avatar. */
const GROUP_SECONDS = 600;

export const MessageRow = memo(function MessageRow(props: MessageRowProps) {
  const { messageKey, previousKey, isFirstUnread, commands, view, onLabel } = props;
  const chat = useChat();
  const { i18n } = useLingui();
  const message = useReading(chat.message(messageKey));
  const previous = useReading(chat.message(previousKey ?? ''));
  const sender = useReading(chat.people.person(message?.sender.id ?? 0));
  const { Message: Own } = useContext(ComponentsContext);
  const [isRevealed, setRevealed] = useState(false);
  const id = message?.id ?? 0;
  const editing = useEditing(id);
  const match = useComputed(() => view.match(id), [view, id]);
  if (!message) return null;
  const { isNewDay, hasHeading, isContinued } = groupingOf(message, previous, props);
  const isHidden = sender.isMuted && !isRevealed;
  const hiddenText = isHidden
    ? i18n._('Message from a person you have muted. Show it')
    : message.isCollapsed && editing.isEditing === null
      ? i18n._('Collapsed message. Show it')
      : null;
  const reveal = () => {
    if (isHidden) setRevealed(true);
    else chat.commands.collapse(message.id!, false).catch(reportFailure);
  };
  const body = <Body message={message} match={match} hiddenText={hiddenText} onReveal={reveal} editing={editing} />;
  return (
    <>
      <Suspense>
        <SpokenMessage message={message} hiddenText={hiddenText} onLabel={onLabel} />
      </Suspense>
      {isNewDay && <DayLine timestamp={message.timestamp} />}
      {isFirstUnread && <UnreadLine />}
      {hasHeading && (
        <DestinationHeading destination={message.destination} messageId={message.id} match={match?.subject} />
      )}
      {Own ? (
        <div data-text>
          <OwnMessage as={Own} message={message} isContinued={isContinued} body={body} commands={commands} />
        </div>
      ) : (
        <UsualMessage
          row={props}
          message={message}
          sender={sender}
          isContinued={isContinued}
          isHidden={isHidden}
          editing={editing}
        >
          {body}
        </UsualMessage>
      )}
    </>
  );
});

/** Lines above a message, and the connection to the preceding message. */
interface Grouping {
  readonly isNewDay: boolean;
  readonly hasHeading: boolean;
  /** True for a message that shares the name and avatar of the preceding one. */
  readonly isContinued: boolean;
}

function groupingOf(
  message: Message,
  previous: Message | null,
  { isFirstUnread, showsDestination }: Pick<MessageRowProps, 'isFirstUnread' | 'showsDestination'>,
): Grouping {
  const isNewDay = !previous || dayOf(previous.timestamp) !== dayOf(message.timestamp);
  const hasHeading = showsDestination && (isNewDay || !isSamePlace(previous!, message));
  const isContinued =
    !isNewDay &&
    !hasHeading &&
    !isFirstUnread &&
    !message.isMe &&
    !previous!.isMe &&
    previous!.sender.id === message.sender.id &&
    message.timestamp - previous!.timestamp < GROUP_SECONDS;
  return { isNewDay, hasHeading, isContinued };
}

interface Editing {
  /** Identifies the unsaved text. */
  readonly field: string;
  /** True while the field is open; null without an unsaved text. */
  readonly isEditing: boolean | null;
  /** True if the user has just opened the field. */
  readonly takesFocus: boolean;
  edit(): void;
  close(): void;
}

function useEditing(id: number): Editing {
  const chat = useChat();
  const { fieldTexts } = useServices();
  const field = `edit ${id}`;
  const isEditing = useComputed(() => fieldTexts.isOpen(field), [fieldTexts, field]);
  const takesFocus = useRef(false);
  const edit = () => {
    takesFocus.current = true;
    if (isEditing === false) fieldTexts.resume(field);
    else chat.commands.source(id).then((source) => fieldTexts.begin(field, source), reportFailure);
  };
  const close = () => {
    takesFocus.current = false;
    fieldTexts.close(field);
  };
  return { field, isEditing, takesFocus: takesFocus.current, edit, close };
}

interface BodyProps {
  readonly message: Message;
  readonly match: SearchMatch | null;
  /** Text of the button that shows hidden content. */
  readonly hiddenText: string | null;
  readonly editing: Editing;
  onReveal(): void;
}

/** Content, its field while it is edited, or a button that shows hidden content. */
function Body({ message, match, hiddenText, editing, onReveal }: BodyProps) {
  const { field, isEditing, takesFocus, edit, close } = editing;
  const show = ({ currentTarget }: MouseEvent<HTMLElement>) => {
    // The clicked button disappears.
    currentTarget.closest<HTMLElement>('[data-key]')?.focus({ preventScroll: true });
    onReveal();
  };
  if (hiddenText !== null) {
    return (
      <button type="button" className={styles.reveal} onClick={show}>
        {hiddenText}
      </button>
    );
  }
  const content = <Content message={message} match={match} />;
  if (isEditing === null) return content;
  return (
    <Suspense fallback={content}>
      <MessageEditor message={message} field={field} takesFocus={takesFocus} onOpen={edit} onClose={close}>
        {content}
      </MessageEditor>
    </Suspense>
  );
}

function DayLine({ timestamp }: { readonly timestamp: number }) {
  const { i18n } = useLingui();
  useToday();
  return (
    <div className={styles.day} part="day">
      <span>{dayText(i18n, timestamp, new Date())}</span>
    </div>
  );
}

function UnreadLine() {
  const { i18n } = useLingui();
  return (
    <div className={styles.unread} part="unread-line">
      <span>{i18n._('New')}</span>
    </div>
  );
}

interface UsualMessageProps {
  readonly row: MessageRowProps;
  readonly message: Message;
  readonly sender: PersonRow;
  readonly isContinued: boolean;
  readonly isHidden: boolean;
  readonly editing: Editing;
  readonly children: ReactNode;
}

/** Message of an application that does not replace the component. */
function UsualMessage({ row, message, sender, isContinued, isHidden, editing, children }: UsualMessageProps) {
  const { isSelected, commands } = row;
  const { isEditing, edit } = editing;
  const { chat, onData, dataOf } = useServices();
  const slots = useLoaded(loadSlots, !!(dataOf ?? (onData && message.data)));
  const { i18n } = useLingui();
  const [wasPointedAt, setPointedAt] = useState(false);
  const onPointed = () => setPointedAt(true);
  return (
    <article
      className={styles.message}
      part="message"
      data-continued={isContinued || undefined}
      data-selected={isSelected || undefined}
      data-mentioned={message.isMentioned || undefined}
      data-status={(message.isMe && !isHidden && isEditing === null) || undefined}
      // A row that scrolls below a resting pointer needs no buttons.
      onPointerMove={onPointed}
      onPointerDown={onPointed}
    >
      <Side message={message} isContinued={isContinued} />
      <div className={styles.content}>
        <SenderLine message={message} sender={sender} isContinued={isContinued}>
          {slots && <slots.SenderSlot message={message} />}
        </SenderLine>
        <div data-text>
          {children}
          {slots && !isHidden && <slots.MessageSlot message={message} />}
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
  );
}

interface SenderProps {
  readonly message: Message;
  readonly isContinued: boolean;
}

/** Avatar, or the time of a message that shares it. */
function Side({ message, isContinued }: SenderProps) {
  const time = useTimeOf(message);
  return (
    <div className={styles.side}>
      {isContinued ? (
        <time className={styles.smallTime} dir="auto">
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
  );
}

interface SenderLineProps extends SenderProps {
  readonly sender: PersonRow;
  /** Content after the name. */
  readonly children: ReactNode;
}

/** Name and time, unless the message shares them. */
function SenderLine({ message, sender, isContinued, children }: SenderLineProps) {
  const chat = useChat();
  const time = useTimeOf(message);
  const note = <ChangeNote message={message} />;
  if (isContinued) return note;
  const href = chat.formatAddress({ view: 'narrow', narrow: narrowOf(message.destination), near: message.id });
  return (
    <header className={styles.header}>
      <button
        type="button"
        className={styles.sender}
        part="sender"
        aria-haspopup="dialog"
        onClick={({ currentTarget }) => openPersonCard(currentTarget, message.sender.id)}
      >
        <bdi>{message.sender.name}</bdi>
      </button>
      {sender.statusEmoji && <Emoji {...sender.statusEmoji} />}
      {children}
      <a className={styles.time} part="time" href={href}>
        <time dir="auto" dateTime={new Date(message.timestamp * 1000).toISOString()}>
          {time}
        </time>
      </a>
      {note}
    </header>
  );
}

/** Mark of an edited or moved message, next to its time or first line. */
function ChangeNote({ message }: Pick<SenderProps, 'message'>) {
  const { i18n } = useLingui();
  if (message.editedAt === null && message.movedAt === null) return null;
  return <span className={styles.changed}>{message.editedAt === null ? i18n._('moved') : i18n._('edited')}</span>;
}

const useTimeOf = ({ timestamp }: Message): string =>
  useLingui().i18n.date(new Date(timestamp * 1000), { timeStyle: 'short' });

/** Start of a status such as "/me waves" in Markdown and HTML; the name replaces it (markdown §3). */
const ME = /^(<p>)?\/me /;

interface ContentProps {
  readonly message: Message;
  readonly match: SearchMatch | null;
}

const MessageEditor = lazy(() => retrying(() => import('../editor/message-editor.js')));

export const loadWidget = () => import('./widget.js').then(({ Widget }) => Widget);

function Content({ message, match }: ContentProps) {
  const hasWidget = message.submessages.length > 0 && widgetOf(message.submessages) !== null;
  const Widget = useLoaded(loadWidget, hasWidget);
  const { MessageBody: Own } = useContext(ComponentsContext);
  const statusOf = (text: string) => (message.isMe ? text.replace(ME, '$1') : text);
  // Own messages that the server has not rendered yet.
  if (message.html === null) {
    const source = <p className={styles.source}>{statusOf(message.markdown!)}</p>;
    return message.isMe ? source : <Folding id={null}>{source}</Folding>;
  }
  if (Widget) return <Widget message={message} />;
  const html = statusOf(match?.content ?? message.html);
  if (Own) return <Own message={message} html={html} />;
  const body = <MessageBody html={html} hasAlertWord={message.hasAlertWord} />;
  if (hasWidget) return <div data-pending>{body}</div>;
  // The text of a status follows the name, and a search shows what it has found.
  return message.isMe || match ? body : <Folding id={message.id}>{body}</Folding>;
}

export const loadSlots = () => import('./data-slot.js');

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
  return null;
}

const dayOf = (timestamp: number): string => new Date(timestamp * 1000).toDateString();

const isSamePlace = (a: Message, b: Message): boolean =>
  destinationKey(a.destination) === destinationKey(b.destination);
