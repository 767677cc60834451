import { useLingui } from '@lingui/react';
import { splitContent } from '../editor/attached-files.js';
import { Paperclip } from '../icons/icons.js';
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

/** Text and file names on one line. */
function Beginning({ content }: { readonly content: string }) {
  const { i18n } = useLingui();
  const { text, files } = splitContent(content);
  return (
    <span className={styles.text}>
      {i18n._('Another draft:')} {text !== '' && <q>{text}</q>}{' '}
      {files.length > 0 && <Paperclip size={14} aria-label={i18n._('Uploads')} />}{' '}
      {files.map(({ name }) => name).join(', ')}
    </span>
  );
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
          <Beginning content={row.text} />
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
