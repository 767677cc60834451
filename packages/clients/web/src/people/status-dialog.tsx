import { useLingui } from '@lingui/react';
import { useState } from 'react';
import { SmilePlus, X } from '../icons/icons.js';
import { FormDialog } from '../kit/dialog.js';
import { Emoji } from '../kit/emoji.js';
import { EmojiGrid } from '../kit/emoji-grid.js';
import { IconButton } from '../kit/icon-button.js';
import overlays from '../kit/overlays.module.css';
import { useChat } from '../services/context.js';
import styles from './status-dialog.module.css';

const MAX_LENGTH = 60;

/** Sets the user's own status. */
export function StatusDialog() {
  const { i18n } = useLingui();
  const chat = useChat();
  const self = chat.people.person(chat.state.selfId).peek();
  const [text, setText] = useState(self.statusText);
  const [emoji, setEmoji] = useState(self.statusEmoji);
  const [isChoosing, setChoosing] = useState(false);
  const suggestions = [
    { text: i18n._('Busy'), emoji: { name: 'working_on_it', code: '1f6e0', type: 'unicode_emoji' } },
    { text: i18n._('In a meeting'), emoji: { name: 'calendar', code: '1f4c5', type: 'unicode_emoji' } },
    { text: i18n._('Out sick'), emoji: { name: 'hurt', code: '1f915', type: 'unicode_emoji' } },
    { text: i18n._('On vacation'), emoji: { name: 'palm_tree', code: '1f334', type: 'unicode_emoji' } },
  ];
  return (
    <FormDialog
      title={i18n._('Set status')}
      action={i18n._('Save')}
      onSubmit={() => chat.commands.setStatus(text.trim(), emoji)}
    >
      <div className={styles.line}>
        <button
          type="button"
          className={styles.emoji}
          aria-label={i18n._('Choose an emoji')}
          aria-expanded={isChoosing}
          onClick={() => setChoosing(!isChoosing)}
        >
          {emoji ? <Emoji {...emoji} /> : <SmilePlus size={18} aria-hidden />}
        </button>
        <input
          className={overlays.input}
          aria-label={i18n._('Your status')}
          placeholder={i18n._('Your status')}
          maxLength={MAX_LENGTH}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <IconButton
          icon={X}
          label={i18n._('Clear status')}
          onClick={() => {
            setText('');
            setEmoji(null);
          }}
        />
      </div>
      {isChoosing && (
        <EmojiGrid
          label={i18n._('Choose an emoji')}
          onPick={({ emoji_name: name, emoji_code: code, reaction_type: type }) => {
            setEmoji({ name, code, type });
            setChoosing(false);
          }}
        />
      )}
      <ul className={styles.suggestions}>
        {suggestions.map((suggestion) => (
          <li key={suggestion.emoji.name}>
            <button
              type="button"
              onClick={() => {
                setText(suggestion.text);
                setEmoji(suggestion.emoji);
              }}
            >
              <Emoji {...suggestion.emoji} /> {suggestion.text}
            </button>
          </li>
        ))}
      </ul>
    </FormDialog>
  );
}
