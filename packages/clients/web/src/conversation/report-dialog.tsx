import { useLingui } from '@lingui/react';
import { useId, useState } from 'react';
import { Dialog, FormDialog } from '../kit/dialog.js';
import { useOverlay } from '../kit/overlay.js';
import overlays from '../kit/overlays.module.css';
import { useChat, useField } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';

/** Maximum description length (messages §15.4). */
const MAX_LENGTH = 1000;

/** Reports a message to the moderators, with a reason. */
export function ReportDialog({ messageId }: { readonly messageId: number }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const types = useField('server_report_message_types') ?? [];
  const [type, setType] = useState(types[0]?.key ?? '');
  const [description, setDescription] = useState('');
  const hint = useId();
  const { anchor } = useOverlay();
  const names: Readonly<Record<string, string>> = {
    spam: i18n._('Spam'),
    harassment: i18n._('Harassment'),
    inappropriate: i18n._('Inappropriate content'),
    norms: i18n._('Violates community norms'),
    other: i18n._('Other reason'),
  };
  const mustExplain = type === 'other';
  return (
    <FormDialog
      title={i18n._('Report a message')}
      action={i18n._('Report')}
      isDisabled={mustExplain && description.trim() === ''}
      onSubmit={async () => {
        await chat.commands.report(messageId, type, description.trim());
        openOverlay(anchor, async () => (
          <Dialog title={i18n._('The message was reported')}>
            <p>{i18n._('The moderators will look at it. Thank you.')}</p>
          </Dialog>
        ));
      }}
    >
      <p>{i18n._('The moderators see the message, your name, the reason and your description.')}</p>
      <label className={overlays.field}>
        {i18n._('Reason')}
        <select value={type} onChange={(event) => setType(event.target.value)}>
          {types.map(({ key, name }) => (
            <option key={key} value={key}>
              {names[key] ?? name}
            </option>
          ))}
        </select>
      </label>
      <label className={overlays.field}>
        {i18n._('Description')}
        <textarea
          rows={4}
          maxLength={MAX_LENGTH}
          required={mustExplain}
          aria-describedby={mustExplain ? hint : undefined}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </label>
      {mustExplain && <p id={hint}>{i18n._('Please explain what is wrong with the message.')}</p>}
    </FormDialog>
  );
}
