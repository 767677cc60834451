import { useLingui } from '@lingui/react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import styles from './message-list.module.css';

export interface MessageListProps {
  readonly label: string;
  /** One per message, oldest first. A key never changes, also not when a sent message gets its id. */
  readonly keys: readonly string[];
  /** Opens there; at the newest message if null. Read once for each `place`. */
  readonly startKey: string | null;
  /** First unread message when the conversation was opened. */
  readonly unreadKey: string | null;
  /** Identity of the conversation: a new value starts again at `startKey`. */
  readonly place: string;
  readonly hasNewer: boolean;
  onNearStart(): void;
  onNearEnd(): void;
  /** Goes to the newest message, which may not be loaded. */
  onNewest(): void;
  /** Called with messages whose end was on screen for half a second in a focused window. */
  onSeen(keys: readonly string[]): void;
  draw(key: string, index: number): ReactNode;
  readonly header: ReactNode;
}

const SEEN_AFTER_MS = 500;
const NEAR_PX = 600;
const AT_END_PX = 60;

/** Virtual list of messages that keeps the line being read in place while content above and below changes. */
export function MessageList(props: MessageListProps) {
  const { keys, place, startKey, unreadKey, hasNewer, onNearStart, onNearEnd, onNewest, onSeen, draw, label } = props;
  const { i18n } = useLingui();
  const frame = useRef<HTMLElement>(null);
  const [selected, setSelected] = useState<string | null>(null);
  const awaitsFocus = useRef<string | null>(null);
  const virtual = useVirtualizer({
    count: keys.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 64,
    getItemKey: (index) => keys[index]!,
    anchorTo: 'end',
    followOnAppend: !hasNewer,
    scrollEndThreshold: AT_END_PX,
    overscan: 8,
    useFlushSync: false,
  });

  const openedPlace = useRef<string | null>(null);
  const isEmpty = keys.length === 0;
  useLayoutEffect(() => {
    if (isEmpty || openedPlace.current === place) return;
    openedPlace.current = place;
    const index = startKey === null ? -1 : keys.indexOf(startKey);
    if (index < 0) virtual.scrollToEnd();
    else virtual.scrollToIndex(index, { align: 'center' });
  }, [place, isEmpty, keys, startKey, virtual]);

  const items = virtual.getVirtualItems();
  const firstIndex = items[0]?.index ?? 0;
  const offset = virtual.scrollOffset ?? 0;
  const isNearStart = !isEmpty && openedPlace.current === place && offset < NEAR_PX;
  const distanceFromEnd = isEmpty ? 0 : virtual.getDistanceFromEnd();
  const isNearEnd = hasNewer && openedPlace.current === place && distanceFromEnd < NEAR_PX;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that just arrived may not fill the screen.
  useEffect(() => {
    if (isNearStart) onNearStart();
  }, [isNearStart, keys.length, onNearStart]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above.
  useEffect(() => {
    if (isNearEnd) onNearEnd();
  }, [isNearEnd, keys.length, onNearEnd]);

  const reportSeen = useCallback(() => {
    const element = frame.current;
    if (!element || document.visibilityState !== 'visible' || !document.hasFocus()) return;
    const { top, bottom } = element.getBoundingClientRect();
    const seen: string[] = [];
    for (const row of element.querySelectorAll<HTMLElement>('[data-key]')) {
      const end = row.getBoundingClientRect().bottom;
      if (end > top && end <= bottom + 1) seen.push(row.dataset.key!);
    }
    if (seen.length > 0) onSeen(seen);
  }, [onSeen]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of what is on screen starts the time again.
  useEffect(() => {
    const timer = setTimeout(reportSeen, SEEN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [offset, keys.length, place, reportSeen]);
  useEffect(() => {
    const restart = () => setTimeout(reportSeen, SEEN_AFTER_MS);
    addEventListener('focus', restart);
    document.addEventListener('visibilitychange', restart);
    return () => {
      removeEventListener('focus', restart);
      document.removeEventListener('visibilitychange', restart);
    };
  }, [reportSeen]);

  const select = (index: number) => {
    const key = keys[index];
    if (key === undefined) return;
    setSelected(key);
    virtual.scrollToIndex(index, { align: 'auto' });
    awaitsFocus.current = key;
  };
  // A row far away is drawn some frames after the list was scrolled there.
  useEffect(() => {
    if (awaitsFocus.current === null) return;
    const row = frame.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(awaitsFocus.current)}"]`);
    if (!row) return;
    awaitsFocus.current = null;
    row.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLElement && event.target.closest('button, a, input, textarea, [contenteditable]'))
      return;
    const current = selected === null ? keys.length : keys.indexOf(selected);
    const next = { ArrowUp: current - 1, ArrowDown: current + 1, Home: 0, End: keys.length - 1 }[event.key];
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    select(Math.max(0, Math.min(keys.length - 1, next)));
  };

  const unreadIndex = unreadKey === null ? -1 : keys.indexOf(unreadKey);
  const isUnreadAbove = unreadIndex >= 0 && unreadIndex < firstIndex;
  return (
    <div className={styles.place}>
      <section
        ref={frame}
        className={styles.frame}
        part="messages"
        onKeyDown={onKeyDown}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the list scrolls and hands the focus to its rows.
        tabIndex={0}
        aria-label={label}
        data-messages
      >
        {props.header}
        <ol className={styles.list} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ key, index, start }) => (
            <li
              key={key}
              data-index={index}
              data-key={key}
              ref={virtual.measureElement}
              className={styles.row}
              style={{ transform: `translateY(${start}px)` }}
              tabIndex={-1}
              aria-setsize={keys.length}
              aria-posinset={index + 1}
              onFocus={() => setSelected(String(key))}
            >
              {draw(String(key), index)}
            </li>
          ))}
        </ol>
      </section>
      <div className={styles.jumps}>
        {isUnreadAbove && (
          <button type="button" onClick={() => virtual.scrollToIndex(unreadIndex, { align: 'center' })}>
            <ArrowUp size={16} aria-hidden /> {i18n._('First unread message')}
          </button>
        )}
        {!isEmpty && (hasNewer || distanceFromEnd > 3 * AT_END_PX) && (
          <button type="button" onClick={() => (hasNewer ? onNewest() : virtual.scrollToEnd())}>
            <ArrowDown size={16} aria-hidden /> {i18n._('Newest message')}
          </button>
        )}
      </div>
    </div>
  );
}
