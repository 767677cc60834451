import { useLingui } from '@lingui/react';
import { Undo2 } from 'lucide-react';
import { useReading } from '../services/use-reading.js';
import styles from './inbox.module.css';
import type { TriageActions } from './triage-actions.js';

/** Confirms the latest command above the end of the page, and undoes it. */
export function UndoLine({ actions }: { readonly actions: TriageActions }) {
  const { i18n } = useLingui();
  const last = useReading(actions.last);
  return (
    <output className={styles.undo}>
      {last && (
        <span>
          {last.text}
          <button type="button" aria-keyshortcuts="Control+Z" title="Ctrl+Z" onClick={() => void actions.undo()}>
            <Undo2 size={16} aria-hidden /> {i18n._('Undo')}
          </button>
        </span>
      )}
    </output>
  );
}
