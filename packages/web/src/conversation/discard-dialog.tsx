import { useLingui } from '@lingui/react';
import { FormDialog } from '../kit/dialog.js';

interface Props {
  /** Describes the message after the changes are discarded. */
  readonly discarded: string;
  onDiscard(): void;
}

/** Asks whether changes to a message are discarded. */
export function DiscardDialog({ discarded, onDiscard }: Props) {
  const { i18n } = useLingui();
  return (
    <FormDialog
      title={i18n._('Discard your changes?')}
      action={i18n._('Discard')}
      isDangerous
      onSubmit={async () => onDiscard()}
    >
      <p>{discarded}</p>
    </FormDialog>
  );
}
