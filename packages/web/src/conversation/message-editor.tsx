import { useLingui } from '@lingui/react';
import type { MessageRow as Message } from '@parley/chat';
import { type ReactNode, useEffect, useRef } from 'react';
import { useChat, useComputed, useFieldText, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import styles from './message-editor.module.css';
import { useMessageField, usePreview } from './message-field.js';
import { UploadList } from './upload-list.js';

interface Props {
  readonly message: Message;
  /** Names the text. */
  readonly field: string;
  /** True if the user has just asked for the field. */
  readonly takesFocus: boolean;
  onOpen(): void;
  onClose(): void;
  /** Message as it was sent, shown while the field is closed. */
  readonly children: ReactNode;
}

/** Field with the changed source of an own message, or a line that leads to it. */
export default function MessageEditor({ message, field, takesFocus, onOpen, onClose, children }: Props) {
  const { i18n } = useLingui();
  const chat = useChat();
  const { drafts, fieldTexts, uploads } = useServices();
  const isOpen = useComputed(() => fieldTexts.isOpen(field), [fieldTexts, field]);
  const [kept, setText] = useFieldText(field);
  const text = kept ?? '';
  const end = () => {
    onClose();
    setText(null);
  };
  const element = useRef<HTMLTextAreaElement>(null);
  const preview = usePreview(element, text, styles.preview);
  const { isWhole, tooLong, suggestions, fieldProps, onChanged } = useMessageField(element, {
    text,
    destination: message.destination,
    filesOf: field,
    isOpen: isOpen === true,
    preview,
    onSend: () => save(),
    onEscape: () => close(),
  });
  const close = () => {
    preview.close();
    onClose();
  };
  // A message that was deleted leaves its text to the drafts.
  const { key, destination } = message;
  useEffect(
    () => () => {
      const isGone = chat.message(key).peek() === null;
      if (isGone) fieldTexts.close(field);
      const rest = isGone && fieldTexts.texts.peek().get(field);
      if (!rest) return;
      drafts.add(destination, rest);
      fieldTexts.set(field, null);
    },
    [chat, drafts, fieldTexts, field, key, destination],
  );
  const save = () => !isWhole || void chat.commands.edit(message.id!, text).then(end, reportFailure);
  const discard = (
    <button type="button" onClick={end}>
      {i18n._('Discard changes')}
    </button>
  );
  if (!isOpen) {
    return (
      <>
        {children}
        <div className={styles.waiting}>
          <span>{i18n._('You have not saved your changes to this message.')}</span>
          <button type="button" onClick={onOpen}>
            {i18n._('Continue editing')}
          </button>
          {discard}
        </div>
      </>
    );
  }
  return (
    <form
      className={styles.editor}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onDrop={(event) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        uploads.add(field, [...event.dataTransfer.files]);
      }}
    >
      <textarea
        ref={element}
        // biome-ignore lint/a11y/noAutofocus: the user has just asked for this field.
        autoFocus={takesFocus}
        hidden={preview.isShown}
        aria-label={i18n._('Edit message')}
        value={text}
        rows={Math.min(12, text.split('\n').length + 1)}
        onChange={(event) => {
          setText(event.target.value);
          onChanged();
        }}
        {...fieldProps}
      />
      {preview.box}
      {suggestions}
      <UploadList destination={field} />
      {tooLong}
      <button type="submit" disabled={!isWhole}>
        {i18n._('Save')}
      </button>
      <button type="button" onClick={preview.toggle}>
        {preview.isShown ? i18n._('Edit') : i18n._('Preview')}
      </button>
      <button type="button" onClick={close}>
        {i18n._('Close')}
      </button>
      {discard}
    </form>
  );
}
