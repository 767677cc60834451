import { useLingui } from '@lingui/react';
import { useRef } from 'react';
import { ArrowDown, ArrowUp } from '../icons/icons.js';
import { useChat } from '../services/context.js';
import { AT_END_PX } from './message-list-scroll.js';

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
  /** Loaded messages, oldest first. */
  readonly keys: readonly string[];
  readonly hasNewer: boolean;
  /** Distance from the end of the loaded messages in pixels. */
  readonly distanceFromEnd: number;
}

/** Buttons below the messages that lead to the first unread and the newest one. */
export default function JumpButtons({ jumps, keys, hasNewer, distanceFromEnd }: Props) {
  const { i18n } = useLingui();
  const isAwayFromEnd = keys.length > 0 && (hasNewer || distanceFromEnd > AT_END_PX);
  const count = useArrived(keys, isAwayFromEnd && !hasNewer);
  const { unread, toUnread, toNewest } = jumps;
  const UnreadArrow = unread === 'below' ? ArrowDown : ArrowUp;
  return (
    <>
      {unread !== null && (
        <button type="button" onClick={toUnread}>
          <UnreadArrow size={16} aria-hidden /> <span>{i18n._('First unread message')}</span>
        </button>
      )}
      {isAwayFromEnd && (
        <button type="button" onClick={toNewest}>
          <ArrowDown size={16} aria-hidden />{' '}
          <span>
            {count === 0
              ? i18n._('Newest message')
              : i18n._('{count, plural, one {# new message} other {# new messages}}', { count })}
          </span>
        </button>
      )}
    </>
  );
}

/** Returns the number of other people's messages that have arrived since the reader left the end of the list. */
function useArrived(keys: readonly string[], isAway: boolean): number {
  const chat = useChat();
  /** Last message when the reader left the end. */
  const last = useRef<string | undefined>(undefined);
  if (!isAway) last.current = undefined;
  else last.current ??= keys.at(-1);
  const from = keys.lastIndexOf(last.current ?? '');
  return from < 0 ? 0 : keys.slice(from + 1).filter((key) => !chat.message(key).peek()?.isOwn).length;
}
