import { useLingui } from '@lingui/react';
import type { Emoji, MessageRow as Message } from '@parley/chat';
import { MailOpen, Pencil, Quote, SmilePlus, Star, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../kit/icon-button.js';
import { useChat } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import styles from './message-row.module.css';

/** Commands on messages that belong to the page. */
export interface MessageCommands {
  /** Quotes a message in the composer. */
  readonly quote: (message: Message) => void;
  /** Takes a message that failed back into the composer. */
  readonly editFailed: (message: Message) => void;
  /** Marks a message and those after it as unread. */
  readonly markUnread: (message: Message) => void;
}

interface Props {
  readonly message: Message;
  readonly commands: MessageCommands;
  readonly onEdit: () => void;
}

const emoji = (code: string, name: string): Emoji => ({
  emoji_code: code,
  emoji_name: name,
  reaction_type: 'unicode_emoji',
});

const QUICK_REACTIONS = [
  emoji('1f44d', '+1'),
  emoji('1f389', 'tada'),
  emoji('1f642', 'smile'),
  emoji('2764', 'heart'),
  emoji('1f440', 'eyes'),
  emoji('2705', 'check'),
];

/** Buttons that appear over a message. The server refuses what its settings forbid, and the reason is shown. */
export function MessageActions({ message, commands, onEdit }: Props) {
  const { i18n } = useLingui();
  const chat = useChat();
  const [isReacting, setReacting] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const id = message.id!;
  if (isReacting) {
    return (
      <Toolbar label={i18n._('Add a reaction')} onLeave={() => setReacting(false)}>
        {QUICK_REACTIONS.map((reaction) => (
          <button
            key={reaction.emoji_code}
            type="button"
            className={styles.reaction}
            aria-label={`:${reaction.emoji_name}:`}
            onClick={() => {
              setReacting(false);
              const isOwn = message.reactions.some((row) => row.emojiCode === reaction.emoji_code && row.isOwn);
              chat.commands.react(id, reaction, !isOwn).catch(reportFailure);
            }}
          >
            {String.fromCodePoint(Number.parseInt(reaction.emoji_code, 16))}
          </button>
        ))}
      </Toolbar>
    );
  }
  if (isDeleting) {
    return (
      <Toolbar label={i18n._('Delete this message?')} onLeave={() => setDeleting(false)}>
        <span className={styles.question}>{i18n._('Delete this message?')}</span>
        <button type="button" onClick={() => chat.commands.delete(id).catch(reportFailure)}>
          {i18n._('Delete')}
        </button>
        <button type="button" onClick={() => setDeleting(false)}>
          {i18n._('Cancel')}
        </button>
      </Toolbar>
    );
  }
  return (
    <Toolbar label={i18n._('Message actions')}>
      <IconButton icon={SmilePlus} label={i18n._('Add a reaction')} onClick={() => setReacting(true)} />
      <IconButton icon={Quote} label={i18n._('Quote')} onClick={() => commands.quote(message)} />
      <IconButton
        icon={Star}
        label={message.isStarred ? i18n._('Remove star') : i18n._('Star')}
        isPressed={message.isStarred}
        onClick={() => chat.commands.star(id, !message.isStarred).catch(reportFailure)}
      />
      <IconButton
        icon={MailOpen}
        label={i18n._('Mark as unread from here')}
        onClick={() => commands.markUnread(message)}
      />
      {message.isOwn && <IconButton icon={Pencil} label={i18n._('Edit')} onClick={onEdit} />}
      {message.isOwn && <IconButton icon={Trash2} label={i18n._('Delete')} onClick={() => setDeleting(true)} />}
    </Toolbar>
  );
}

interface ToolbarProps {
  readonly label: string;
  readonly onLeave?: () => void;
  readonly children: React.ReactNode;
}

function Toolbar({ label, onLeave, children }: ToolbarProps) {
  return (
    <div
      className={styles.actions}
      role="toolbar"
      aria-label={label}
      data-open={onLeave !== undefined || undefined}
      onMouseLeave={onLeave}
      onKeyDown={(event) => event.key === 'Escape' && onLeave?.()}
    >
      {children}
    </div>
  );
}
