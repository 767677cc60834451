import type { I18n } from '@lingui/core';
import { type Destination, type MessageRow, narrowOf } from '@parley/chat';
import type { KeyboardEvent } from 'react';
import { openPersonCard } from '../people/open-card.js';
import type { Services } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { isPlainKey, letterKeys } from '../services/letter-keys.js';
import { type MessageCommands, rareActionsOn } from './message-menu.js';

interface Page {
  readonly services: Services;
  readonly i18n: I18n;
  readonly commands: MessageCommands;
  /** Conversation that is shown; null for a list of several. */
  readonly shown: Destination | null;
}

/** Runs Zulip's shortcut for the message whose row has the focus, if there is one that is allowed. */
export function pressOnMessage(event: KeyboardEvent<HTMLElement>, page: Page): void {
  const row = (event.target as HTMLElement).closest<HTMLElement>('[data-key]');
  const message = row && page.services.chat.message(row.dataset.key!).peek();
  const isStar = (event.ctrlKey || event.metaKey) && event.key === 's';
  if (!message || message.id === null || !letterKeys.peek()) return;
  if (!isStar && !isPlainKey(event)) return;
  if (event.key === 'Enter' && event.target !== row) return;
  const run = commandOf(isStar ? 'Control+S' : event.key, row, message, page);
  if (!run) return;
  event.preventDefault();
  run();
}

/** Keys are compared as typed, so `H` is Shift+H. */
function commandOf(key: string, row: HTMLElement, message: MessageRow, page: Page): (() => void) | null {
  const { services, i18n, commands, shown } = page;
  const { chat, navigation } = services;
  const { destination, sender } = message;
  const button = (name: string) => row.querySelector<HTMLElement>(`[aria-keyshortcuts="${name}"]`);
  const anchor = button('i');
  // Visitors have no buttons, nor has a message that is being edited.
  if (!anchor) return null;
  const goTo = (to: Destination) => () =>
    navigation.navigate(chat.formatAddress({ view: 'narrow', narrow: narrowOf(to), near: message.id }));
  const { write } = commands;
  const topic = destination.kind === 'channel' ? destination : null;
  switch (key) {
    case 'e':
    case ':':
    case '>':
    case 'i':
    case 'Control+S':
      return () => button(key)?.click();
    case '+':
      return chat.rights.canReact(message.id!) ? () => toggleThumbsUp(message, services) : null;
    case '=':
      return () => row.querySelector<HTMLElement>('[part="reactions"] button')?.click();
    case 'u':
      return () => openPersonCard(anchor, sender.id);
    case 'r':
    case 'Enter':
      return write && (() => write(destination, ''));
    case 'R':
      return write && (() => write({ kind: 'direct', userIds: message.isOwn ? [] : [sender.id] }, ''));
    case '@':
      return write && (() => write(destination, `@**${sender.name}|${sender.id}** `));
    case 'M': {
      if (!topic) return null;
      const isMuted = chat.sidebar.policyOf(topic.channelId, topic.topic) === 'muted';
      return () => void chat.commands.setTopicPolicy(topic, isMuted ? 'none' : 'muted').catch(reportFailure);
    }
    case 's':
      if (!shown) return goTo(destination);
      return topic && (() => navigation.navigate(channelAddress(chat, topic.channelId, message.id)));
    case 'z':
      return goTo(destination);
    default:
      return (
        rareActionsOn(message, anchor, commands, services, i18n).find(({ shortcut }) => shortcut === key)?.run ?? null
      );
  }
}

const channelAddress = (chat: Services['chat'], operand: number, near: number | null): string =>
  chat.formatAddress({ view: 'narrow', narrow: [{ operator: 'channel', operand }], near });

function toggleThumbsUp({ id, reactions }: MessageRow, { chat }: Services): void {
  const emoji = { emoji_name: '+1', emoji_code: '1f44d', reaction_type: 'unicode_emoji' } as const;
  const isOwn = reactions.some(
    ({ emojiCode, reactionType, isOwn }) =>
      isOwn && emojiCode === emoji.emoji_code && reactionType === emoji.reaction_type,
  );
  chat.commands.react(id!, emoji, !isOwn).catch(reportFailure);
}
