import type { Virtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef } from 'react';
import { mounted } from '../kit/mounted.js';
import { type Arrival, AT_END_PX, boxOf, type ListScroll, type ListStart } from './message-list-scroll.js';

const SEEN_AFTER_MS = 500;
/** Minimum time between reports of seen rows. */
const SEEN_EVERY_MS = 250;
const AT_REST_AFTER_MS = 100;

/** Reports the reading position once the list has not moved for a moment. */
export function useRest(
  { keys, place, hasNewer }: ListStart,
  { frame, virtual, pinned }: ListScroll,
  { openedPlace, end }: Arrival,
  onRest: (key: string, top: number | null) => void,
): void {
  const offset = virtual.scrollOffset ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of what is on screen starts the time again.
  useEffect(() => {
    if (openedPlace.current !== place) return;
    const timer = setTimeout(() => {
      const row = virtual.measurementsCache[virtual.range?.startIndex ?? 0];
      if (!row) return;
      end();
      pinned.current = null;
      const isAtEnd = !hasNewer && virtual.getDistanceFromEnd() <= AT_END_PX;
      if (isAtEnd) onRest(keys.at(-1)!, null);
      else onRest(String(row.key), row.start - (virtual.scrollOffset ?? 0) + boxOf(mounted(frame)).top);
    }, AT_REST_AFTER_MS);
    return () => clearTimeout(timer);
  }, [offset, virtual.isScrolling, keys, place, hasNewer, onRest, end]);
}

/**
 * Reports rows whose end was visible for half a second in a focused window, once until they leave the screen. Rows that
 * appear within a quarter of a second are reported together, since each report updates unread counts across the page.
 */
export function useSeen(
  virtual: Virtualizer<HTMLElement, Element>,
  /** Changes with the visible content. */
  screen: string,
  onSeen: (keys: readonly string[]) => void,
): void {
  /** Unix milliseconds at which a visible row is reported; null once reported. */
  const due = useRef<ReadonlyMap<string, number | null>>(new Map());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const check = useCallback(() => {
    clearTimeout(timer.current);
    const now = Date.now();
    const isWatched = document.visibilityState === 'visible' && document.hasFocus();
    const { startIndex, endIndex } = (isWatched && virtual.range) || { startIndex: 0, endIndex: -1 };
    const top = virtual.scrollOffset ?? 0;
    const bottom = top + (virtual.scrollRect?.height ?? 0) + 1;
    const next = Math.ceil((now + SEEN_AFTER_MS) / SEEN_EVERY_MS) * SEEN_EVERY_MS;
    const present = new Map<string, number | null>();
    for (const { key, end } of virtual.measurementsCache.slice(startIndex, endIndex + 1)) {
      if (end <= top || end > bottom) continue;
      const before = due.current.get(String(key));
      present.set(String(key), before === undefined ? next : before);
    }
    const seen = [...present].filter(([, at]) => at !== null && at <= now).map(([key]) => key);
    for (const key of seen) present.set(key, null);
    due.current = present;
    if (seen.length > 0) onSeen(seen);
    const waiting = [...present.values()].filter((at) => at !== null);
    if (waiting.length > 0) timer.current = setTimeout(check, Math.min(...waiting) - now);
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
      due.current = new Map();
    };
  }, [check]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of what is on screen counts.
  useEffect(check, [check, screen]);
}
