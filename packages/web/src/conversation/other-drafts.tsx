import { useLingui } from '@lingui/react';
import { useServices } from '../services/context.js';
import type { DraftRow, OpenDraft } from '../services/drafts.js';
import { useReading } from '../services/use-reading.js';
import styles from './other-drafts.module.css';

/** Number of drafts shown above the field; the drafts page lists all. */
const FEW = 3;

interface Props {
  readonly draft: OpenDraft;
  onUse(row: DraftRow): void;
}

/** Texts for the same conversation from other windows or apps. */
export function OtherDrafts({ draft, onUse }: Props) {
  const { i18n } = useLingui();
  const { drafts } = useServices();
  const rows = useReading(draft.others);
  if (rows.length === 0) return null;
  return (
    <ul className={styles.others} aria-label={i18n._('Other drafts of this conversation')}>
      {rows.slice(0, FEW).map((row) => (
        <li key={row.key}>
          <span className={styles.text}>
            {i18n._('Another draft:')} <q>{row.text}</q>
          </span>
          <button type="button" onClick={() => onUse(row)}>
            {i18n._('Edit')}
          </button>
          <button type="button" onClick={() => drafts.remove(row.key)}>
            {i18n._('Delete')}
          </button>
        </li>
      ))}
      {rows.length > FEW && (
        <li>
          <a href="#drafts">{i18n._('All drafts')}</a>
        </li>
      )}
    </ul>
  );
}
