import { useLingui } from '@lingui/react';
import type { RefObject } from 'react';
import { Undo2 } from '../icons/icons.js';
import { keyNames } from '../kit/key-names.js';
import { useReading } from '../services/use-reading.js';
import styles from './inbox.module.css';
import type { LastRow } from './row-keys.js';
import type { TriageActions } from './triage-actions.js';

interface Props {
  readonly actions: TriageActions;
  readonly lastRow: LastRow;
  /** Gets the focus when the button disappears. */
  readonly list: RefObject<HTMLElement | null>;
}

/** Confirms the latest command above the end of the page, and undoes it. */
export function UndoLine({ actions, lastRow, list }: Props) {
  const { i18n } = useLingui();
  const last = useReading(actions.last);
  return (
    <output className={styles.undo}>
      {last && (
        <span>
          {last.text}
          <button
            type="button"
            aria-keyshortcuts="Control+Z"
            title={keyNames('Ctrl+Z', i18n)}
            onClick={() => {
              void actions.undo(lastRow);
              list.current?.focus();
            }}
          >
            <Undo2 size={16} aria-hidden /> {i18n._('Undo')}
          </button>
        </span>
      )}
    </output>
  );
}
