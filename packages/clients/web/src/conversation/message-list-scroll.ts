import {
  defaultRangeExtractor,
  type Range,
  useVirtualizer,
  type VirtualItem,
  type Virtualizer,
} from '@tanstack/react-virtual';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'react';
import { mounted } from '../kit/mounted.js';

/** Place of a message in the list. A message taller than the list starts at the upper edge. */
type Alignment = 'third' | 'middle' | 'end';

/** Rows and position at which a list opens. */
export interface ListStart {
  /** One key per message, oldest first. Keys are stable, even when a sent message gets its id. */
  readonly keys: readonly string[];
  /** Message at which the list opens; null for the newest one. Read once per `place`. */
  readonly startKey: string | null;
  /** Saved distance of the start message from the top of the application, or another alignment. */
  readonly startTop: number | Alignment;
  /** Identity of the conversation: a new value restarts at `startKey`. */
  readonly place: string;
  readonly hasNewer: boolean;
}

/** Virtual rows of a list, and jumps between them. */
export interface ListScroll {
  readonly frame: RefObject<HTMLElement | null>;
  readonly virtual: Virtualizer<HTMLElement, Element>;
  /** Rendered rows: those near the visible part, that of the cursor, and that at which the list opened. */
  readonly rows: readonly VirtualItem[];
  /** Row that stays in place after a page key, until the list is at rest. */
  readonly pinned: RefObject<string | null>;
  /** Scrolls by a screen. The row at the edge stays visible. */
  pageBy(direction: 1 | -1): void;
  /** Scrolls as little as possible to show a row; the start of one that is taller than the list. */
  reveal(index: number): void;
}

/** Distance from the end within which the list stays at the end. */
export const AT_END_PX = 60;
/** Expected height of a row. */
const ROW_PX = 64;
/** Minimum height of a row. */
const LEAST_ROW_PX = 20;
/** Rows rendered above and below the visible ones, once those have been painted. */
const OVERSCAN = 8;
const PAINTED_AFTER_MS = 100;
/** Part of a screen by which page keys scroll. */
const PAGE_PART = 0.9;
/** Constant, since header changes must not move the messages. */
export const HEADER_PX = 64;

/** Estimated start offset, so that no distant rows are rendered before the first scroll. */
function estimatedStart({ keys, startKey, startTop }: ListStart): number {
  const index = startKey === null ? -1 : keys.indexOf(startKey);
  const top = { third: innerHeight / 3, middle: (innerHeight - ROW_PX) / 2, end: innerHeight - ROW_PX };
  const offset =
    index < 0
      ? keys.length * ROW_PX - innerHeight
      : index * ROW_PX - (typeof startTop === 'number' ? startTop : top[startTop]);
  return Math.max(0, HEADER_PX + offset);
}

/** Virtualizes the rows so that the reading position is kept while content above and below changes. */
export function useListScroll(list: ListStart, cursorKey: string | null): ListScroll {
  const { keys, startKey, hasNewer } = list;
  const frame = useRef<HTMLElement>(null);
  const pinned = useRef<string | null>(null);
  const nextKeys = useRef(keys);
  // The virtualizer moves to the new rows during rendering.
  nextKeys.current = keys;
  // A new function identity would make the virtualizer recompute all positions.
  const getItemKey = useCallback((index: number) => keys[index]!, [keys]);
  // The focus stays in the row of the cursor. The start row may end above the list, and its height must be measured too.
  const kept = useMemo(
    () => [startKey, cursorKey].map((key) => (key === null ? -1 : keys.indexOf(key))).filter((index) => index >= 0),
    [keys, startKey, cursorKey],
  );
  const virtual = useVirtualizer({
    count: keys.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    initialOffset: () => estimatedStart(list),
    scrollMargin: HEADER_PX,
    getItemKey,
    anchorTo: 'end',
    followOnAppend: !hasNewer,
    scrollEndThreshold: AT_END_PX,
    overscan: useIsPainted() ? OVERSCAN : 0,
    rangeExtractor: useCallback((range: Range) => inOrder([...defaultRangeExtractor(range), ...kept]), [kept]),
  });
  useReadingRow(nextKeys, frame, virtual, pinned);
  const reveal = useCallback(
    (index: number) => {
      const isTall = virtual.measurementsCache[index]!.size > mounted(frame).clientHeight;
      virtual.scrollToIndex(index, { align: isTall ? 'start' : 'auto' });
    },
    [virtual],
  );
  const pageBy = (direction: 1 | -1) => {
    const { startIndex, endIndex } = virtual.range!;
    pinned.current = keys[direction === 1 ? endIndex : startIndex]!;
    mounted(frame).scrollBy(0, direction * mounted(frame).clientHeight * PAGE_PART);
  };
  return { frame, virtual, rows: virtual.getVirtualItems(), pinned, pageBy, reveal };
}

/** False until the visible rows have been painted. */
function useIsPainted(): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setPainted(true), PAINTED_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return isPainted;
}

const inOrder = (indexes: readonly number[]): number[] => [...new Set(indexes)].sort((a, b) => a - b);

/**
 * Keeps the row being read in place, whatever changes around it: at the end the last row, after a page key the row at
 * the edge, else the focused one, else the one in the middle.
 */
function useReadingRow(
  nextKeys: RefObject<readonly string[]>,
  frame: RefObject<HTMLElement | null>,
  virtual: Virtualizer<HTMLElement, Element>,
  pinned: RefObject<string | null>,
): void {
  /** Heights of the lines above the texts of rows: day, conversation and sender. */
  const heads = useRef(new WeakMap<Element, number>());
  useState(() => {
    const itemAt = virtual.getVirtualItemForOffset;
    const readingIndex = (): number => {
      const { startIndex, endIndex } = virtual.range ?? { startIndex: 0, endIndex: -1 };
      const isVisible = (index: number) => index >= startIndex && index <= endIndex;
      const edge =
        pinned.current === null ? -1 : virtual.measurementsCache.findIndex(({ key }) => key === pinned.current);
      if (isVisible(edge)) return edge;
      const focused = frame.current?.querySelector<HTMLElement>('[data-index]:focus-within');
      if (focused && isVisible(Number(focused.dataset.index))) return Number(focused.dataset.index);
      return itemAt((virtual.scrollOffset ?? 0) + (virtual.scrollRect?.height ?? 0) / 2)?.index ?? 0;
    };
    // The list may have shrunk or scrolled since the virtualizer's last event.
    virtual.isAtEnd = () => {
      const { scrollHeight, scrollTop, clientHeight } = mounted(frame);
      return scrollHeight - scrollTop - Math.max(clientHeight, virtual.scrollRect!.height) <= AT_END_PX;
    };
    virtual.shouldAdjustScrollPositionOnItemSizeChange = ({ index, key }) => {
      const row = virtual.elementsCache.get(key)!;
      const head = headOf(row);
      const before = heads.current.get(row);
      heads.current.set(row, head);
      const reading = readingIndex();
      return index === reading ? before !== undefined && before !== head : index < reading;
    };
    // The virtualizer keeps the row at its offset in place while rows are added or removed.
    virtual.getVirtualItemForOffset = () => {
      const left = new Set(nextKeys.current);
      const rows = virtual.measurementsCache;
      if (virtual.options.followOnAppend && virtual.isAtEnd()) {
        // Rows may be added before the last one. With its end at the current end, the distance from the end is kept.
        const key = nextKeys.current.at(-1)!;
        const size = virtual.itemSizeCache.get(key) ?? ROW_PX;
        return { ...rows.at(-1)!, key, start: rows.at(-1)!.end - size };
      }
      const reading = readingIndex();
      const { startIndex, endIndex } = virtual.range ?? { startIndex: 0, endIndex: 0 };
      const before = rows.slice(startIndex, reading + 1).reverse();
      return [...before, ...rows.slice(reading + 1, endIndex + 1)].find(({ key }) => left.has(String(key)));
    };
  });
}

/** Height of the part of a row above its text. */
const headOf = (row: Element): number => {
  const text = row.querySelector('[data-text]');
  return text ? text.getBoundingClientRect().top - row.getBoundingClientRect().top : 0;
};

export interface Arrival {
  /** Place at which the list has opened last. */
  readonly openedPlace: RefObject<string | null>;
  /** True until the list has settled at its start or at the target of a jump. */
  isArriving(): boolean;
  /** Keeps the list where it is from now on. */
  end(): void;
  /** Scrolls to the start again if the list has not settled. */
  arrive(): void;
  /** Scrolls to a message. */
  jumpTo(key: string, align: Alignment): void;
}

/** Message to which the list scrolls until it has settled; the newest one without a key. */
interface Target {
  readonly key: string | null;
  readonly top: number | Alignment;
}

/** Maximum number of renderings in one frame in which rows around the target are measured. */
const MAX_STEPS = 12;

/** Scrolls a new place to its start. Rows are measured and aligned before they are painted. */
export function useArrival(list: ListStart, { frame, virtual }: ListScroll): Arrival {
  const { keys, startKey, startTop, place } = list;
  const openedPlace = useRef<string | null>(null);
  const target = useRef<Target | null>(null);
  const steps = useRef(0);
  const [, render] = useReducer((count: number) => count + 1, 0);
  const isEmpty = keys.length === 0;
  const arrive = useCallback(() => {
    if (!target.current) return;
    const list = mounted(frame);
    const { key, top } = target.current;
    const index = key === null ? -1 : keys.indexOf(key);
    const offset = offsetOf(list, virtual, index, top);
    const before = virtual.scrollOffset;
    if (offset === null) virtual.scrollToEnd();
    else virtual.scrollToOffset(offset);
    // The virtualizer would learn of the new offset after the next paint.
    virtual.scrollOffset = list.scrollTop;
    const isSettled = before !== null && Math.abs(list.scrollTop - before) <= 1;
    steps.current = isSettled ? 0 : steps.current + 1;
    if (!isSettled && steps.current < MAX_STEPS) render();
  }, [keys, frame, virtual]);
  // Each rendering may measure rows.
  useLayoutEffect(() => {
    if (!isEmpty && openedPlace.current !== place) {
      openedPlace.current = place;
      target.current = { key: startKey, top: startTop };
    }
    arrive();
  });
  const isArriving = useCallback(() => target.current !== null, []);
  const end = useCallback(() => {
    target.current = null;
  }, []);
  const jumpTo = useCallback(
    (key: string, top: Alignment) => {
      target.current = { key, top };
      arrive();
    },
    [arrive],
  );
  return { openedPlace, isArriving, end, arrive, jumpTo };
}

/** Returns the scroll offset that aligns a row; null for the end of the list, also if it shows all from this sender on. */
function offsetOf(
  list: HTMLElement,
  virtual: Virtualizer<HTMLElement, Element>,
  index: number,
  top: Target['top'],
): number | null {
  // Reading the size updates the measurements.
  const end = virtual.getTotalSize() + HEADER_PX;
  const row = virtual.measurementsCache[index];
  if (!row) return null;
  if (typeof top === 'number') return row.start - top + boxOf(list).top;
  const height = list.clientHeight;
  if (top === 'end' ? row.end === end : leastFrom(virtual, index) <= height + aboveSender(virtual, row)) return null;
  const free = Math.max(0, height - row.size);
  return row.start - { third: Math.min(height / 3, free), middle: free / 2, end: free }[top];
}

/** Minimum height of a row and the following ones. Rows that may fit are rendered and measured. */
const leastFrom = ({ measurementsCache, itemSizeCache }: Virtualizer<HTMLElement, Element>, index: number): number =>
  measurementsCache
    .slice(index)
    .reduce((sum, { key, size }) => sum + (itemSizeCache.has(key) ? size : LEAST_ROW_PX), 0);

/** Height of the lines above the sender, which may be hidden if the end of the list is visible instead. */
function aboveSender({ elementsCache }: Virtualizer<HTMLElement, Element>, { key }: VirtualItem): number {
  const row = elementsCache.get(key);
  const sender = row?.querySelector('[part="sender"]');
  if (!row || !sender) return 0;
  return Math.min(AT_END_PX, sender.getBoundingClientRect().top - row.getBoundingClientRect().top);
}

/** Keeps the visible messages in place when the list is resized, and the newest one at the end. */
export function useResizing({ frame, virtual }: ListScroll, { isArriving, arrive }: Arrival): void {
  const last = useRef<Box>(null);
  useEffect(() => {
    const list = mounted(frame);
    const observer = new ResizeObserver(() => {
      const before = last.current;
      last.current = boxOf(list);
      if (!before) return;
      if (isArriving()) arrive();
      // The browser may have moved a list that grew, and reports the new position later.
      else if (before.fromEnd <= AT_END_PX) virtual.scrollToEnd();
      // A line above, such as a permission prompt, covers messages instead of pushing them down.
      else if (last.current.top !== before.top) virtual.scrollBy(last.current.top - before.top);
      last.current = boxOf(list);
    });
    let isWheeledUp = false;
    let isTyped = false;
    const onScroll = () => {
      // Replacing a text shrinks the composer for an instant: the list grows, and the browser moves it.
      if (last.current?.height === list.clientHeight || isWheeledUp) {
        if (isTyped && last.current!.fromEnd <= AT_END_PX) virtual.scrollToEnd();
        last.current = boxOf(list);
      }
      isWheeledUp = false;
    };
    const onWheel = ({ deltaY }: WheelEvent) => {
      isWheeledUp = deltaY < 0;
    };
    const onInput = () => {
      isTyped = true;
      // Scroll events precede the animation frame.
      requestAnimationFrame(() => {
        isTyped = false;
      });
    };
    observer.observe(list);
    list.addEventListener('wheel', onWheel, { passive: true });
    list.addEventListener('scroll', onScroll);
    addEventListener('input', onInput);
    return () => {
      observer.disconnect();
      list.removeEventListener('wheel', onWheel);
      list.removeEventListener('scroll', onScroll);
      removeEventListener('input', onInput);
    };
  }, [frame, virtual, isArriving, arrive]);
}

interface Box {
  /** Distance from the top of the application. */
  readonly top: number;
  readonly height: number;
  /** Height of the messages below the visible ones. */
  readonly fromEnd: number;
}

export function boxOf(list: HTMLElement): Box {
  const { clientHeight: height, scrollHeight, scrollTop } = list;
  return { top: list.parentElement!.offsetTop, height, fromEnd: scrollHeight - scrollTop - height };
}
