import { useLingui } from '@lingui/react';
import { Dialog } from '../kit/dialog.js';
import { useReading } from '../services/use-reading.js';
import styles from './keyboard.module.css';
import { letterKeys, setLetterKeys } from './letter-keys.js';

/** List of the shortcuts, and the switch for those of one letter. */
export function ShortcutsDialog() {
  const { i18n } = useLingui();
  const isOn = useReading(letterKeys);
  const shortcuts: readonly (readonly [keys: readonly string[], text: string])[] = [
    [['Ctrl', 'K'], i18n._('Go to any conversation, person or view')],
    [['?'], i18n._('Keyboard shortcuts')],
    [['/'], i18n._('Search')],
    [['c'], i18n._('Write a message')],
    [['r'], i18n._('Reply')],
    [['x'], i18n._('New direct message')],
    [['n'], i18n._('Next unread topic')],
    [['p'], i18n._('Next unread direct conversation')],
    [['j'], i18n._('Next message')],
    [['k'], i18n._('Previous message')],
    [['v'], i18n._('Enlarge images and videos')],
    [['Shift', 'I'], i18n._('Inbox')],
    [['t'], i18n._('Recent conversations')],
    [['a'], i18n._('Combined feed')],
    [['d'], i18n._('Drafts')],
    [['*'], i18n._('Starred messages')],
  ];
  return (
    <Dialog title={i18n._('Keyboard shortcuts')}>
      <div className={styles.content}>
        <label className={styles.switch}>
          <input type="checkbox" checked={isOn} onChange={(event) => setLetterKeys(event.target.checked)} />
          {i18n._('Shortcuts of one letter')}
        </label>
        <dl className={styles.shortcuts}>
          {shortcuts.map(([keys, text]) => (
            <div key={keys.join()}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Dialog>
  );
}
