import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { type Chat, destinationOf, narrowOf } from '@parley/chat';
import { Keyboard, Search } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { IconButton } from '../kit/icon-button.js';
import { useServices } from '../services/context.js';
import type { Navigation } from '../services/location.js';
import { openOverlay, overlay } from '../services/overlay.js';
import { letterKeys } from './letter-keys.js';
import { openDirect, openHelp, type PageAction } from './page-actions.js';

const openPalette = (anchor: HTMLElement, i18n: I18n, pageActions: readonly PageAction[]) =>
  openOverlay(anchor, async () => {
    const [{ Palette }, { loadManagingTexts }] = await Promise.all([
      import('./palette.js'),
      import('../managing/open.js'),
    ]);
    await loadManagingTexts(i18n, i18n.locale);
    return <Palette anchor={anchor} pageActions={pageActions} />;
  });

/** Buttons for the palette and the list of shortcuts, and the shortcuts of the page. */
export function Shortcuts({ pageActions }: { readonly pageActions: readonly PageAction[] }) {
  const { i18n } = useLingui();
  const { chat, navigation } = useServices();
  const buttons = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const [palette, help] = buttons.current!.querySelectorAll('button');
      if (event.isComposing || event.defaultPrevented) return;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        return openPalette(palette!, i18n, pageActions);
      }
      const run = isForPage(event) ? actionOf(event.key, chat, navigation, help!) : null;
      if (!run) return;
      event.preventDefault();
      run();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [chat, navigation, i18n, pageActions]);
  return (
    <span ref={buttons}>
      <IconButton
        icon={Search}
        label={i18n._('Go to…')}
        opens="dialog"
        onClick={({ currentTarget }) => openPalette(currentTarget, i18n, pageActions)}
      />
      <IconButton
        icon={Keyboard}
        label={i18n._('Keyboard shortcuts')}
        opens="dialog"
        onClick={({ currentTarget }) => openHelp(currentTarget)}
      />
    </span>
  );
}

/** False for keys that write text or belong to a menu or dialog. */
function isForPage({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || !letterKeys.peek() || overlay.peek() !== null) return false;
  return !(target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]'));
}

/** Zulip's shortcuts. Keys are compared as typed, so `I` is Shift+I. */
function actionOf(key: string, chat: Chat, navigation: Navigation, anchor: HTMLElement): (() => void) | null {
  const goTo = (hash: string) => () => navigation.navigate(hash);
  switch (key) {
    case '?':
      return () => openHelp(anchor);
    case '/':
      return () => focus('input[type="search"]');
    case 'c':
    case 'r':
      return () => focus('textarea');
    case 'x':
      return () => openDirect(anchor);
    case 'n':
      return () => goToUnread(chat, navigation, 'channel');
    case 'p':
      return () => goToUnread(chat, navigation, 'direct');
    case 'j':
      return () => move('ArrowDown');
    case 'k':
      return () => move('ArrowUp');
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
    case '*':
      return goTo('#narrow/is/starred');
    default:
      return null;
  }
}

const focus = (selector: string) => document.querySelector<HTMLElement>(`main ${selector}`)?.focus();

/** Moves within the list of messages, which handles the arrow keys. */
function move(key: 'ArrowDown' | 'ArrowUp'): void {
  document
    .querySelector('main section[data-messages]')
    ?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}

/** Opens the first image or video of the focused message, else of those on screen. */
function openMedia(): void {
  const row = document.activeElement?.closest('[data-key]') ?? document.querySelector('main section[data-messages]');
  row?.querySelector<HTMLElement>('[data-media]')?.click();
}

/** Goes to the unread conversation after the present one, or to the first. */
function goToUnread(chat: Chat, navigation: Navigation, kind: 'channel' | 'direct'): void {
  const { directs, channels } = chat.conversations.inbox.value;
  const unread = kind === 'direct' ? directs : channels.flatMap(({ topics }) => topics);
  const { address } = navigation.current();
  const shown = address?.view === 'narrow' ? destinationOf(address.narrow) : null;
  const addresses = unread.map(({ destination }) =>
    chat.formatAddress({ view: 'narrow', narrow: narrowOf(destination), near: null }),
  );
  const current = shown && chat.formatAddress({ view: 'narrow', narrow: narrowOf(shown), near: null });
  const next = addresses[(current === null ? 0 : addresses.indexOf(current) + 1) % Math.max(1, addresses.length)];
  if (next !== undefined) navigation.navigate(next);
}
