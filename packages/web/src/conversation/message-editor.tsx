import { useLingui } from '@lingui/react';
import type { MessageRow as Message } from '@parley/chat';
import { useEffect, useState } from 'react';
import { useChat } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import styles from './message-editor.module.css';

interface Props {
  readonly message: Message;
  readonly onClose: () => void;
}

/** Field with the source of an own message. */
export default function MessageEditor({ message, onClose }: Props) {
  const { i18n } = useLingui();
  const chat = useChat();
  const [text, setText] = useState<string | null>(null);
  const id = message.id!;
  useEffect(() => {
    chat.commands.source(id).then(setText, reportFailure);
  }, [chat, id]);
  const save = () => {
    if (text !== null) chat.commands.edit(id, text).then(onClose, reportFailure);
  };
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
        autoFocus
        aria-label={i18n._('Edit message')}
        value={text ?? ''}
        disabled={text === null}
        rows={Math.min(12, (text ?? '').split('\n').length + 1)}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.nativeEvent.isComposing) save();
        }}
      />
      <button type="submit" disabled={text === null}>
        {i18n._('Save')}
      </button>
      <button type="button" onClick={onClose}>
        {i18n._('Cancel')}
      </button>
    </form>
  );
}
