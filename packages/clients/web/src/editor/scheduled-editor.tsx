import { useLingui } from '@lingui/react';
import type { ScheduledMessage } from '@parley/client';
import { useRef, useState } from 'react';
import { FailureText } from '../kit/dialog.js';
import { useChat, useComputed, useFieldText, useServices } from '../services/context.js';
import type { Refusal } from '../services/reasons.js';
import { joinContent, nextMessage, splitContent } from './attached-files.js';
import { EditorForm, holdsFocus, useDraftOfDeleted } from './editor-form.js';
import { useScheduling } from './schedule-dialog.js';
import styles from './scheduling.module.css';
import { firstTime, requireFuture, TimeField } from './time-field.js';

interface Props {
  readonly message: ScheduledMessage;
  /** Identifies the unsaved text. */
  readonly field: string;
  /** True if the user has just opened the field. */
  readonly takesFocus: boolean;
  /** Called after the message was saved or its changes were discarded, before the field closes. */
  onEnd(hasFocus: boolean): void;
}

/** Edits text and time of a scheduled message. */
export default function ScheduledEditor({ message, field, takesFocus, onEnd }: Props) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { fieldTexts } = useServices();
  const scheduling = useScheduling();
  // Saving compares with this version, so that unchanged parts keep changes from other windows.
  const [begun] = useState(message);
  const [kept, setText] = useFieldText(field);
  const text = kept ?? '';
  const base = useComputed(() => fieldTexts.texts.value.get(field)?.base ?? '', [fieldTexts, field]);
  const isTextChanged = text !== base && text !== joinContent(splitContent(base));
  const [begunAt] = useState(begun.failed ? firstTime : begun.scheduled_delivery_timestamp);
  const [at, setAt] = useState<number | null>(begunAt);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const destination = scheduling.destinationOf(begun);
  const form = useRef<HTMLFormElement>(null);
  const end = () => {
    onEnd(form.current !== null && holdsFocus(form.current));
    setText(null);
  };
  const schedule = async () => {
    requireFuture(at!);
    const [first, rest] = isTextChanged ? nextMessage(text) : [begun.content, ''];
    if (rest !== '') {
      await scheduling.schedule(destination, rest, at!);
      // A repeated attempt only changes the message.
      setText(first);
    }
    await scheduling.change(begun, first, at!);
  };
  const { scheduled_message_id: id } = begun;
  useDraftOfDeleted(
    field,
    destination,
    () => !state.fields.peek('scheduled_messages')?.some((each) => each.scheduled_message_id === id),
  );
  return (
    <EditorForm
      ref={form}
      label={i18n._('Message')}
      content={text}
      destination={destination}
      filesOf={field}
      takesFocus={takesFocus}
      hasWidgets
      isChanged={isTextChanged || at !== begunAt}
      saveLabel={i18n._('Save')}
      canSave={at !== null && text.trim() !== ''}
      onContent={setText}
      onSave={() => schedule().then(end, setFailure)}
      onCancel={end}
    >
      <div className={styles.time}>
        <TimeField
          legend={i18n._('Time')}
          {...(!begun.failed && { initial: begun.scheduled_delivery_timestamp })}
          onChange={setAt}
        />
        <FailureText failure={failure} />
      </div>
    </EditorForm>
  );
}
