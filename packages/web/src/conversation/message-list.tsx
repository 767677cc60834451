import { useLingui } from '@lingui/react';
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import styles from './message-list.module.css';

export interface MessageListProps {
  readonly label: string;
  /** One key per message, oldest first. Keys are stable, even when a sent message gets its id. */
  readonly keys: readonly string[];
  /** Message at which the list opens; null for the newest one. Read once per `place`. */
  readonly startKey: string | null;
  /** Saved distance of the start message from the top of the application, or another alignment. */
  readonly startTop: number | 'middle' | 'end';
  /** First unread message when the conversation was opened. */
  readonly unreadKey: string | null;
  /** Identity of the conversation: a new value restarts at `startKey`. */
  readonly place: string;
  readonly hasNewer: boolean;
  onNearStart(): void;
  onNearEnd(): void;
  /** Called at the end of a list that is so long that each new message takes noticeable time. */
  onLong(): void;
  /** Goes to the newest message, loading it if necessary. Resolves when it is loaded or unavailable. */
  onNewest(): Promise<void>;
  /** Called when the reader scrolls away before a requested place is loaded. */
  onStay(): void;
  /** Goes to the first unread message, which is not loaded. */
  onUnread(): void;
  /**
   * Called when the list is at rest, with the row at the upper edge and its distance from the top of the application;
   * at the end with the last row and null.
   */
  onRest(key: string, top: number | null): void;
  /** Called with messages whose end was visible for half a second in a focused window. */
  onSeen(keys: readonly string[]): void;
  /** Called with keys pressed in the list outside of fields; handlers prevent the default of handled keys. */
  onKey(event: KeyboardEvent<HTMLElement>): void;
  /** Renders a row. Ids of the elements for its name, text and time start with `labelId`. */
  draw(key: string, index: number, isSelected: boolean, labelId: string): ReactNode;
  readonly header: ReactNode;
}

const SEEN_AFTER_MS = 500;
const AT_REST_AFTER_MS = 100;
const NEAR_PX = 600;
const AT_END_PX = 60;
const MANY_MESSAGES = 2000;
/** Expected height of a row. */
const ROW_PX = 64;
/** Constant, since header changes must not move the messages. */
const HEADER_PX = 64;

/** Estimated start offset, so that no distant rows are rendered before the first scroll. */
function estimatedStart({ keys, startKey, startTop }: MessageListProps): number {
  const index = startKey === null ? -1 : keys.indexOf(startKey);
  const top = { middle: (innerHeight - ROW_PX) / 2, end: innerHeight - ROW_PX };
  const offset =
    index < 0
      ? keys.length * ROW_PX - innerHeight
      : index * ROW_PX - (typeof startTop === 'number' ? startTop : top[startTop]);
  return Math.max(0, HEADER_PX + offset);
}

/** Virtual message list that keeps the reading position while content above and below changes. */
export function MessageList(props: MessageListProps) {
  const { keys, place, startKey, startTop, unreadKey, hasNewer, draw, label } = props;
  const { onNearStart, onNearEnd, onLong, onNewest, onStay, onUnread, onSeen, onRest } = props;
  const { i18n } = useLingui();
  const listId = useId();
  const frame = useRef<HTMLElement>(null);
  const [selected, setSelected] = useState<string | null>(null);
  /** Index of the selected message when it was focused. */
  const selectedAt = useRef(0);
  const awaitsFocus = useRef<string | null>(null);
  /** Requested place that is still loading. */
  const awaits = useRef<'newest' | 'unread' | null>(null);
  /** Distance from the upper edge at which a restored message is placed. */
  const padding = useRef(0);
  /** Distance from the end within which new messages are followed; larger after the composer grew over the end. */
  const endThreshold = useRef(AT_END_PX);
  // A new function would make the virtualizer recompute all positions.
  const getItemKey = useCallback((index: number) => keys[index]!, [keys]);
  const virtual = useVirtualizer({
    count: keys.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    initialOffset: () => estimatedStart(props),
    scrollMargin: HEADER_PX,
    scrollPaddingStart: padding.current,
    getItemKey,
    anchorTo: 'end',
    followOnAppend: !hasNewer,
    scrollEndThreshold: endThreshold.current,
    overscan: 8,
  });
  // Rows above a visible focus grow upwards. Without a focus, rows that start above the upper edge and end in the upper
  // half do. A longer row is being read itself.
  virtual.shouldAdjustScrollPositionOnItemSizeChange = ({ index, start, end }) => {
    const top = virtual.scrollOffset ?? 0;
    const height = virtual.scrollRect?.height ?? 0;
    const focused = frame.current?.querySelector<HTMLElement>('[data-index]:focus-within');
    const row = focused && virtual.measurementsCache[Number(focused.dataset.index)];
    if (row && row.start < top + height && row.end > top) return index < row.index;
    return start < top && end <= top + height / 2;
  };
  const jumpTo = useCallback(
    (index: number, align: 'auto' | 'center' | 'start' | 'end', top = 0) => {
      padding.current = top;
      virtual.options.scrollPaddingStart = top;
      virtual.scrollToIndex(index, { align });
    },
    [virtual],
  );

  const openedPlace = useRef<string | null>(null);
  /** True until the list has settled at its start; indexes change when older messages load. */
  const isArriving = useRef(false);
  const isEmpty = keys.length === 0;
  const arrive = useCallback(() => {
    const index = startKey === null ? -1 : keys.indexOf(startKey);
    const isLast = startTop === 'end' && index === keys.length - 1;
    if (index < 0 || isLast) virtual.scrollToEnd();
    else if (typeof startTop === 'number') jumpTo(index, 'start', startTop - boxOf(frame.current!).top);
    else jumpTo(index, startTop === 'end' ? 'end' : 'center');
  }, [keys, startKey, startTop, virtual, jumpTo]);
  useLayoutEffect(() => {
    if (isEmpty || (openedPlace.current === place && !isArriving.current)) return;
    openedPlace.current = place;
    isArriving.current = true;
    arrive();
  }, [place, isEmpty, arrive]);

  const setEndThreshold = useCallback(
    (px: number) => {
      endThreshold.current = px;
      virtual.options.scrollEndThreshold = px;
    },
    [virtual],
  );
  const onResized = useCallback(
    (before: Box, box: Box) => {
      const distance = virtual.getDistanceFromEnd();
      if (box.top !== before.top) {
        if (isArriving.current) arrive();
        // A line above, such as a permission prompt, covers messages instead of pushing them down. At the end, the
        // browser has already scrolled when the line disappears.
        else if (box.top > before.top || distance > 0) virtual.scrollBy(box.top - before.top);
      } else if (box.room === before.room) {
        setEndThreshold(Math.max(AT_END_PX, endThreshold.current + before.height - box.height));
      } else if (distance + box.height - before.height <= endThreshold.current) virtual.scrollToEnd();
    },
    [arrive, virtual, setEndThreshold],
  );
  useBoxChanges(frame, onResized);

  const items = virtual.getVirtualItems();
  const { startIndex: firstIndex, endIndex: lastIndex } = virtual.range ?? { startIndex: 0, endIndex: 0 };
  const offset = virtual.scrollOffset ?? 0;
  const isNearStart = !isEmpty && openedPlace.current === place && offset < NEAR_PX;
  // biome-ignore lint/correctness/useExhaustiveDependencies: every scroll shows how far the end is.
  useLayoutEffect(() => setEndThreshold(AT_END_PX), [offset, setEndThreshold]);
  const distanceFromEnd = isEmpty ? 0 : virtual.getDistanceFromEnd();
  const isNearEnd = hasNewer && openedPlace.current === place && distanceFromEnd < NEAR_PX;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that just arrived may not fill the screen.
  useEffect(() => {
    // The virtualizer's offset may be outdated just after the initial scroll.
    if (isNearStart && frame.current!.scrollTop < NEAR_PX) onNearStart();
  }, [isNearStart, keys.length, onNearStart]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above.
  useEffect(() => {
    if (isNearEnd) onNearEnd();
  }, [isNearEnd, keys.length, onNearEnd]);
  const isLong =
    keys.length > MANY_MESSAGES && !hasNewer && openedPlace.current === place && distanceFromEnd <= AT_END_PX;
  useEffect(() => {
    if (isLong) onLong();
  }, [isLong, onLong]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of what is on screen starts the time again.
  useEffect(() => {
    if (openedPlace.current !== place) return;
    const timer = setTimeout(() => {
      const row = virtual.measurementsCache[virtual.range?.startIndex ?? 0];
      if (!row) return;
      isArriving.current = false;
      const isAtEnd = !hasNewer && virtual.getDistanceFromEnd() <= endThreshold.current;
      if (isAtEnd) onRest(keys.at(-1)!, null);
      else onRest(String(row.key), row.start - (virtual.scrollOffset ?? 0) + boxOf(frame.current!).top);
    }, AT_REST_AFTER_MS);
    return () => clearTimeout(timer);
  }, [offset, virtual.isScrolling, keys, place, hasNewer, onRest]);

  useSeen(virtual, `${place} ${offset} ${keys.length} ${virtual.getTotalSize()}`, onSeen);

  const select = (index: number) => {
    const key = keys[index];
    if (key === undefined) return;
    isArriving.current = false;
    stay();
    setSelected(key);
    jumpTo(index, 'auto');
    awaitsFocus.current = key;
  };
  // A distant row is rendered some frames after scrolling.
  useEffect(() => {
    if (awaitsFocus.current === null) return;
    const row = frame.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(awaitsFocus.current)}"]`);
    if (!row) return;
    awaitsFocus.current = null;
    row.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const target = event.target as HTMLElement;
    if (target.closest('input, textarea, select, [contenteditable]')) return;
    props.onKey(event);
    if (event.defaultPrevented || target.closest('button, a')) return;
    const current = selected === null ? -1 : keys.indexOf(selected);
    // Without a selected message, the last visible one is selected. A removed selection falls back to its neighbors.
    const around = selected === null ? [lastIndex, lastIndex] : [selectedAt.current - 1, selectedAt.current];
    const [previous, following] = current < 0 ? around : [current - 1, current + 1];
    const next = { ArrowUp: previous, ArrowDown: following, Home: 0, End: keys.length - 1 }[event.key];
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (event.key === 'End' && hasNewer) {
      setSelected(null);
      frame.current!.focus();
      goToNewest();
    } else select(Math.max(0, Math.min(keys.length - 1, next)));
  };

  const unreadIndex = unreadKey === null ? -1 : keys.indexOf(unreadKey);
  const isUnreadBelow = unreadIndex > lastIndex;
  const isUnreadAway = unreadKey !== null && !isEmpty && (unreadIndex < firstIndex || isUnreadBelow);
  const goToUnread = () => {
    if (unreadIndex >= 0) return jumpTo(unreadIndex, 'center');
    awaits.current = 'unread';
    onUnread();
  };
  const goToNewest = () => {
    if (!hasNewer) return virtual.scrollToEnd();
    awaits.current = 'newest';
    void onNewest().then(() => awaits.current === 'newest' && virtual.scrollToEnd());
  };
  const stay = () => {
    if (awaits.current === null) return;
    awaits.current = null;
    onStay();
  };
  // The opened messages may already be loaded.
  useLayoutEffect(() => {
    if (awaits.current === 'newest' && !hasNewer) virtual.scrollToEnd();
    else if (awaits.current === 'unread' && unreadIndex >= 0) jumpTo(unreadIndex, 'center');
    else return;
    awaits.current = null;
  });
  const toUnread = isUnreadAway && (
    <button type="button" onClick={goToUnread}>
      {isUnreadBelow ? <ArrowDown size={16} aria-hidden /> : <ArrowUp size={16} aria-hidden />}{' '}
      {i18n._('First unread message')}
    </button>
  );
  return (
    <div className={styles.place}>
      <section
        ref={frame}
        className={styles.frame}
        part="messages"
        onKeyDown={onKeyDown}
        onWheel={stay}
        onTouchMove={stay}
        onPointerDown={stay}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the list scrolls and hands the focus to its rows.
        tabIndex={0}
        aria-label={label}
        data-messages
      >
        <div className={styles.header} style={{ height: HEADER_PX }}>
          {props.header}
        </div>
        <ol className={styles.list} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ key, index, start }) => {
            const labelId = `${listId}${key}`;
            return (
              <li
                key={key}
                data-index={index}
                data-key={key}
                ref={virtual.measureElement}
                className={styles.row}
                style={{ transform: `translateY(${start - HEADER_PX}px)` }}
                tabIndex={-1}
                aria-setsize={keys.length}
                aria-posinset={index + 1}
                aria-labelledby={`${labelId}-name ${labelId}-text ${labelId}-time`}
                onFocus={() => {
                  selectedAt.current = index;
                  setSelected(String(key));
                }}
              >
                {draw(String(key), index, key === selected, labelId)}
              </li>
            );
          })}
        </ol>
      </section>
      <div className={`${styles.jumps} ${styles.above}`}>{!isUnreadBelow && toUnread}</div>
      <div className={styles.jumps}>
        {isUnreadBelow && toUnread}
        {!isEmpty && (hasNewer || distanceFromEnd > endThreshold.current) && (
          <button type="button" onClick={goToNewest}>
            <ArrowDown size={16} aria-hidden /> {i18n._('Newest message')}
          </button>
        )}
      </div>
    </div>
  );
}

/** Reports rows whose end was visible for half a second in a focused window, once until they leave the screen. */
function useSeen(
  virtual: Virtualizer<HTMLElement, Element>,
  /** Changes with the visible content. */
  screen: string,
  onSeen: (keys: readonly string[]) => void,
): void {
  /** Unix milliseconds since when a row has been visible; null once reported. */
  const since = useRef<ReadonlyMap<string, number | null>>(new Map());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const check = useCallback(() => {
    clearTimeout(timer.current);
    const now = Date.now();
    const isWatched = document.visibilityState === 'visible' && document.hasFocus();
    const { startIndex, endIndex } = (isWatched && virtual.range) || { startIndex: 0, endIndex: -1 };
    const top = virtual.scrollOffset ?? 0;
    const bottom = top + (virtual.scrollRect?.height ?? 0) + 1;
    const present = new Map<string, number | null>();
    for (const { key, end } of virtual.measurementsCache.slice(startIndex, endIndex + 1)) {
      if (end <= top || end > bottom) continue;
      const before = since.current.get(String(key));
      present.set(String(key), before === undefined ? now : before);
    }
    const seen = [...present].filter(([, at]) => at !== null && at + SEEN_AFTER_MS <= now).map(([key]) => key);
    for (const key of seen) present.set(key, null);
    since.current = present;
    if (seen.length > 0) onSeen(seen);
    const waiting = [...present.values()].filter((at) => at !== null);
    if (waiting.length > 0) timer.current = setTimeout(check, Math.min(...waiting) + SEEN_AFTER_MS - now);
  }, [virtual, onSeen]);
  useEffect(() => {
    addEventListener('focus', check);
    addEventListener('blur', check);
    document.addEventListener('visibilitychange', check);
    return () => {
      removeEventListener('focus', check);
      removeEventListener('blur', check);
      document.removeEventListener('visibilitychange', check);
      clearTimeout(timer.current);
      since.current = new Map();
    };
  }, [check]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of what is on screen counts.
  useEffect(check, [check, screen]);
}

interface Box {
  /** Distance from the top of the application. */
  readonly top: number;
  readonly height: number;
  /** Height available for the list, the composer and lines above. */
  readonly room: number;
}

function boxOf(frame: HTMLElement): Box {
  const { offsetTop: top, parentElement } = frame.parentElement!;
  return { top, height: frame.clientHeight, room: parentElement!.clientHeight };
}

/** Calls back when the list is resized, with its previous and current box. */
function useBoxChanges(frame: RefObject<HTMLElement | null>, onChange: (before: Box, box: Box) => void): void {
  const last = useRef<Box>(null);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      const before = last.current;
      last.current = boxOf(frame.current!);
      if (before) onChange(before, last.current);
    });
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, [frame, onChange]);
}
