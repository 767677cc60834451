import { useLingui } from '@lingui/react';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { MessageRow as Message } from '@parley/chat';
import { ParleyError } from '@parley/client';
import { type DragEvent, type ReactNode, type Ref, useEffect, useId, useRef, useState } from 'react';
import { useChat, useComputed, useFieldText, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import { useUploads } from '../services/use-uploads.js';
import composer from './composer.module.css';
import { FormattingTools } from './formatting-tools.js';
import styles from './message-editor.module.css';
import { useMessageField, usePreview } from './message-field.js';

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
  const { fieldTexts } = useServices();
  const uploads = useUploads();
  const isOpen = useComputed(() => fieldTexts.isOpen(field), [fieldTexts, field]) === true;
  const base = useComputed(() => fieldTexts.texts.value.get(field)?.base ?? null, [fieldTexts, field]);
  const [kept, setText] = useFieldText(field);
  const text = kept ?? '';
  const end = () => {
    onClose();
    setText(null);
  };
  const element = useRef<HTMLTextAreaElement>(null);
  const cancelButton = useRef<HTMLButtonElement>(null);
  const preview = usePreview(element, text, composer.preview);
  const [isTall, setTall] = useState(false);
  const cancel = () => {
    if (base !== null && isSaved(base, text)) end();
    else askToDiscard(cancelButton.current!, end, element.current!);
  };
  const { isWhole, tooLong, enterHint, suggestions, files, fieldProps } = useMessageField(element, {
    content: text,
    destination: message.destination,
    filesOf: field,
    isOpen,
    preview,
    onContent: setText,
    onSend: () => void (isWhole && save()),
    onEscape: cancel,
  });
  const { changedTo, save } = useSaving(message, { base, text, isOpen, onSaved: end });
  useDraftOfDeleted(message, field);
  if (!isOpen) {
    return (
      <>
        {children}
        <UnsavedLine onOpen={onOpen} onDiscard={end} />
      </>
    );
  }
  const tools = { destination: message.destination, filesOf: field, text, preview, isTall, onTall: setTall };
  return (
    <form
      className={`${composer.composer} ${styles.editor}`}
      data-tall={isTall || undefined}
      onSubmit={(event) => {
        event.preventDefault();
        if (isWhole) void save();
      }}
      onDrop={(event) => uploads.add(field, filesOf(event))}
    >
      <textarea
        ref={element}
        className={composer.field}
        // biome-ignore lint/a11y/noAutofocus: the user has just asked for this field.
        autoFocus={takesFocus}
        hidden={preview.isShown}
        aria-label={i18n._('Edit message')}
        rows={1}
        {...fieldProps}
      />
      {preview.box}
      {suggestions}
      {files.list}
      {enterHint}
      {changedTo !== null && <ChangedSource source={changedTo} />}
      <div className={composer.tools}>
        <FormattingTools {...tools} hasWidgets={false} />
        {tooLong}
        <EndButtons cancel={cancelButton} onCancel={cancel} canSave={isWhole} isChanged={changedTo !== null} />
      </div>
    </form>
  );
}

function filesOf(event: DragEvent): readonly File[] {
  const files = [...event.dataTransfer.files];
  if (files.length > 0) event.preventDefault();
  return files;
}

interface EndProps {
  readonly cancel: Ref<HTMLButtonElement>;
  readonly canSave: boolean;
  /** True if another window or device has saved another text. */
  readonly isChanged: boolean;
  onCancel(): void;
}

function EndButtons({ cancel, canSave, isChanged, onCancel }: EndProps) {
  const { i18n } = useLingui();
  return (
    <>
      <button type="button" ref={cancel} className={styles.button} aria-haspopup="dialog" onClick={onCancel}>
        {i18n._('Cancel')}
      </button>
      <button type="submit" className={styles.button} disabled={!canSave}>
        {isChanged ? i18n._('Save anyway') : i18n._('Save')}
      </button>
    </>
  );
}

/** Asks before changes are discarded. */
const askToDiscard = (anchor: HTMLElement, discard: () => void, returnTo = anchor): void =>
  openOverlay(
    anchor,
    async () => {
      const { DiscardDialog } = await import('./discard-dialog.js');
      return <DiscardDialog onDiscard={discard} />;
    },
    returnTo,
  );

/** Leads to the field while it is closed. */
function UnsavedLine({ onOpen, onDiscard }: { readonly onOpen: () => void; readonly onDiscard: () => void }) {
  const { i18n } = useLingui();
  return (
    <div className={styles.waiting}>
      <span>{i18n._('You have not saved your changes to this message.')}</span>
      <button type="button" onClick={onOpen}>
        {i18n._('Continue editing')}
      </button>
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={({ currentTarget }) => askToDiscard(currentTarget, onDiscard)}
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

/** Turns the text of a deleted message into a draft. */
function useDraftOfDeleted({ key, destination }: Message, field: string): void {
  const chat = useChat();
  const { drafts, fieldTexts } = useServices();
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
