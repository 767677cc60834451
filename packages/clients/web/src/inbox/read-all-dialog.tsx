import { useLingui } from '@lingui/react';
import { FormDialog } from '../kit/dialog.js';
import { useChat } from '../services/context.js';

/** Asks for confirmation before marking everything as read. */
export function ReadAllDialog() {
  const { i18n } = useLingui();
  const chat = useChat();
  return (
    <FormDialog
      title={i18n._('Mark all messages as read?')}
      action={i18n._('Mark as read')}
      onSubmit={() => chat.commands.markAllRead()}
    >
      <p>{i18n._('Muted conversations are included.')}</p>
    </FormDialog>
  );
}
