import { useLingui } from '@lingui/react';
import { ArrowDown, ArrowUp } from 'lucide-react';
import styles from './message-list.module.css';

/** Jumps to messages that may have to be loaded. */
export interface Jumps {
  /** Direction of the first unread message; null while it is visible or unknown. */
  readonly unread: 'above' | 'below' | null;
  toUnread(): void;
  toNewest(): void;
  /** Must be called when the reader scrolls, which cancels a jump to a place that is still loading. */
  stay(): void;
}

interface Props {
  readonly jumps: Jumps;
  readonly isAwayFromEnd: boolean;
}

/** Buttons over the messages that lead to the first unread and the newest one. */
export default function JumpButtons({ jumps, isAwayFromEnd }: Props) {
  const { i18n } = useLingui();
  const { unread, toUnread, toNewest } = jumps;
  const unreadButton = unread !== null && (
    <button type="button" onClick={toUnread}>
      {unread === 'below' ? <ArrowDown size={16} aria-hidden /> : <ArrowUp size={16} aria-hidden />}{' '}
      {i18n._('First unread message')}
    </button>
  );
  return (
    <>
      <div className={`${styles.jumps} ${styles.above}`}>{unread === 'above' && unreadButton}</div>
      <div className={styles.jumps}>
        {unread === 'below' && unreadButton}
        {isAwayFromEnd && (
          <button type="button" onClick={toNewest}>
            <ArrowDown size={16} aria-hidden /> {i18n._('Newest message')}
          </button>
        )}
      </div>
    </>
  );
}
