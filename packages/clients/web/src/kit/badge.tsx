import { useLingui } from '@lingui/react';
import styles from './kit.module.css';

/** Maximum unread count reported by the server. */
const MAX_COUNT = 50_000;

/** Unread count; empty for zero. */
export function UnreadBadge({ count, isMuted = false }: { readonly count: number; readonly isMuted?: boolean }) {
  const { i18n } = useLingui();
  if (count === 0) return null;
  return (
    <span className={isMuted ? styles.badgeMuted : styles.badge} part="badge">
      {count > MAX_COUNT ? `${i18n.number(MAX_COUNT)}+` : count}
      <span className={styles.hiddenText}>
        {' '}
        {i18n._('{count, plural, one {unread message} other {unread messages}}', { count })}
      </span>
    </span>
  );
}

/** Number of the user's texts in a list; empty for zero. */
export const CountBadge = ({ count }: { readonly count: number }) =>
  count > 0 && (
    <span className={styles.badgeMuted} part="badge">
      {count}
    </span>
  );
