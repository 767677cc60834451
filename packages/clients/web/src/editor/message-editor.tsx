import { useLingui } from '@lingui/react';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { MessageRow as Message } from '@parley/chat';
import { ParleyError } from '@parley/client';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useChat, useComputed, useFieldText, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { askToDiscard, EditorForm, holdsFocus, useDraftOfDeleted } from './editor-form.js';
import editor from './editor-form.module.css';
import styles from './message-editor.module.css';

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
  const { fieldTexts } = useServices();
  const isOpen = useComputed(() => fieldTexts.isOpen(field), [fieldTexts, field]) === true;
  const base = useComputed(() => fieldTexts.texts.value.get(field)?.base ?? null, [fieldTexts, field]);
  const [kept, setText] = useFieldText(field);
  const text = kept ?? '';
  const form = useRef<HTMLFormElement>(null);
  const end = () => {
    const row = form.current?.closest<HTMLElement>('[data-key]');
    if (form.current && holdsFocus(form.current)) {
      const composer = row!.closest('main')?.querySelector<HTMLElement>('form[part="composer"] textarea');
      const isFromComposer = row!.hasAttribute('data-from-composer');
      ((isFromComposer && composer) || row!).focus({ preventScroll: true });
    }
    row?.removeAttribute('data-from-composer');
    onClose();
    setText(null);
  };
  const { changedTo, save } = useSaving(message, { base, text, isOpen, onSaved: end });
  useDraftOfDeleted(field, message.destination, () => chat.message(message.key).peek() === null);
  if (!isOpen) {
    return (
      <>
        {children}
        <UnsavedLine onOpen={onOpen} onDiscard={(button) => askToDiscard(button, end)} />
      </>
    );
  }
  return (
    <EditorForm
      ref={form}
      label={i18n._('Edit message')}
      content={text}
      destination={message.destination}
      filesOf={field}
      takesFocus={takesFocus}
      hasWidgets={false}
      isChanged={base === null || !isSaved(base, text)}
      saveLabel={changedTo === null ? i18n._('Save') : i18n._('Save anyway')}
      onContent={setText}
      onSave={save}
      onCancel={end}
    >
      {changedTo !== null && <ChangedSource source={changedTo} />}
    </EditorForm>
  );
}

interface UnsavedProps {
  onOpen(): void;
  onDiscard(button: HTMLElement): void;
}

/** Leads to the field while it is closed. */
function UnsavedLine({ onOpen, onDiscard }: UnsavedProps) {
  const { i18n } = useLingui();
  return (
    <div className={styles.waiting}>
      <span>{i18n._('You have not saved your changes to this message.')}</span>
      <button type="button" className={editor.button} onClick={onOpen}>
        {i18n._('Continue editing')}
      </button>
      <button
        type="button"
        className={editor.button}
        aria-haspopup="dialog"
        onClick={({ currentTarget }) => onDiscard(currentTarget)}
      >
        {i18n._('Discard changes')}
      </button>
    </div>
  );
}

interface SavingOptions {
  /** Source from which the user began; null if unknown. */
  readonly base: string | null;
  readonly text: string;
  readonly isOpen: boolean;
  onSaved(): void;
}

interface Saving {
  /** Source that another window or device has saved since the user began; null if there is none. */
  readonly changedTo: string | null;
  save(): Promise<void>;
}

/** Saves the text unless the message was changed elsewhere since the user last saw its source. */
function useSaving({ id, html, editedAt }: Message, { base, text, isOpen, onSaved }: SavingOptions): Saving {
  const chat = useChat();
  /** Message source last seen in this window. */
  const [current, setCurrent] = useState<string | null>(null);
  const isChanged = base !== null && current !== null && current !== base && !isSaved(current, text);
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
  const save = async () => {
    try {
      const seen = isChanged ? current : base;
      await chat.commands.edit(id!, text, seen === null ? undefined : digestOf(seen));
      onSaved();
    } catch (error) {
      const isStale = error instanceof ParleyError && error.code === 'EXPECTATION_MISMATCH';
      const source = isStale ? await chat.commands.source(id!).catch(() => null) : null;
      if (source === null) reportFailure(error);
      // The response to an identical save was lost.
      else if (isSaved(source, text)) onSaved();
      else setCurrent(source);
    }
  };
  return { changedTo: isChanged ? current : null, save };
}

function ChangedSource({ source }: { readonly source: string }) {
  const { i18n } = useLingui();
  const id = useId();
  return (
    <div className={styles.changed}>
      <p role="alert" id={id}>
        {i18n._('This message was changed in another window or on another device in the meantime. It now reads:')}
      </p>
      <textarea readOnly aria-labelledby={id} value={source} rows={Math.min(6, source.split('\n').length)} />
    </div>
  );
}

/** Web Crypto is unavailable without HTTPS. */
const digestOf = (source: string): string => bytesToHex(sha256(utf8ToBytes(source)));

/** True if the server would store the text as this source (messages §3). */
const isSaved = (source: string, text: string): boolean => source.trim() === text.trim();
