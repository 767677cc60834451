import { useLingui } from '@lingui/react';
import styles from './kit.module.css';

/** Number of unread messages; nothing for zero. */
export function UnreadBadge({ count, isMuted = false }: { readonly count: number; readonly isMuted?: boolean }) {
  const { i18n } = useLingui();
  if (count === 0) return null;
  return (
    <span className={isMuted ? styles.badgeMuted : styles.badge} part="badge">
      {count}
      <span className={styles.hiddenText}>
        {' '}
        {i18n._('{count, plural, one {unread message} other {unread messages}}', { count })}
      </span>
    </span>
  );
}
