import { useLingui } from '@lingui/react';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { MessageRow as Message } from '@parley/chat';
import { ParleyError } from '@parley/client';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useChat, useComputed, useFieldText, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import styles from './message-editor.module.css';
import { useMessageField, usePreview } from './message-field.js';
import { UploadList } from './upload-list.js';

interface Props {
  readonly message: Message;
  /** Identifies the unsaved text. */
  readonly field: string;
  /** True if the user has just opened the field. */
  readonly takesFocus: boolean;
  onOpen(): void;
  onClose(): void;
  /** Original message, shown while the field is closed. */
  readonly children: ReactNode;
}

/** Field for editing an own message, or a line that leads to it. */
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
    onSend: () => void save(),
    onEscape: () => close(),
  });
  const close = () => {
    preview.close();
    onClose();
  };
  const { id, key, destination, html, editedAt } = message;
  const base = useComputed(() => fieldTexts.texts.value.get(field)?.base ?? null, [fieldTexts, field]);
  /** Message source last seen in this window. */
  const [current, setCurrent] = useState<string | null>(null);
  const isChanged = base !== null && current !== null && current !== base && !isSaved(current, text);
  const otherId = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed message has another source.
  useEffect(() => {
    if (!isOpen) return;
    let isLatest = true;
    const show = (source: string) => isLatest && setCurrent(source);
    // If this fails, saving reports the problem.
    chat.commands.source(id!).then(show, () => {});
    return () => {
      isLatest = false;
    };
  }, [chat, id, isOpen, html, editedAt]);
  // The text of a deleted message becomes a draft.
  useEffect(
    () => () => {
      const isGone = chat.message(key).peek() === null;
      if (isGone) fieldTexts.close(field);
      const rest = isGone && fieldTexts.texts.peek().get(field)?.text;
      if (!rest) return;
      drafts.add(destination, rest);
      fieldTexts.set(field, null);
    },
    [chat, drafts, fieldTexts, field, key, destination],
  );
  const save = async () => {
    if (!isWhole) return;
    try {
      const seen = isChanged ? current : base;
      await chat.commands.edit(id!, text, seen === null ? undefined : digestOf(seen));
      end();
    } catch (error) {
      const isStale = error instanceof ParleyError && error.code === 'EXPECTATION_MISMATCH';
      const source = isStale ? await chat.commands.source(id!).catch(() => null) : null;
      if (source === null) reportFailure(error);
      // The response to an identical save was lost.
      else if (isSaved(source, text)) end();
      else setCurrent(source);
    }
  };
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
        void save();
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
      {isChanged && (
        <div className={styles.changed}>
          <p role="alert" id={otherId}>
            {i18n._('This message was changed in another window or on another device in the meantime. It now reads:')}
          </p>
          <textarea readOnly aria-labelledby={otherId} value={current} rows={Math.min(6, current.split('\n').length)} />
        </div>
      )}
      <button type="submit" disabled={!isWhole}>
        {isChanged ? i18n._('Save anyway') : i18n._('Save')}
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

/** Web Crypto is unavailable without HTTPS. */
const digestOf = (source: string): string => bytesToHex(sha256(utf8ToBytes(source)));

/** True if the server would store the text as this source (messages §3). */
const isSaved = (source: string, text: string): boolean => source.trim() === text.trim();
