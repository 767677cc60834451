import { useMemo } from 'react';
import { openPersonCard } from '../people/open-card.js';
import type { Components, MessageActions, MessageProps } from '../services/components.js';
import { useChat } from '../services/context.js';
import { openMessageMenu } from './message-actions.js';
import type { MessageCommands } from './message-menu.js';

interface Props extends Omit<MessageProps, 'actions'> {
  readonly as: Components['Message'];
  readonly commands: MessageCommands;
}

/** Message rendered by the product, with its actions. */
export function OwnMessage({ as: Own, commands, ...props }: Props) {
  const chat = useChat();
  const { message } = props;
  const actions = useMemo<MessageActions | null>(() => {
    const { id } = message;
    if (id === null) return null;
    const { quote } = commands;
    return {
      quote: quote && (() => quote(message)),
      react: (emoji, isSet) => chat.commands.react(id, emoji, isSet),
      star: (isSet) => chat.commands.star(id, isSet),
      source: () => chat.commands.source(id),
      edit: (markdown, seenSha256) => chat.commands.edit(id, markdown, seenSha256),
      delete: () => chat.commands.delete(id),
      markUnread: () => commands.markUnread(message),
      openMenu: (anchor) => openMessageMenu(anchor, message, commands),
      openSender: (anchor) => openPersonCard(anchor, message.sender.id),
    };
  }, [chat, message, commands]);
  return <Own {...props} actions={actions} />;
}
