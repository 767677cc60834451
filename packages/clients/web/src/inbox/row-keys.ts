import { type FocusEvent, type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react';
import { mounted } from '../kit/mounted.js';
import { isPlainKey, letterKeys } from '../services/letter-keys.js';

/** Rows moved by Page Up and Page Down. */
const PAGE = 10;

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: PAGE,
  PageUp: -PAGE,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};
const LETTERS: Readonly<Record<string, string>> = {
  j: 'ArrowDown',
  k: 'ArrowUp',
  G: 'End',
  J: 'PageDown',
  K: 'PageUp',
};

/** Key passed for both rows of a step with Shift. */
export const EXTEND = 'Shift+Arrow';

/** Row that last had the focus, and its index. Outlives the page, so that the back button returns to the row. */
export interface LastRow {
  row: string | null;
  index: number;
  /** Row that gets the focus once it appears, after an undo. */
  awaited?: string | null;
}

/**
 * One tab stop for the elements with `data-row` in a list: the last row, or its neighbor if it has disappeared. Keys
 * move the focus between them. If the focused row disappears, the neighbor or the empty list gets the focus. `onKey`
 * handles other keys of a row and returns true for those.
 */
export function useRowKeys(last: LastRow, onKey: (key: string, row: string) => boolean) {
  const list = useRef<HTMLElement>(null);
  const hasFocus = useRef(false);
  const rows = () => [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
  const current = (all: readonly HTMLElement[]) =>
    all.find(({ dataset }) => dataset.row === last.row) ?? all[Math.min(last.index, all.length - 1)];
  const place = () => {
    const all = rows();
    const stop = current(all);
    if (stop?.dataset.row === last.row) last.index = all.indexOf(stop!);
    for (const row of all) row.tabIndex = row === stop ? 0 : -1;
  };
  useLayoutEffect(() => {
    const all = rows();
    const next = current(all);
    const awaited = all.find(({ dataset }) => dataset.row === last.awaited);
    if (awaited) {
      last.awaited = null;
      if (mounted(list).matches(':focus-within')) awaited.focus();
    } else if (hasFocus.current && next?.dataset.row !== last.row) (next ?? list.current)?.focus();
    place();
  });
  useEffect(() => {
    // The page has the focus of a user who returned before the rows were rendered.
    const isAwaited = last.row !== null && list.current?.closest('main')?.matches(':focus');
    if (isAwaited) mounted(list).focus();
  }, [last]);
  const focus = (index: number) => {
    const all = rows();
    all[Math.max(0, Math.min(all.length - 1, index))]?.focus();
  };
  const onFocus = ({ target }: FocusEvent) => {
    if (target === list.current) current(rows())?.focus();
    const row = target.closest<HTMLElement>('[data-row]');
    if (!row) return;
    last.row = row.dataset.row!;
    hasFocus.current = true;
    place();
  };
  const onBlur = () => {
    // Rows that disappear lose the focus without an event.
    hasFocus.current = false;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const { key, target, nativeEvent } = event;
    const isLetter = key.length === 1;
    const isUndo = (event.ctrlKey || event.metaKey) && key === 'z';
    if (!isUndo && (!isPlainKey(nativeEvent) || (isLetter && !letterKeys.peek()))) return;
    const row = (target as Element).closest<HTMLElement>('[data-row]');
    if (!row && target !== list.current) return;
    const step = STEPS[LETTERS[key] ?? key];
    if (step !== undefined) {
      last.awaited = null;
      const isExtending = row && event.shiftKey && /^Arrow/.test(key);
      if (isExtending) onKey(EXTEND, row.dataset.row!);
      focus((row ? rows().indexOf(row) : step > 0 ? -1 : 0) + step);
      if (isExtending) onKey(EXTEND, last.row!);
    } else if (!onKey(isUndo ? 'Control+Z' : key, row?.dataset.row ?? '')) return;
    event.preventDefault();
  };
  return { ref: list, onFocus, onBlur, onKeyDown };
}
