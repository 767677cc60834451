import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { Dialog } from '../kit/dialog.js';
import { keyNames } from '../kit/key-names.js';
import { letterKeys, setLetterKeys } from '../services/letter-keys.js';
import { useReading } from '../services/use-reading.js';
import styles from './keyboard.module.css';

interface ShortcutGroup {
  readonly title: string;
  /** Address of the group in links to the dialog. */
  readonly part?: string;
  readonly shortcuts: readonly Shortcut[];
}

type Shortcut = readonly [keys: readonly string[], text: string];

/** Shortcut list with a switch for single-letter shortcuts, and the syntax for formatting and searching. */
export function ShortcutsDialog({ part }: { readonly part?: string | undefined }) {
  const { i18n } = useLingui();
  const isOn = useReading(letterKeys);
  return (
    <Dialog title={i18n._('Keyboard shortcuts')}>
      <div className={styles.content}>
        <label className={styles.switch}>
          <input type="checkbox" checked={isOn} onChange={(event) => setLetterKeys(event.target.checked)} />
          {i18n._('Shortcuts of one letter')}
        </label>
        {[...keysIn(i18n), ...inboxKeysIn(i18n), ...syntaxIn(i18n)].map((group) => (
          <section
            key={group.title}
            ref={group.part !== undefined && group.part === part ? scrollTo : undefined}
            className={styles.shortcuts}
          >
            <h3>{group.title}</h3>
            <dl>
              {group.shortcuts.map(([keys, text]) => (
                <div key={keys.join()}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key}>{keyNames(key, i18n)}</kbd>
                    ))}
                  </dt>
                  <dd>{text}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

const scrollTo = (section: HTMLElement | null) => section?.scrollIntoView();

const keysIn = (i18n: I18n): readonly ShortcutGroup[] => [
  {
    title: i18n._('Navigation'),
    shortcuts: [
      [['Ctrl', 'K'], i18n._('Go to any conversation, person or view')],
      [['q'], i18n._('Filter conversations')],
      [['/'], i18n._('Search')],
      [['w'], i18n._('Search people')],
      [['n'], i18n._('Next unread topic')],
      [['Shift', 'N'], i18n._('Next unread followed topic')],
      [['p'], i18n._('Next unread direct conversation')],
      [['Shift', 'A'], i18n._('Previous channel')],
      [['Shift', 'D'], i18n._('Next channel')],
      [['Esc'], i18n._('First view')],
      [['Shift', 'I'], i18n._('Inbox')],
      [['t'], i18n._('Recent conversations')],
      [['a'], i18n._('Combined feed')],
      [['Shift', 'P'], i18n._('All direct messages')],
      [['*'], i18n._('Starred messages')],
      [['d'], i18n._('Drafts')],
      [['g'], i18n._('Main menu')],
      [['?'], i18n._('Keyboard shortcuts')],
    ],
  },
  {
    title: i18n._('Reading'),
    shortcuts: [
      [['j'], i18n._('Next message')],
      [['k'], i18n._('Previous message')],
      [['Shift', 'J'], i18n._('Next page')],
      [['Shift', 'K'], i18n._('Previous page')],
      [['Shift', 'G'], i18n._('Newest message')],
      [['v'], i18n._('Enlarge images and videos')],
    ],
  },
  {
    title: i18n._('Writing'),
    shortcuts: [
      [['c'], i18n._('Write a message')],
      [['x'], i18n._('New direct message')],
      [['r'], i18n._('Reply')],
      [['←'], i18n._('Edit your last message')],
      [['Ctrl', 'B'], i18n._('Bold')],
      [['Ctrl', 'I'], i18n._('Italic')],
      [['Ctrl', 'Shift', 'L'], i18n._('Link')],
      [['Ctrl', 'Shift', 'C'], i18n._('Code')],
      [['Alt', 'P'], i18n._('Preview')],
    ],
  },
  {
    title: i18n._('Message with the focus'),
    shortcuts: [
      [['Enter'], i18n._('Reply')],
      [['Shift', 'R'], i18n._('Reply to the sender directly')],
      [['@'], i18n._('Mention the sender')],
      [['>'], i18n._('Quote')],
      [['<'], i18n._('Forward to another conversation')],
      [['e'], i18n._('Edit')],
      [['+'], i18n._('React with 👍')],
      [['='], i18n._('Add or remove the first reaction')],
      [[':'], i18n._('Add a reaction')],
      [['Ctrl', 'S'], i18n._('Star')],
      [['Shift', 'U'], i18n._('Mark as unread from here')],
      [['-'], i18n._('Collapse, or expand')],
      [['m'], i18n._('Move messages')],
      [['i'], i18n._('More actions')],
      [['u'], i18n._('Card of the sender')],
      [['Shift', 'H'], i18n._('View edit history')],
      [['Shift', 'V'], i18n._('View read receipts')],
      [['Shift', 'M'], i18n._('Mute the topic, or unmute it')],
      [['s'], i18n._('Go to its conversation, or from there to its channel')],
      [['z'], i18n._('Go to the message in its conversation')],
    ],
  },
];

const inboxKeysIn = (i18n: I18n): readonly ShortcutGroup[] => [
  {
    title: i18n._('Inbox'),
    shortcuts: [
      [['Enter'], i18n._('Open')],
      [['Space'], i18n._('Select')],
      [['Shift', '↓'], i18n._('Select')],
      [['Shift', 'U'], i18n._('Mark as read')],
      [['Shift', 'M'], i18n._('Mute topic')],
      [['Shift', 'F'], i18n._('Follow the topic, or unfollow it')],
      [['Ctrl', 'Z'], i18n._('Undo')],
      [['←'], i18n._('Fold the channel')],
      [['→'], i18n._('Unfold the channel')],
    ],
  },
];

/** Syntax of messages and searches. */
const syntaxIn = (i18n: I18n): readonly ShortcutGroup[] => [
  {
    title: i18n._('Formatting'),
    part: '#message-formatting',
    shortcuts: [
      [['**…**'], i18n._('Bold')],
      [['*…*'], i18n._('Italic')],
      [['[…](https://…)'], i18n._('Link')],
      [['`…`'], i18n._('Code')],
      [['> …'], i18n._('Quote')],
      [['* …'], i18n._('List')],
      [['```spoiler'], i18n._('Spoiler')],
    ],
  },
  {
    title: i18n._('Search'),
    part: '#search-operators',
    shortcuts: [
      [['channel:'], i18n._('Messages in a channel')],
      [['topic:'], i18n._('Messages in a topic')],
      [['from:'], i18n._('Messages from {name}', { name: '…' })],
      [['dm:'], i18n._('Direct messages with {name}', { name: '…' })],
      [['mentions:'], i18n._('Messages that mention {name}', { name: '…' })],
      [['has:link'], i18n._('Messages with links')],
      [['is:unread'], i18n._('Unread messages')],
      [['is:starred'], i18n._('Starred messages')],
      [['is:followed'], i18n._('Messages in followed topics')],
      [['-is:followed'], i18n._('Not: {description}', { description: i18n._('Messages in followed topics') })],
    ],
  },
];
