import { useVirtualizer, type VirtualItem, type Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from 'react';

/** Rows and position at which a list opens. */
export interface ListStart {
  /** One key per message, oldest first. Keys are stable, even when a sent message gets its id. */
  readonly keys: readonly string[];
  /** Message at which the list opens; null for the newest one. Read once per `place`. */
  readonly startKey: string | null;
  /** Saved distance of the start message from the top of the application, or another alignment. */
  readonly startTop: number | 'middle' | 'end';
  /** Identity of the conversation: a new value restarts at `startKey`. */
  readonly place: string;
  readonly hasNewer: boolean;
}

/** Virtual rows of a list, and jumps between them. */
export interface ListScroll {
  readonly frame: RefObject<HTMLElement | null>;
  readonly virtual: Virtualizer<HTMLElement, Element>;
  /** Rows near the visible part, which are rendered. */
  readonly rows: readonly VirtualItem[];
  /** Distance from the end within which new messages are followed; larger after the composer grew over the end. */
  readonly endThreshold: RefObject<number>;
  setEndThreshold(px: number): void;
  jumpTo(index: number, align: 'auto' | 'center' | 'start' | 'end', top?: number): void;
}

export const AT_END_PX = 60;
/** Expected height of a row. */
const ROW_PX = 64;
/** Constant, since header changes must not move the messages. */
export const HEADER_PX = 64;

/** Estimated start offset, so that no distant rows are rendered before the first scroll. */
function estimatedStart({ keys, startKey, startTop }: ListStart): number {
  const index = startKey === null ? -1 : keys.indexOf(startKey);
  const top = { middle: (innerHeight - ROW_PX) / 2, end: innerHeight - ROW_PX };
  const offset =
    index < 0
      ? keys.length * ROW_PX - innerHeight
      : index * ROW_PX - (typeof startTop === 'number' ? startTop : top[startTop]);
  return Math.max(0, HEADER_PX + offset);
}

/** Virtualizes the rows so that the reading position is kept while content above and below changes. */
export function useListScroll(list: ListStart): ListScroll {
  const { keys, hasNewer } = list;
  const frame = useRef<HTMLElement>(null);
  /** Distance from the upper edge at which a restored message is placed. */
  const padding = useRef(0);
  const endThreshold = useRef(AT_END_PX);
  // A new function would make the virtualizer recompute all positions.
  const getItemKey = useCallback((index: number) => keys[index]!, [keys]);
  const virtual = useVirtualizer({
    count: keys.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    initialOffset: () => estimatedStart(list),
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
  const setEndThreshold = useCallback(
    (px: number) => {
      endThreshold.current = px;
      virtual.options.scrollEndThreshold = px;
    },
    [virtual],
  );
  const rows = virtual.getVirtualItems();
  return { frame, virtual, rows, endThreshold, setEndThreshold, jumpTo };
}

export interface Arrival {
  /** Place at which the list has opened last. */
  readonly openedPlace: RefObject<string | null>;
  /** True until the list has settled at its start; indexes change when older messages load. */
  readonly isArriving: RefObject<boolean>;
  /** Scrolls to the start. */
  arrive(): void;
}

/** Scrolls a new place to its start. */
export function useArrival(list: ListStart, { frame, virtual, jumpTo }: ListScroll): Arrival {
  const { keys, startKey, startTop, place } = list;
  const openedPlace = useRef<string | null>(null);
  const isArriving = useRef(false);
  const isEmpty = keys.length === 0;
  const arrive = useCallback(() => {
    const index = startKey === null ? -1 : keys.indexOf(startKey);
    const isLast = startTop === 'end' && index === keys.length - 1;
    if (index < 0 || isLast) virtual.scrollToEnd();
    else if (typeof startTop === 'number') jumpTo(index, 'start', startTop - boxOf(frame.current!).top);
    else jumpTo(index, startTop === 'end' ? 'end' : 'center');
  }, [keys, startKey, startTop, frame, virtual, jumpTo]);
  useLayoutEffect(() => {
    if (isEmpty || (openedPlace.current === place && !isArriving.current)) return;
    openedPlace.current = place;
    isArriving.current = true;
    arrive();
  }, [place, isEmpty, arrive]);
  return { openedPlace, isArriving, arrive };
}

/** Keeps the visible messages in place when the list is resized. */
export function useResizing(
  { frame, virtual, endThreshold, setEndThreshold }: ListScroll,
  { isArriving, arrive }: Arrival,
): void {
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
    [arrive, isArriving, virtual, endThreshold, setEndThreshold],
  );
  useBoxChanges(frame, onResized);
  const offset = virtual.scrollOffset ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: every scroll shows how far the end is.
  useLayoutEffect(() => setEndThreshold(AT_END_PX), [offset, setEndThreshold]);
}

interface Box {
  /** Distance from the top of the application. */
  readonly top: number;
  readonly height: number;
  /** Height available for the list, the composer and lines above. */
  readonly room: number;
}

export function boxOf(frame: HTMLElement): Box {
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
