import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { type DragEvent, type ReactNode, type Ref, useEffect, useRef, useState } from 'react';
import { mounted } from '../kit/mounted.js';
import { useServices } from '../services/context.js';
import { openOverlay, overlay } from '../services/overlay.js';
import { useUploads } from '../services/use-uploads.js';
import styles from './composer.module.css';
import editor from './editor-form.module.css';
import { FormattingTools } from './formatting-tools.js';
import { useMessageField, usePreview } from './message-field.js';

interface Props {
  readonly ref?: Ref<HTMLFormElement>;
  readonly label: string;
  readonly content: string;
  readonly destination: Destination;
  /** Place that holds its uploads. */
  readonly filesOf: string;
  readonly takesFocus: boolean;
  /** False for texts that cannot become a poll or to-do list. */
  readonly hasWidgets: boolean;
  /** True if closing the form discards changes. */
  readonly isChanged: boolean;
  readonly saveLabel: string;
  readonly canSave?: boolean;
  onContent(content: string): void;
  onSave(): Promise<void>;
  /** Called when the user cancels or discards the changes. */
  onCancel(): void;
  /** Shown between the field and its tools. */
  readonly children?: ReactNode;
}

/** Composer for the content of an existing message. */
export function EditorForm(props: Props) {
  const { label, content, destination, filesOf, hasWidgets, canSave = true, onContent, onCancel, children } = props;
  const { i18n } = useLingui();
  const uploads = useUploads();
  const element = useRef<HTMLTextAreaElement>(null);
  const cancelButton = useRef<HTMLButtonElement>(null);
  const preview = usePreview(element, content, styles.preview);
  const [isTall, setTall] = useState(false);
  const [isSaving, setSaving] = useState(false);
  const cancel = () => {
    if (props.isChanged) askToDiscard(mounted(cancelButton), onCancel, mounted(element));
    else onCancel();
  };
  const { isWhole, tooLong, enterHint, overlays, files, fieldProps } = useMessageField(element, {
    content,
    destination,
    filesOf,
    preview,
    onContent,
    onSend: () => void save(),
    onEscape: cancel,
  });
  const isReady = isWhole && canSave;
  const save = async () => {
    if (!isReady || isSaving) return;
    setSaving(true);
    await props.onSave();
    setSaving(false);
  };
  return (
    <form
      ref={props.ref}
      className={`${styles.composer} ${editor.editor}`}
      data-tall={isTall || undefined}
      onKeyDown={preview.onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={(event) => uploads.add(filesOf, droppedFiles(event))}
    >
      <textarea
        ref={element}
        className={styles.field}
        // biome-ignore lint/a11y/noAutofocus: the user has just asked for this field.
        autoFocus={props.takesFocus}
        hidden={preview.isShown}
        aria-label={label}
        rows={1}
        {...fieldProps}
      />
      {preview.box}
      {overlays}
      {files.list}
      {enterHint}
      {children}
      <div className={styles.tools}>
        {tooLong}
        <FormattingTools {...{ destination, filesOf, text: content, preview, isTall, onTall: setTall, hasWidgets }} />
        <div className={editor.buttons}>
          <button type="button" ref={cancelButton} className={editor.button} aria-haspopup="dialog" onClick={cancel}>
            {i18n._('Cancel')}
          </button>
          <button type="submit" className={editor.button} disabled={!isReady}>
            {props.saveLabel}
          </button>
        </div>
      </div>
    </form>
  );
}

function droppedFiles(event: DragEvent): readonly File[] {
  const files = [...event.dataTransfer.files];
  if (files.length > 0) event.preventDefault();
  return files;
}

/** True if the focus is in the form or in the dialog that discards its changes. */
export const holdsFocus = (form: HTMLFormElement): boolean =>
  form.matches(':focus-within') || form.contains(overlay.peek()?.anchor ?? null);

/** Asks before changes are discarded. */
export const askToDiscard = (anchor: HTMLElement, discard: () => void, returnTo = anchor): void =>
  openOverlay(
    anchor,
    async () => {
      const { DiscardDialog } = await import('./discard-dialog.js');
      return <DiscardDialog onDiscard={discard} />;
    },
    returnTo,
  );

/** Turns the changed text of a field into a draft when its message no longer exists. */
export function useDraftOfDeleted(field: string, destination: Destination, isGone: () => boolean): void {
  const { drafts, fieldTexts } = useServices();
  const message = useRef({ destination, isGone });
  message.current = { destination, isGone };
  useEffect(
    () => () => {
      const { destination, isGone } = message.current;
      if (!isGone()) return;
      fieldTexts.close(field);
      const rest = fieldTexts.texts.peek().get(field)?.text;
      if (!rest) return;
      drafts.add(destination, rest);
      fieldTexts.set(field, null);
    },
    [drafts, fieldTexts, field],
  );
}
