import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { DestinationName } from '../editor/destination-heading.js';
import { UnsentContent } from '../editor/upload-list.js';
import { PencilLine, Trash2 } from '../icons/icons.js';
import { Empty } from '../kit/empty.js';
import { IconButton } from '../kit/icon-button.js';
import { useAddressOf, useServices } from '../services/context.js';
import type { DraftRow } from '../services/drafts.js';
import { useReading } from '../services/use-reading.js';
import draftStyles from './drafts.module.css';
import styles from './inbox.module.css';

/** All drafts, last edited first; a conversation name leads to the field with its draft. */
export function DraftsPage() {
  const { i18n } = useLingui();
  const rows = useReading(useServices().drafts.all);
  if (rows.length === 0) {
    return (
      <Empty
        icon={PencilLine}
        text={i18n._('You have no drafts.')}
        hint={i18n._('Unsent drafts appear here.')}
        link={{ href: '#recent', text: i18n._('Recent conversations') }}
      />
    );
  }
  return (
    <div className={styles.page}>
      <ul aria-label={i18n._('Drafts')}>
        {rows.map((row) => (
          <Draft key={row.key} row={row} />
        ))}
      </ul>
    </div>
  );
}

function DraftPlace({ to }: { readonly to: Destination }) {
  return (
    <a className={draftStyles.place} href={useAddressOf(to)}>
      <DestinationName destination={to} />
    </a>
  );
}

function Draft({ row: { key, to, text, editedAt } }: { readonly row: DraftRow }) {
  const { i18n } = useLingui();
  const { drafts } = useServices();
  return (
    <li className={draftStyles.draft}>
      <div className={draftStyles.content}>
        {to ? <DraftPlace to={to} /> : <strong>{i18n._('Without a recipient')}</strong>}
        <UnsentContent className={draftStyles.text} content={text} />
        {editedAt > 0 && (
          <time className={draftStyles.time} dateTime={new Date(editedAt * 1000).toISOString()}>
            {i18n.date(new Date(editedAt * 1000), { dateStyle: 'medium', timeStyle: 'short' })}
          </time>
        )}
      </div>
      <IconButton icon={Trash2} label={i18n._('Delete draft')} onClick={() => drafts.remove(key)} />
    </li>
  );
}
