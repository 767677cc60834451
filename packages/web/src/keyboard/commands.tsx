import { type Chat, type Destination, destinationOf, narrowOf } from '@parley/chat';
import type { LucideIcon } from 'lucide-react';
import type { Services } from '../services/context.js';
import { isPlainKey, letterKeys } from '../services/letter-keys.js';
import { openOverlay, overlay } from '../services/overlay.js';

/** Action that the palette offers. */
export interface PageAction {
  readonly name: string;
  readonly icon: LucideIcon;
  run(): void;
}

/** `part`: address of Zulip's help about a part of it, which is scrolled to. */
export const openHelp = (anchor: HTMLElement, returnTo?: HTMLElement, part?: string) => {
  const load = async () => {
    const { ShortcutsDialog } = await import('./shortcuts-dialog.js');
    return <ShortcutsDialog part={part} />;
  };
  openOverlay(anchor, load, returnTo);
};

export const openDirect = (anchor: HTMLElement, returnTo?: HTMLElement) => {
  const load = async () => {
    const { DirectDialog } = await import('../people/direct-dialog.js');
    return <DirectDialog />;
  };
  openOverlay(anchor, load, returnTo);
};

/** What shortcuts share with the buttons. */
interface Buttons {
  /** Button of the list of shortcuts, from which dialogs open. */
  readonly help: HTMLElement;
  /** Element that had the focus. */
  readonly returnTo: HTMLElement | undefined;
  openPalette(): void;
}

/** Command of a key pressed outside of menus, dialogs and fields; null for other keys. */
export function commandOf(event: KeyboardEvent, services: Services, buttons: Buttons): (() => void) | null {
  if (!isPlainKey(event) || !letterKeys.peek() || overlay.peek() !== null) return null;
  const { key, target } = event;
  const field = (target as Element).closest?.<HTMLElement>('input, textarea, select, [contenteditable]');
  if (field) {
    if (key === 'Escape' && field.matches('input[type="search"]:placeholder-shown')) return () => field.blur();
    const isEmpty = field instanceof HTMLTextAreaElement && field.matches(COMPOSER) && field.value === '';
    return isEmpty && (key === 'ArrowUp' || key === 'ArrowLeft') ? () => editLast(services.chat) : null;
  }
  return key.startsWith('Arrow') ? arrowOf(key, target as Element, services.chat) : actionOf(key, services, buttons);
}

/** Arrow keys that scroll nothing else. */
function arrowOf(key: string, target: Element, chat: Chat): (() => void) | null {
  if (key === 'ArrowLeft' && target.matches('body, [data-messages], [data-key]')) return () => editLast(chat);
  return (key === 'ArrowUp' || key === 'ArrowDown') && target.matches('body') ? () => move(key) : null;
}

/** Zulip's shortcuts. Keys are compared as typed, so `I` is Shift+I. */
function actionOf(key: string, services: Services, { help, returnTo, openPalette }: Buttons): (() => void) | null {
  const { chat, navigation } = services;
  const goTo = (hash: string) => () => navigation.navigate(hash);
  switch (key) {
    case '?':
      return () => openHelp(help, returnTo);
    case '/':
      return () => focus('main input[type="search"]');
    case 'q':
      return openPalette;
    case 'w':
      return showPeople;
    case 'g':
      return () => document.querySelector<HTMLElement>('[aria-keyshortcuts="g"]')?.click();
    case 'c':
      return () => startTopic(services, openPalette);
    case 'r':
      return () => focus(COMPOSER);
    case 'x':
      return () => openDirect(help, returnTo);
    case 'n':
      return () => goToUnread(services, isTopic);
    case 'N':
      return () => goToUnread(services, (to) => isTopic(to) && policyOf(chat, to) === 'followed');
    case 'p':
      return () => goToUnread(services, (to) => !isTopic(to));
    case 'A':
      return () => goToChannel(services, -1);
    case 'D':
      return () => goToChannel(services, 1);
    case 'j':
      return () => move('ArrowDown');
    case 'k':
      return () => move('ArrowUp');
    case 'G':
      return () => move('End');
    case 'J':
      return () => scrollPage(1);
    case 'K':
      return () => scrollPage(-1);
    case 'v':
      return openMedia;
    case 'I':
      return goTo('#inbox');
    case 't':
      return goTo('#recent');
    case 'a':
      return goTo('#feed');
    case 'd':
      return goTo('#drafts');
    case 'P':
      return goTo('#narrow/is/dm');
    case '*':
      return goTo('#narrow/is/starred');
    default:
      return null;
  }
}

/** Field to write a new message. */
const COMPOSER = 'main form[part="composer"] textarea';
/** Field for the topic of a new message to a channel. */
const TOPIC = 'main [data-new-topic]';
const LIST = 'main section[data-messages]';
const ROW = `${LIST} [data-key]`;

const focus = (selector: string) => document.querySelector<HTMLElement>(selector)?.focus();

/** Moves within the list of messages, which handles the arrow keys. */
function move(key: 'ArrowDown' | 'ArrowUp' | 'End'): void {
  document.querySelector(LIST)?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}

/** Scrolls by a page, a tenth of which stays. */
function scrollPage(direction: 1 | -1): void {
  const list = document.querySelector(LIST);
  list?.scrollBy(0, direction * list.clientHeight * 0.9);
}

/** Opens the first image or video of the focused message, else of those on screen. */
function openMedia(): void {
  const row = document.activeElement?.closest('[data-key]') ?? document.querySelector(LIST);
  row?.querySelector<HTMLElement>('[data-media]')?.click();
}

/** Edits the last message on screen that the user may edit. */
function editLast(chat: Chat): void {
  const last = [...document.querySelectorAll<HTMLElement>(ROW)].reverse().find((row) => {
    const message = chat.message(row.dataset.key!).peek();
    return message?.isOwn && message.id !== null && chat.rights.canEdit(message.id);
  });
  last?.focus();
  // The row draws its buttons when it has the focus.
  requestAnimationFrame(() => last?.querySelector<HTMLElement>('[aria-keyshortcuts="e"]')?.click());
}

/** Opens the list of people, and searches it. */
function showPeople(): void {
  const panel = '[data-beside] input[type="search"]';
  const observer = new MutationObserver(() => {
    if (!document.querySelector(panel)) return;
    observer.disconnect();
    focus(panel);
  });
  if (document.querySelector(panel)) focus(panel);
  else {
    observer.observe(document.body, { childList: true, subtree: true });
    document.querySelector<HTMLElement>('[aria-keyshortcuts="w"]')?.click();
  }
}

/** Goes to the channel that is shown, to begin a topic there; asks for a channel elsewhere. */
function startTopic({ chat, navigation, drafts }: Services, askForChannel: () => void): void {
  const { channelId } = navigation.current();
  if (channelId === null) askForChannel();
  else if (document.querySelector(TOPIC)) focus(TOPIC);
  else {
    drafts.beginTopic(channelId);
    navigation.navigate(channelAddress(chat, channelId));
  }
}

const channelAddress = (chat: Chat, operand: number): string =>
  chat.formatAddress({ view: 'narrow', narrow: [{ operator: 'channel', operand }], near: null });

/** Goes to a neighbour of the channel that is shown, in the order of the sidebar. */
function goToChannel({ chat, navigation }: Services, step: 1 | -1): void {
  const ids = chat.sidebar.channelIds.peek();
  const { channelId } = navigation.current();
  const index = channelId === null ? -1 : ids.indexOf(channelId);
  const next = index === -1 ? (step === 1 ? 0 : -1) : (index + step) % ids.length;
  const id = ids.at(next);
  if (id !== undefined) navigation.navigate(channelAddress(chat, id));
}

type Topic = Extract<Destination, { kind: 'channel' }>;

const isTopic = (to: Destination): to is Topic => to.kind === 'channel';

const policyOf = (chat: Chat, { channelId, topic }: Topic) => chat.sidebar.policyOf(channelId, topic);

/** Goes to the unread conversation of a kind after the present one, or to the first. */
function goToUnread({ chat, navigation }: Services, isWanted: (to: Destination) => boolean): void {
  const { directs, groups } = chat.conversations.inbox.value;
  const channels = groups.flatMap((group) => group.channels);
  const unread = [...directs, ...channels.flatMap(({ topics }) => topics)];
  const { address } = navigation.current();
  const shown = address?.view === 'narrow' ? destinationOf(address.narrow) : null;
  const addressOf = (to: Destination) => chat.formatAddress({ view: 'narrow', narrow: narrowOf(to), near: null });
  const addresses = unread.flatMap(({ destination }) => (isWanted(destination) ? [addressOf(destination)] : []));
  const next = addresses[(shown ? addresses.indexOf(addressOf(shown)) + 1 : 0) % Math.max(1, addresses.length)];
  if (next !== undefined) navigation.navigate(next);
}
