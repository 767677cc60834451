import { useLingui } from '@lingui/react';
import { NotebookText } from 'lucide-react';
import { IconButton } from '../kit/icon-button.js';
import { openOverlay } from '../services/overlay.js';

interface Props {
  /** Field text, used as the initial text of a new snippet. */
  readonly text: string;
  readonly isDisabled: boolean;
  onInsert(text: string): void;
}

/** Button that inserts a saved snippet. */
export default function SnippetsButton({ text, isDisabled, onInsert }: Props) {
  const { i18n } = useLingui();
  return (
    <IconButton
      icon={NotebookText}
      label={i18n._('Saved snippets')}
      opens="dialog"
      isDisabled={isDisabled}
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => {
          const { SnippetsDialog } = await import('./snippets-dialog.js');
          return <SnippetsDialog text={text} onInsert={onInsert} />;
        })
      }
    />
  );
}
