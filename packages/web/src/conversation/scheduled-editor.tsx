import { useLingui } from '@lingui/react';
import type { ScheduledMessage } from '@parley/client';
import { useState } from 'react';
import { FailureText } from '../kit/dialog.js';
import { useChat, useComputed, useFieldText, useServices } from '../services/context.js';
import type { Refusal } from '../services/reasons.js';
import { joinContent, nextMessage, splitContent } from './attached-files.js';
import { EditorForm, useDraftOfDeleted } from './editor-form.js';
import { useScheduling } from './schedule-dialog.js';
import styles from './scheduling.module.css';
import { firstTime, requireFuture, TimeField } from './time-field.js';

interface Props {
  readonly message: ScheduledMessage;
  /** Identifies the unsaved text. */
  readonly field: string;
  /** True if the user has just opened the field. */
  readonly takesFocus: boolean;
}

/** Edits text and time of a scheduled message. */
export default function ScheduledEditor({ message, field, takesFocus }: Props) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { fieldTexts } = useServices();
  const scheduling = useScheduling();
  // Saving compares with this version, so that unchanged parts keep changes from other windows.
  const [begun] = useState(message);
  const [kept, setText] = useFieldText(field);
  const text = kept ?? '';
  const base = useComputed(() => fieldTexts.texts.value.get(field)?.base ?? '', [fieldTexts, field]);
  const isChanged = text !== base && text !== joinContent(splitContent(base));
  const [at, setAt] = useState<number | null>(begun.failed ? firstTime : begun.scheduled_delivery_timestamp);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const destination = scheduling.destinationOf(begun);
  const end = () => setText(null);
  const schedule = async () => {
    requireFuture(at!);
    const [first, rest] = isChanged ? nextMessage(text) : [begun.content, ''];
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
      label={i18n._('Message')}
      content={text}
      destination={destination}
      filesOf={field}
      takesFocus={takesFocus}
      hasWidgets
      isChanged={isChanged}
      discarded={i18n._('The message stays scheduled as it was.')}
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
