import { useLingui } from '@lingui/react';
import type { Emoji, MessageRow as Message } from '@parley/chat';
import { EllipsisVertical, Pencil, Quote, SmilePlus, Star } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../kit/icon-button.js';
import { useChat, useComputed } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import type { MessageCommands } from './message-commands.js';
import styles from './message-row.module.css';

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

/** Buttons that appear over a message: what the server's rules allow. */
export function MessageActions({ message, commands, onEdit }: Props) {
  const { i18n } = useLingui();
  const chat = useChat();
  const [isReacting, setReacting] = useState(false);
  const id = message.id!;
  const canReact = useComputed(() => chat.rights.canReact(id), [chat, id]);
  const canEdit = useComputed(() => chat.rights.canEdit(id), [chat, id]);
  const openMenu = (anchor: HTMLElement) =>
    openOverlay(anchor, async () => {
      const { MessageMenu } = await import('./message-menu.js');
      return <MessageMenu message={message} commands={commands} />;
    });
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
  return (
    <Toolbar label={i18n._('Message actions')}>
      {canReact && <IconButton icon={SmilePlus} label={i18n._('Add a reaction')} onClick={() => setReacting(true)} />}
      <IconButton icon={Quote} label={i18n._('Quote')} onClick={() => commands.quote(message)} />
      <IconButton
        icon={Star}
        label={message.isStarred ? i18n._('Remove star') : i18n._('Star')}
        isPressed={message.isStarred}
        onClick={() => chat.commands.star(id, !message.isStarred).catch(reportFailure)}
      />
      {canEdit && <IconButton icon={Pencil} label={i18n._('Edit')} onClick={onEdit} />}
      <IconButton
        icon={EllipsisVertical}
        label={i18n._('More actions')}
        opens="menu"
        onClick={({ currentTarget }) => openMenu(currentTarget)}
      />
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
