import { useLingui } from '@lingui/react';
import { type ReactNode, useState } from 'react';
import { ChevronDown, X } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { keyNames } from '../kit/key-names.js';
import { useField, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import { readStored, store } from '../services/storage.js';
import styles from './composer.module.css';

/** Set in this browser once the hint was shown. */
const SEEN_KEY = 'parley-enter-hint';

/** True if Enter sends; otherwise Ctrl+Enter does. */
export function useEntersSend(): boolean {
  const { sends } = useServices();
  const isSet = useField('user_settings')?.enter_sends === true;
  return sends === 'enter' || isSet;
}

/** Name of the key combination that sends if Enter adds a line. */
function useCombination(): string {
  const { i18n } = useLingui();
  return keyNames(`${/Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl'}+Enter`, i18n);
}

/** Name of the keys that send. */
export function useSendKeys(): string {
  const { i18n } = useLingui();
  const combination = useCombination();
  return useEntersSend() ? i18n._('Enter') : combination;
}

/** Shows which key sends, and changes it. Keyboards on screen have a button instead. */
export function SendKeys({ id }: { readonly id: string }) {
  const { client, sends, tools } = useServices();
  const { i18n } = useLingui();
  const entersSend = useEntersSend();
  const combination = useCombination();
  const text = i18n._('{keys} sends', { keys: useSendKeys() });
  // The product has chosen the key, or a menu for it is more than its customers need.
  if (sends === 'enter' || tools === 'simple') {
    return (
      <small id={id} className={styles.hint}>
        {text}
      </small>
    );
  }
  return (
    <button
      type="button"
      className={styles.hint}
      title={i18n._('Change the key that sends')}
      aria-haspopup="menu"
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => {
          const { Menu, MenuChoice } = await import('../kit/menu.js');
          const label = i18n._('Enter key');
          return (
            <Menu label={label}>
              <MenuChoice
                label={label}
                value={entersSend ? 'send' : 'line'}
                options={[
                  { value: 'send', label: i18n._('Enter sends, Shift+Enter adds a line') },
                  { value: 'line', label: i18n._('{keys} sends, Enter adds a line', { keys: combination }) },
                ]}
                onChoose={(value) =>
                  void client.patch('/settings', { enter_sends: value === 'send' }).catch(reportFailure)
                }
              />
            </Menu>
          );
        })
      }
    >
      <span id={id}>{text}</span>
      <ChevronDown size={14} aria-hidden />
    </button>
  );
}

/** Hint that appears once per browser; call `show` when Enter adds a line. */
export function useEnterHint(): readonly [hint: ReactNode, show: () => void] {
  const [isShown, setShown] = useState(false);
  const show = () => {
    if (readStored(SEEN_KEY) !== null || matchMedia('(pointer: coarse)').matches) return;
    store(SEEN_KEY, 'seen');
    setShown(true);
  };
  return [isShown && <EnterHint onClose={() => setShown(false)} />, show];
}

function EnterHint({ onClose }: { readonly onClose: () => void }) {
  const { client } = useServices();
  const { i18n } = useLingui();
  const combination = useCombination();
  const entersSend = useEntersSend();
  if (entersSend) return null;
  return (
    <p className={styles.enterHint} role="status">
      <span>{i18n._('{keys} sends, Enter adds a line', { keys: combination })}</span>
      <button type="button" onClick={() => void client.patch('/settings', { enter_sends: true }).catch(reportFailure)}>
        {i18n._('Send with Enter')}
      </button>
      <IconButton icon={X} label={i18n._('Close')} onClick={onClose} />
    </p>
  );
}
