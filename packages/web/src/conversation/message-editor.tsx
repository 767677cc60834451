import { useLingui } from '@lingui/react';
import type { MessageRow as Message } from '@parley/chat';
import { useChat } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import styles from './message-editor.module.css';

interface Props {
  readonly message: Message;
  readonly text: string;
  /** True if the user has just asked for the field. */
  readonly takesFocus: boolean;
  onChange(text: string): void;
  onClose(): void;
}

/** Field with the source of an own message. */
export default function MessageEditor({ message, text, takesFocus, onChange, onClose }: Props) {
  const { i18n } = useLingui();
  const chat = useChat();
  const save = () => void chat.commands.edit(message.id!, text).then(onClose, reportFailure);
  return (
    <form
      className={styles.editor}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the user has just asked for this field.
        autoFocus={takesFocus}
        aria-label={i18n._('Edit message')}
        value={text}
        rows={Math.min(12, text.split('\n').length + 1)}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.nativeEvent.isComposing) save();
        }}
      />
      <button type="submit">{i18n._('Save')}</button>
      <button type="button" onClick={onClose}>
        {i18n._('Cancel')}
      </button>
    </form>
  );
}
