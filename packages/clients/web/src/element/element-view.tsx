import { useLingui } from '@lingui/react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Workspace } from '../app/app.js';
import { ConversationTitle } from '../conversation/conversation-page.js';
import { MessageCircle, X } from '../icons/icons.js';
import { UnreadBadge } from '../kit/badge.js';
import { IconButton } from '../kit/icon-button.js';
import { useAddress, useComputed, useServices } from '../services/context.js';
import { Conversation } from './conversation.js';
import { ConversationList } from './conversation-list.js';
import styles from './element.module.css';
import { type Shown, type Tell, unreadIn, useStart } from './place.js';

const VIEWS = ['chat', 'conversation', 'list', 'button'];

export const isView = (view: string): boolean => VIEWS.includes(view);

/** Explains a wrong value of the attribute `view` to the developer of the page. */
export const mistakeIn = (view: string): string => `view must be one of ${VIEWS.join(', ')}, not "${view}".`;

interface ViewProps {
  readonly shown: Shown;
  readonly tell: Tell;
}

/** View selected by the element's attributes. */
export function ElementView({ shown, tell }: ViewProps) {
  const { i18n } = useLingui();
  const { channel, direct } = shown;
  const start = useStart(shown, tell);
  const view = shown.view ?? (channel === null && direct === null ? 'chat' : 'conversation');
  if (!isView(view)) return <p className={styles.line}>{mistakeIn(view)}</p>;
  if (start === null) return <p className={styles.line}>{i18n._('There is no such conversation.')}</p>;
  if (view === 'list') return <ConversationList />;
  if (view === 'button') return <PanelButton isWhole={channel === null && direct === null} start={start} />;
  return view === 'chat' ? <Workspace /> : <Conversation />;
}

interface PanelProps {
  readonly isWhole: boolean;
  readonly start: string;
}

/** Button with the unread count that opens a panel over the page. */
function PanelButton({ isWhole, start }: PanelProps) {
  const { i18n } = useLingui();
  const { chat } = useServices();
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isOpen) panel.current?.focus();
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !event.defaultPrevented && isOpen) close();
  };
  const count = useComputed(() => unreadIn(chat, start), [chat, start]);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={styles.button}
        part="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={onKeyDown}
      >
        <MessageCircle size={18} aria-hidden />
        {i18n._('Chat')}
        <UnreadBadge count={count} />
      </button>
      {isOpen && (
        <div
          ref={panel}
          className={styles.panel}
          part="panel"
          role="dialog"
          tabIndex={-1}
          aria-label={i18n._('Chat')}
          onKeyDown={onKeyDown}
        >
          <div className={styles.bar}>
            <h2>{isWhole ? i18n._('Chat') : <PanelTitle />}</h2>
            <IconButton icon={X} label={i18n._('Close')} onClick={close} />
          </div>
          <div className={styles.inside}>{isWhole ? <Workspace /> : <Conversation />}</div>
        </div>
      )}
    </>
  );
}

/** Name of the conversation in the panel. */
function PanelTitle() {
  const { i18n } = useLingui();
  const { address } = useAddress();
  return address?.view === 'narrow' ? <ConversationTitle narrow={address.narrow} /> : i18n._('Chat');
}
