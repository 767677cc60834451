import { useLingui } from '@lingui/react';
import type { PersonRow } from '@parley/chat';
import styles from './people.module.css';

export function PresenceDot({ presence }: { readonly presence: PersonRow['presence'] }) {
  const { i18n } = useLingui();
  const label = { active: i18n._('active'), idle: i18n._('idle'), offline: i18n._('offline') }[presence];
  return <span className={styles.dot} data-presence={presence} role="img" aria-label={label} title={label} />;
}
