import { type MessageRow, narrowOf } from '@parley/chat';
import { topicMuting } from '../channels/topic-muting.js';
import { openPersonCard } from '../people/open-card.js';
import { reportFailure } from '../services/failures.js';
import { type KeyContext, rareActionsOn } from './message-menu.js';

const THUMBS_UP = { emoji_name: '+1', emoji_code: '1f44d', reaction_type: 'unicode_emoji' } as const;

/** Runs Zulip's shortcut for the message of a row if the server's rules allow it. */
export function press(key: string, row: HTMLElement, message: MessageRow, context: KeyContext): void {
  const { services, i18n, commands, shown } = context;
  const { chat, navigation } = services;
  const { id, destination, sender, isOwn } = message;
  const button = (name: string) => row.querySelector<HTMLElement>(`[aria-keyshortcuts="${name}"]`);
  const anchor = button('i');
  // Visitors have no buttons; neither has a message being edited.
  if (!anchor) return;
  const topic = destination.kind === 'channel' ? destination : null;
  switch (key) {
    case 'e':
    case ':':
    case '>':
    case 'i':
    case 'Control+S':
      button(key)?.click();
      break;
    case '+':
      if (chat.rights.canReact(id!)) chat.commands.toggleReaction(id!, THUMBS_UP).catch(reportFailure);
      break;
    case '=':
      row.querySelector<HTMLElement>('[part="reactions"] button')?.click();
      break;
    case 'u':
      openPersonCard(anchor, sender.id);
      break;
    case 'r':
    case 'Enter':
      commands.write?.(destination, '');
      break;
    case 'R':
      commands.write?.({ kind: 'direct', userIds: isOwn ? [] : [sender.id] }, '');
      break;
    case '@':
      commands.write?.(destination, `@**${sender.name}|${sender.id}** `);
      break;
    case 'M':
      if (topic) chat.commands.setTopicPolicy(topic, topicMuting(chat, topic).next).catch(reportFailure);
      break;
    case 's':
    case 'z': {
      const channel = key === 's' && shown && topic;
      const narrow = channel ? [{ operator: 'channel' as const, operand: channel.channelId }] : narrowOf(destination);
      navigation.navigate(chat.formatAddress({ view: 'narrow', narrow, near: id }));
      break;
    }
    default: {
      const more = key === '-' && button('-');
      const actions = rareActionsOn(message, anchor, commands, services, i18n);
      if (more) more.click();
      else actions.find(({ shortcut }) => shortcut === key)?.run();
    }
  }
}
