import { useLingui } from '@lingui/react';
import { useState } from 'react';
import { FormDialog } from '../kit/dialog.js';
import overlays from '../kit/overlays.module.css';
import { useField, useServices } from '../services/context.js';
import { reportDone } from '../services/failures.js';
import { firstTime, requireFuture, TimeField } from './time-field.js';
import { timeText } from './times.js';

/** Sets a reminder time for a message, with a note. */
export function ReminderDialog({ messageId }: { readonly messageId: number }) {
  const { i18n } = useLingui();
  const { client } = useServices();
  const maxLength = useField('max_reminder_note_length');
  const [note, setNote] = useState('');
  const [at, setAt] = useState<number | null>(firstTime);
  return (
    <FormDialog
      title={i18n._('Remind me about this message')}
      action={i18n._('Set reminder')}
      isDisabled={at === null}
      onSubmit={async () => {
        requireFuture(at!);
        await client.post('/reminders', { message_id: messageId, scheduled_delivery_timestamp: at!, note });
        reportDone(i18n._('You will be reminded: {time}', { time: timeText(i18n, at!) }));
      }}
    >
      <label className={overlays.field}>
        {i18n._('Note (optional)')}
        <input maxLength={maxLength} value={note} onChange={({ target }) => setNote(target.value)} />
      </label>
      <TimeField legend={i18n._('Time')} onChange={setAt} />
    </FormDialog>
  );
}
