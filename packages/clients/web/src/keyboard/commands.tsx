import type { I18n } from '@lingui/core';
import { type Chat, type Destination, type MessageRow, narrowOf } from '@parley/chat';
import type { Services } from '../services/context.js';
import { FIELDS, isPlainKey, letterKeys } from '../services/letter-keys.js';
import { homeOf } from '../services/location.js';
import { openOverlay, overlay } from '../services/overlay.js';
import { moveInBar, placeStops } from './tab-stops.js';

/** `part`: address of a part of Zulip's help to scroll to. */
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

const importPalette = () => Promise.all([import('./palette.js'), import('../managing/open.js')]);
// Loaded before its first use.
void importPalette().catch(() => {});

export async function loadPalette(anchor: HTMLElement, i18n: I18n, onLogOut: (() => void) | undefined) {
  const [{ Palette }, { loadManagingTexts }] = await importPalette();
  await loadManagingTexts(i18n, i18n.locale);
  return <Palette anchor={anchor} onLogOut={onLogOut} openHelp={openHelp} openDirect={openDirect} />;
}

/** Elements that shortcuts share with buttons. */
interface Buttons {
  /** Button of the shortcut list, which also anchors dialogs. */
  readonly help: HTMLElement;
  /** Previously focused element. */
  readonly returnTo: HTMLElement | undefined;
  openPalette(): void;
}

/** Returns the command of a key pressed outside of menus, dialogs and fields; null for other keys. */
export function commandOf(event: KeyboardEvent, services: Services, buttons: Buttons): (() => void) | null {
  if (event.key === 'Tab') placeStops();
  if (!isPlainKey(event)) return null;
  const move = moveInBar(event);
  if (move) return move;
  if (!letterKeys.peek() || overlay.peek() !== null) return null;
  const { key, target } = event;
  const field = (target as Element).closest?.<HTMLElement>(FIELDS);
  if (field) {
    if (key === 'Escape' && field.matches('input[type="search"]:placeholder-shown')) return () => field.blur();
    const isEmpty = field instanceof HTMLTextAreaElement && field.matches(COMPOSER) && field.value === '';
    return isEmpty && (key === 'ArrowUp' || key === 'ArrowLeft') ? () => editLast(services.chat, true) : null;
  }
  if (key === 'Escape') return returnHome(target as Element, services);
  return MOVES.test(key) ? moveOf(event, services.chat) : actionOf(key, services, buttons);
}

/** Leads from messages and rows to the first view, unless the user chose otherwise. */
function returnHome(target: Element, { chat, navigation }: Services): (() => void) | null {
  const home = homeOf(chat);
  const isWanted = chat.state.fields.peek('user_settings')?.web_escape_navigates_to_home_view ?? true;
  const isFree = target.matches('body, main, [data-messages], [data-key], [data-row]');
  return isWanted && isFree && navigation.current().hash !== home ? () => navigation.navigate(home) : null;
}

const MOVES = /^(Arrow.*|Page.*|Home|End| )$/;

/** Handles keys that move in a list of messages and would scroll nothing else. */
function moveOf({ key, shiftKey, target }: KeyboardEvent, chat: Chat): (() => void) | null {
  const element = target as Element;
  const isFree = element.matches('body, main');
  if (key === 'ArrowLeft')
    return isFree || element.matches('[data-messages], [data-key]') ? () => editLast(chat) : null;
  // Buttons of the page have no use for keys that scroll.
  const isIdle = isFree || (/^(Page.*|Home|End)$/.test(key) && element.matches('main *'));
  const list = document.querySelector(LIST);
  return isIdle && key !== 'ArrowRight' && list && !list.contains(element) ? () => move(key, shiftKey) : null;
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
      return isSeen(FILTER) ? () => focus(FILTER) : openPalette;
    case 'w':
      return showPeople;
    case 'g':
      return () => document.querySelector<HTMLElement>('[aria-keyshortcuts="g"]')?.click();
    case 'c':
      return () => compose(openPalette);
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
      return () => move('PageDown');
    case 'K':
      return () => move('PageUp');
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

/** Composer field for a new message. */
const COMPOSER = 'main form[part="composer"] textarea';
/** Topic field of a new channel message. */
const TOPIC = 'main [data-new-topic]';
/** Filter of the sidebar, which narrow windows hide. */
const FILTER = '[part="sidebar"] input[type="search"]';
const LIST = 'main section[data-messages]';
const ROW = `${LIST} [data-key]`;

const focus = (selector: string) => document.querySelector<HTMLElement>(selector)?.focus();

const isSeen = (selector: string): boolean =>
  document.querySelector(selector)?.checkVisibility({ visibilityProperty: true }) === true;

/** Moves within the message list, which handles the key. */
function move(key: string, shiftKey = false): void {
  const event = new KeyboardEvent('keydown', { key, shiftKey, bubbles: true, cancelable: true });
  document.querySelector(LIST)?.dispatchEvent(event);
}

/** Opens the first image or video of the focused message, or else of the visible messages. */
function openMedia(): void {
  const row = document.activeElement?.closest('[data-key]') ?? document.querySelector(LIST);
  row?.querySelector<HTMLElement>('[data-media]')?.click();
}

/**
 * Edits the last visible message that the user may edit; none while a later one is being sent. The focus returns to the
 * composer if it was there.
 */
function editLast(chat: Chat, isFromComposer = false): void {
  const last = [...document.querySelectorAll<HTMLElement>(ROW)].reverse().find((row) => {
    const message = chat.message(row.dataset.key!).peek();
    if (!message?.isOwn) return false;
    return isOutgoing(message) ? message.delivery !== 'failed' : chat.rights.canEdit(message.id!);
  });
  if (last && isOutgoing(chat.message(last.dataset.key!).peek()!)) return;
  last?.toggleAttribute('data-from-composer', isFromComposer);
  last?.focus();
  // The row renders its buttons when focused.
  requestAnimationFrame(() => last?.querySelector<HTMLElement>('[aria-keyshortcuts="e"]')?.click());
}

/** True until the event of an own message arrives, which may be after it has its id. */
const isOutgoing = ({ markdown }: MessageRow): boolean => markdown !== null;

/** Opens the people list and focuses its search. */
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

/** Focuses the field of the open place, or asks for a channel. */
function compose(askForChannel: () => void): void {
  const field = [TOPIC, COMPOSER].find((selector) => document.querySelector(selector));
  if (field === undefined) askForChannel();
  else focus(field);
}

const channelAddress = (chat: Chat, operand: number): string =>
  chat.formatAddress({ view: 'narrow', narrow: [{ operator: 'channel', operand }], near: null });

/** Goes to the next or previous channel in sidebar order. */
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

/** Goes to the next unread conversation of a kind, or to the first. */
function goToUnread({ chat, navigation }: Services, isWanted: (to: Destination) => boolean): void {
  const { directs, groups } = chat.conversations.inbox.value;
  const channels = groups.flatMap((group) => group.channels);
  const unread = [...directs, ...channels.flatMap(({ topics }) => topics)];
  const { to: shown } = navigation.current();
  const addressOf = (to: Destination) => chat.formatAddress({ view: 'narrow', narrow: narrowOf(to), near: null });
  const addresses = unread.flatMap(({ destination }) => (isWanted(destination) ? [addressOf(destination)] : []));
  const next = addresses[(shown ? addresses.indexOf(addressOf(shown)) + 1 : 0) % Math.max(1, addresses.length)];
  if (next !== undefined) navigation.navigate(next);
}
