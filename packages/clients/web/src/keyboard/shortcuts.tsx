import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { useEffect, useRef } from 'react';
import { Keyboard, Search } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { mounted } from '../kit/mounted.js';
import { usePlace, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { isComposing } from '../services/letter-keys.js';
import { loadLater, useLoaded } from '../services/loading.js';
import { openOverlay } from '../services/overlay.js';

/** Addresses of Zulip's help. */
const HELP: readonly string[] = ['#keyboard-shortcuts', '#message-formatting', '#search-operators'];

/** Loaded after the first message. */
const loadActions = () => loadLater(() => import('./commands.js'));

interface Props {
  /** Missing if the host application manages log-ins. */
  readonly onLogOut: (() => void) | undefined;
}

function openPalette(anchor: HTMLElement, i18n: I18n, onLogOut: Props['onLogOut'], returnTo?: HTMLElement): void {
  openOverlay(anchor, async () => (await loadActions()).loadPalette(anchor, i18n, onLogOut), returnTo);
}

/** Focused element; undefined for the page itself. */
const focused = (): HTMLElement | undefined =>
  document.activeElement instanceof HTMLElement && document.activeElement !== document.body
    ? document.activeElement
    : undefined;

/** Buttons for the palette and the shortcut list, and the page's shortcuts. */
export function Shortcuts({ onLogOut }: Props) {
  const { i18n } = useLingui();
  const services = useServices();
  const buttons = useRef<HTMLSpanElement>(null);
  const actions = useLoaded(loadActions);
  const { navigation } = services;
  const part = usePlace(({ hash }) => (HELP.includes(hash) ? hash : null));
  useEffect(() => {
    if (part === null) return;
    navigation.replace('#inbox');
    const [, help] = mounted(buttons).querySelectorAll('button');
    loadActions().then(({ openHelp }) => openHelp(help!, undefined, part), reportFailure);
  }, [part, navigation]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const [palette, help] = mounted(buttons).querySelectorAll('button');
      if (isComposing(event) || event.defaultPrevented) return;
      const returnTo = focused();
      const open = () => openPalette(palette!, i18n, onLogOut, returnTo);
      const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
      const buttonsOf = { help: help!, returnTo, openPalette: open };
      // Keys pressed early wait for the code.
      if (!isPalette && !actions) {
        void loadActions().then(({ commandOf }) => commandOf(event, services, buttonsOf)?.());
        return;
      }
      const run = isPalette ? open : actions?.commandOf(event, services, buttonsOf);
      if (!run) return;
      event.preventDefault();
      run();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [actions, services, i18n, onLogOut]);
  return (
    <span ref={buttons} role="toolbar" aria-label={i18n._('Keyboard shortcuts')} data-stop>
      <IconButton
        icon={Search}
        label={i18n._('Go to…')}
        shortcut="Control+K"
        opens="dialog"
        onClick={({ currentTarget }) => openPalette(currentTarget, i18n, onLogOut)}
      />
      <IconButton
        icon={Keyboard}
        label={i18n._('Keyboard shortcuts')}
        shortcut="?"
        opens="dialog"
        onClick={({ currentTarget }) => loadActions().then(({ openHelp }) => openHelp(currentTarget), reportFailure)}
      />
    </span>
  );
}
