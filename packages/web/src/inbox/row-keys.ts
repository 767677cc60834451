import { type FocusEvent, type KeyboardEvent, useLayoutEffect, useRef } from 'react';
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

/**
 * One tab stop for the elements with `data-row` in a list. Keys move the focus between them. If its row disappears, a
 * neighbor or the empty list gets the focus. `onKey` handles other keys of a row and returns true for those.
 */
export function useRowKeys(onKey: (key: string, row: string) => boolean) {
  const list = useRef<HTMLElement>(null);
  /** Row that is the tab stop, and its index while it has the focus. */
  const stop = useRef<{ readonly row: string | null; readonly focused: number | null }>({ row: null, focused: null });
  const rows = () => [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
  const place = () => {
    const all = rows();
    const current = all.find(({ dataset }) => dataset.row === stop.current.row) ?? all[0];
    for (const row of all) row.tabIndex = row === current ? 0 : -1;
  };
  useLayoutEffect(() => {
    const all = rows();
    const { row, focused } = stop.current;
    if (focused !== null && all.every(({ dataset }) => dataset.row !== row))
      (all[Math.min(focused, all.length - 1)] ?? list.current)?.focus();
    place();
  });
  const focus = (index: number) => {
    const all = rows();
    all[Math.max(0, Math.min(all.length - 1, index))]?.focus();
  };
  const onFocus = ({ target }: FocusEvent) => {
    const row = target.closest<HTMLElement>('[data-row]');
    if (target === list.current)
      focus(
        Math.max(
          0,
          rows().findIndex(({ dataset }) => dataset.row === stop.current.row),
        ),
      );
    if (!row) return;
    stop.current = { row: row.dataset.row!, focused: rows().indexOf(row) };
    place();
  };
  const onBlur = () => {
    // Rows that disappear lose the focus without an event.
    stop.current = { ...stop.current, focused: null };
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const { key, target, nativeEvent } = event;
    const isLetter = key.length === 1;
    const isUndo = (event.ctrlKey || event.metaKey) && key === 'z';
    if (!isUndo && (!isPlainKey(nativeEvent) || (isLetter && !letterKeys.peek()))) return;
    const row = (target as Element).closest<HTMLElement>('[data-row]');
    if (!row && target !== list.current) return;
    const step = STEPS[LETTERS[key] ?? key];
    if (step !== undefined) focus((row ? rows().indexOf(row) : step > 0 ? -1 : 0) + step);
    else if (!onKey(isUndo ? 'Control+Z' : key, row?.dataset.row ?? '')) return;
    event.preventDefault();
  };
  return { ref: list, onFocus, onBlur, onKeyDown };
}
