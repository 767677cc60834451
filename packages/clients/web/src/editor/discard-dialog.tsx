import { useLingui } from '@lingui/react';
import { FormDialog } from '../kit/dialog.js';

/** Asks whether changes to a message are discarded. */
export function DiscardDialog({ onDiscard }: { readonly onDiscard: () => void }) {
  const { i18n } = useLingui();
  return (
    <FormDialog
      title={i18n._('Discard your changes?')}
      action={i18n._('Discard')}
      isDangerous
      onSubmit={async () => onDiscard()}
    >
      <p>{i18n._('The message stays as it was.')}</p>
    </FormDialog>
  );
}
