import { useLingui } from '@lingui/react';
import { Trash2 } from '../icons/icons.js';
import { FormDialog } from '../kit/dialog.js';
import { IconButton } from '../kit/icon-button.js';
import { openOverlay } from '../services/overlay.js';

interface Props {
  /** Question of the confirmation dialog. */
  readonly question: string;
  /** Describes the consequence. */
  readonly consequence: string;
  onDelete(): Promise<unknown>;
}

/** Delete button with a confirmation dialog. */
export function DeleteButton({ question, consequence, onDelete }: Props) {
  const { i18n } = useLingui();
  return (
    <IconButton
      icon={Trash2}
      label={i18n._('Delete')}
      opens="dialog"
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => (
          <FormDialog title={question} action={i18n._('Delete')} isDangerous onSubmit={onDelete}>
            <p>{consequence}</p>
          </FormDialog>
        ))
      }
    />
  );
}
