import {
  type KeyboardEvent,
  lazy,
  memo,
  type ReactNode,
  Suspense,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { mounted } from '../kit/mounted.js';
import { loadLater } from '../services/loading.js';
import type { Jumps } from './jump-buttons.js';
import styles from './message-list.module.css';
import { type Cursor, useCursor } from './message-list-cursor.js';
import { useRest, useSeen } from './message-list-reading.js';
import {
  type Arrival,
  AT_END_PX,
  HEADER_PX,
  type ListScroll,
  type ListStart,
  useArrival,
  useListScroll,
  useResizing,
} from './message-list-scroll.js';

export interface MessageListProps extends ListStart {
  readonly label: string;
  /** Message of the followed link, which gets the cursor and is marked for a moment; null without a link. */
  readonly linkedKey: string | null;
  /** First unread message when the conversation was opened. */
  readonly unreadKey: string | null;
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
  /** Renders a row, whose name for screen readers is the last label. */
  draw(key: string, index: number, isSelected: boolean, onLabel: (label: string) => void): ReactNode;
  readonly header: ReactNode;
}

const JumpButtons = lazy(() => loadLater(() => import('./jump-buttons.js')));

const NEAR_PX = 600;
const MARKED_MS = 3000;
const MANY_MESSAGES = 2000;

/** Virtual message list that keeps the reading position while content above and below changes. */
export function MessageList(props: MessageListProps) {
  const { keys, place, hasNewer, label } = props;
  const cursorState = useState<string | null>(null);
  const scroll = useListScroll(props, cursorState[0]);
  const { frame, virtual } = scroll;
  const arrival = useArrival(props, scroll);
  useResizing(scroll, arrival);
  const distanceFromEnd = usePaging(props, scroll, arrival);
  useRest(props, scroll, arrival, props.onRest);
  const screen = `${place} ${virtual.scrollOffset ?? 0} ${keys.length} ${virtual.getTotalSize()}`;
  useSeen(virtual, screen, props.onSeen);
  const cursor = useCursor(keys, cursorState, scroll);
  const markedKey = useLinked(props, cursor);
  const jumps = useJumps(props, scroll, arrival, cursor);
  useEffect(() => {
    // The page has the focus of a user who opened a place that was still loading.
    if (mounted(frame).closest('main')?.matches(':focus')) {
      mounted(frame).focus({ preventScroll: true, focusVisible: false });
    }
  }, [frame]);
  const stay = () => {
    scroll.pinned.current = null;
    arrival.end();
    jumps.stay();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const target = event.target as HTMLElement;
    if (event.key === 'Tab' && !event.defaultPrevented) cursor.onTab(event);
    if (target.closest('input, textarea, select, [contenteditable]')) return;
    props.onKey(event);
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = pageOf(event);
    const next = cursor.after(event.key);
    if (
      (page === 0 && next === undefined) ||
      (/^( |Arrow.*)$/.test(event.key) && target.closest('button, a, summary, audio, video'))
    )
      return;
    event.preventDefault();
    if (event.key === 'End' && hasNewer) {
      scroll.pinned.current = null;
      jumps.toNewest();
      return;
    }
    stay();
    if (page !== 0) scroll.pageBy(page);
    else if (keys.length > 0) cursor.select(Math.max(0, Math.min(keys.length - 1, next!)));
  };
  return (
    <div className={styles.place}>
      <section
        ref={frame}
        className={styles.frame}
        part="messages"
        onKeyDown={onKeyDown}
        onFocus={cursor.onEnter}
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
        <Rows keys={keys} scroll={scroll} cursor={cursor} markedKey={markedKey} draw={props.draw} />
      </section>
      {/* biome-ignore-start lint/a11y: leads a focus that comes from below to the cursor. */}
      <span tabIndex={0} onFocus={cursor.onEnter} />
      {/* biome-ignore-end lint/a11y: as above. */}
      <div className={styles.jumps}>
        <Suspense>
          <JumpButtons jumps={jumps} keys={keys} hasNewer={hasNewer} distanceFromEnd={distanceFromEnd} />
        </Suspense>
      </div>
    </div>
  );
}

/** Returns the direction in which a key scrolls by a screen; 0 for other keys. */
function pageOf({ key, shiftKey }: KeyboardEvent): -1 | 0 | 1 {
  if (key === 'PageUp' || (key === ' ' && shiftKey)) return -1;
  return key === 'PageDown' || key === ' ' ? 1 : 0;
}

/** Reports the distance to both ends, so that more messages load. Returns the distance from the loaded end. */
function usePaging(
  { keys, place, hasNewer, onNearStart, onNearEnd, onLong }: MessageListProps,
  { frame, virtual }: ListScroll,
  { openedPlace }: Arrival,
): number {
  const isEmpty = keys.length === 0;
  const offset = virtual.scrollOffset ?? 0;
  const isNearStart = !isEmpty && openedPlace.current === place && offset < NEAR_PX;
  const distanceFromEnd = isEmpty ? 0 : virtual.getDistanceFromEnd();
  const isNearEnd = hasNewer && openedPlace.current === place && distanceFromEnd < NEAR_PX;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that just arrived may not fill the screen.
  useEffect(() => {
    // The virtualizer's offset may be outdated just after the initial scroll.
    if (isNearStart && mounted(frame).scrollTop < NEAR_PX) onNearStart();
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
  return distanceFromEnd;
}

/**
 * Jumps to the first unread and the newest message, which may have to be loaded. If the list has the focus, its cursor
 * moves to the newest message once that is loaded.
 */
function useJumps(
  props: MessageListProps,
  { frame, virtual }: ListScroll,
  { jumpTo, end }: Arrival,
  cursor: Cursor,
): Jumps {
  const { keys, unreadKey, hasNewer, onNewest, onStay, onUnread } = props;
  const { startIndex: firstIndex, endIndex: lastIndex } = virtual.range ?? { startIndex: 0, endIndex: 0 };
  /** Requested place that is still loading. */
  const awaits = useRef<'newest' | 'unread' | null>(null);
  const unreadIndex = unreadKey === null ? -1 : keys.indexOf(unreadKey);
  const isUnreadBelow = unreadIndex > lastIndex;
  const isUnreadAway = unreadKey !== null && keys.length > 0 && (unreadIndex < firstIndex || isUnreadBelow);
  // The opened messages may already be loaded.
  useLayoutEffect(() => {
    if (awaits.current === 'newest' && !hasNewer) {
      end();
      virtual.scrollToEnd();
      if (mounted(frame).matches(':focus-within')) cursor.select(keys.length - 1);
    } else if (awaits.current === 'unread' && unreadIndex >= 0) jumpTo(unreadKey!, 'third');
    else return;
    awaits.current = null;
  });
  return {
    unread: isUnreadBelow ? 'below' : isUnreadAway ? 'above' : null,
    toUnread: () => {
      if (unreadIndex >= 0) return jumpTo(unreadKey!, 'third');
      awaits.current = 'unread';
      onUnread();
    },
    toNewest: () => {
      end();
      if (!hasNewer) return virtual.scrollToEnd();
      awaits.current = 'newest';
      void onNewest().then(() => awaits.current === 'newest' && virtual.scrollToEnd());
    },
    stay: () => {
      if (awaits.current === null) return;
      awaits.current = null;
      onStay();
    },
  };
}

/** Moves the cursor to the message of a followed link. Returns the key of a message to mark. */
function useLinked({ place, linkedKey }: MessageListProps, { enter }: Cursor): string | null {
  const [markedKey, setMarkedKey] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per followed link.
  useLayoutEffect(() => {
    if (linkedKey === null) return;
    enter(linkedKey);
    setMarkedKey(linkedKey);
    const timer = setTimeout(() => setMarkedKey(null), MARKED_MS);
    return () => clearTimeout(timer);
  }, [place, linkedKey]);
  return markedKey;
}

interface RowsProps extends Pick<MessageListProps, 'keys' | 'draw'> {
  readonly scroll: ListScroll;
  readonly cursor: Cursor;
  readonly markedKey: string | null;
}

function Rows({ keys, scroll: { virtual, rows }, cursor, markedKey, draw }: RowsProps) {
  return (
    <ol className={styles.list} style={{ height: virtual.getTotalSize() }}>
      {rows.map(({ key, index, start }) => (
        <Row
          key={key}
          rowKey={String(key)}
          index={index}
          count={keys.length}
          top={start - HEADER_PX}
          isSelected={key === cursor.key}
          isMarked={key === markedKey}
          measure={virtual.measureElement}
          onFocus={cursor.onRowFocus}
          draw={draw}
        />
      ))}
    </ol>
  );
}

interface RowProps extends Pick<MessageListProps, 'draw'> {
  readonly rowKey: string;
  readonly index: number;
  /** Number of rows in the list. */
  readonly count: number;
  readonly top: number;
  readonly isSelected: boolean;
  readonly isMarked: boolean;
  measure(element: Element | null): void;
  onFocus(key: string): void;
}

/** Row that renders again only if it changes, since the list renders on every frame of scrolling. */
const Row = memo(function Row(props: RowProps) {
  const { rowKey, index, count, top, isSelected, isMarked, measure, onFocus, draw } = props;
  const [label, setLabel] = useState<string>();
  return (
    <li
      data-index={index}
      data-key={rowKey}
      data-marked={isMarked || undefined}
      ref={measure}
      className={styles.row}
      style={{ transform: `translateY(${top}px)` }}
      tabIndex={-1}
      aria-setsize={count}
      aria-posinset={index + 1}
      aria-label={label}
      onFocus={() => onFocus(rowKey)}
    >
      {draw(rowKey, index, isSelected, setLabel)}
    </li>
  );
});
