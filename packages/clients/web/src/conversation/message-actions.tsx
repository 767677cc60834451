import { useLingui } from '@lingui/react';
import type { Emoji, MessageRow as Message } from '@parley/chat';
import type { KeyboardEvent } from 'react';
import { EllipsisVertical, Pencil, Quote, SmilePlus, Star } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { useChat, useComputed, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { isPlainKey, letterKeys } from '../services/letter-keys.js';
import { openOverlay } from '../services/overlay.js';
import type { KeyContext, MessageCommands } from './message-menu.js';
import styles from './message-row.module.css';

interface Props {
  readonly message: Message;
  readonly commands: MessageCommands;
  readonly onEdit: () => void;
}

/** Hover buttons of a message: actions allowed by the server's rules. */
export function MessageActions({ message, commands, onEdit }: Props) {
  const { i18n } = useLingui();
  const chat = useChat();
  const id = message.id!;
  const canReact = useComputed(() => chat.rights.canReact(id), [chat, id]);
  const canEdit = useComputed(() => chat.rights.canEdit(id), [chat, id]);
  const canSend = useComputed(() => chat.rights.canSend(message.destination) === null, [chat, message.destination]);
  const isSimple = useServices().tools === 'simple';
  const quote = canSend && !isSimple ? commands.quote : null;
  const openPicker = (anchor: HTMLElement) =>
    openOverlay(anchor, async () => {
      const { EmojiPicker } = await import('../editor/emoji-picker.js');
      return <EmojiPicker label={i18n._('Add a reaction')} onPick={react} />;
    });
  const react = ({ emoji_name, emoji_code, reaction_type }: Emoji) =>
    void chat.commands.toggleReaction(id, { emoji_name, emoji_code, reaction_type }).catch(reportFailure);
  return (
    <div className={styles.actions} role="toolbar" aria-label={i18n._('Message actions')}>
      {canReact && (
        <IconButton
          icon={SmilePlus}
          label={i18n._('Add a reaction')}
          shortcut=":"
          opens="dialog"
          onClick={({ currentTarget }) => openPicker(currentTarget)}
        />
      )}
      {quote && <IconButton icon={Quote} label={i18n._('Quote')} shortcut=">" onClick={() => quote(message)} />}
      {!isSimple && (
        <IconButton
          icon={Star}
          label={message.isStarred ? i18n._('Remove star') : i18n._('Star')}
          shortcut="Control+S"
          isPressed={message.isStarred}
          onClick={() => chat.commands.star(id, !message.isStarred).catch(reportFailure)}
        />
      )}
      {canEdit && <IconButton icon={Pencil} label={i18n._('Edit')} shortcut="e" onClick={onEdit} />}
      <IconButton
        icon={EllipsisVertical}
        label={i18n._('More actions')}
        shortcut="i"
        opens="menu"
        onClick={({ currentTarget }) => openMessageMenu(currentTarget, message, commands)}
      />
    </div>
  );
}

export function openMessageMenu(anchor: HTMLElement, message: Message, commands: MessageCommands): void {
  openOverlay(anchor, async () => {
    const { MessageMenu } = await import('./message-menu.js');
    return <MessageMenu message={message} commands={commands} />;
  });
}

/** Zulip's message shortcuts. Keys are compared as typed, so `H` is Shift+H. */
const KEYS: readonly string[] = ['Enter', ...'e:><-i+=urR@MszUVHm'];

/** Runs the shortcut of a key for the message of the focused row. */
export function pressOnMessage(event: KeyboardEvent<HTMLElement>, context: KeyContext): void {
  const target = event.target as HTMLElement;
  const row = target.closest<HTMLElement>('[data-key]');
  const message = row && context.services.chat.message(row.dataset.key!).peek();
  if (!message || message.id === null || !letterKeys.peek()) return;
  const isStar = (event.ctrlKey || event.metaKey) && event.key === 's';
  if (!isStar && !(isPlainKey(event) && KEYS.includes(event.key))) return;
  if (event.key === 'Enter' && target !== row) return;
  event.preventDefault();
  import('./message-keys.js')
    .then(({ press }) => press(isStar ? 'Control+S' : event.key, row, message, context))
    .catch(reportFailure);
}
