import { type FocusEvent, type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { mounted } from '../kit/mounted.js';
import type { ListScroll } from './message-list-scroll.js';

/** Message that keys move and act on. It outlives the focus, and a neighbor replaces it when it is removed. */
export interface Cursor {
  readonly key: string | null;
  /** Returns the index to which a key leads, which may be outside of the list. */
  after(pressed: string): number | undefined;
  /** Scrolls to a row and moves the focus there. */
  select(index: number): void;
  /** Moves to the message of a followed link, together with the focus if no other part of the page has it. */
  enter(key: string): void;
  /** Called when a row receives the focus. */
  onRowFocus(key: string): void;
  /** Called when the list or the element after it receives the focus: from outside, it moves to the cursor. */
  onEnter(event: FocusEvent<HTMLElement>): void;
  /** Makes the list one stop of the Tab key, together with the controls of the cursor's row. */
  onTab(event: KeyboardEvent<HTMLElement>): void;
}

/** State of the cursor: the key of its message. */
export type CursorState = readonly [key: string | null, setKey: (key: string | null) => void];

const CONTROLS = 'a[href], button, input, select, textarea, summary, audio, video, [tabindex="0"]';

const controlsIn = (part: Element): readonly HTMLElement[] =>
  [...part.querySelectorAll<HTMLElement>(CONTROLS)].filter(
    (it) => it.tabIndex === 0 && !it.matches(':disabled') && it.checkVisibility(),
  );

export function useCursor(keys: readonly string[], [key, setKey]: CursorState, scroll: ListScroll): Cursor {
  const { frame, pinned, reveal } = scroll;
  const awaitsFocus = useRef<string | null>(null);
  const rowOf = (of: string) => mounted(frame).querySelector<HTMLElement>(`[data-key="${CSS.escape(of)}"]`);
  const hasFocus = () => frame.current?.querySelector('[data-key]:focus-within') != null;
  const isRemoved = useMemo(() => key !== null && !keys.includes(key), [keys, key]);
  // Read before the row is removed together with its focus.
  const losesFocus = isRemoved && hasFocus();
  const lastKeys = useRef(keys);
  useLayoutEffect(() => {
    const before = lastKeys.current;
    lastKeys.current = keys;
    if (!isRemoved) return;
    const next = neighborOf(key!, before, keys);
    setKey(next);
    if (losesFocus) awaitsFocus.current = next;
    if (losesFocus && next === null) mounted(frame).focus();
  }, [keys, key, isRemoved, losesFocus, setKey, frame]);
  useEffect(() => {
    if (pinned.current !== null && key !== null && hasFocus()) {
      const visible = keys[nearest(keys.indexOf(key), scroll)]!;
      if (visible !== key) awaitsFocus.current = visible;
    }
    // A distant row is rendered some frames after scrolling.
    const row = awaitsFocus.current === null ? null : rowOf(awaitsFocus.current);
    if (!row) return;
    awaitsFocus.current = null;
    row.focus({ preventScroll: true });
  });
  return {
    key,
    after: (pressed) => {
      const index = key === null ? keys.length : keys.indexOf(key);
      const near = nearest(index, scroll);
      // An arrow key selects the nearest visible message if the cursor is not visible.
      const [previous, following] = near === index ? [index - 1, index + 1] : [near, near];
      return { ArrowUp: previous, ArrowDown: following, Home: 0, End: keys.length - 1 }[pressed];
    },
    select: (index) => {
      setKey(keys[index]!);
      reveal(index);
      awaitsFocus.current = keys[index]!;
    },
    enter: (linked) => {
      setKey(linked);
      const list = mounted(frame);
      const { activeElement } = list.getRootNode() as Document | ShadowRoot;
      if (activeElement === null || activeElement.contains(list) || list.contains(activeElement))
        awaitsFocus.current = linked;
    },
    onRowFocus: setKey,
    onEnter: ({ target, currentTarget, relatedTarget }) => {
      if (target !== currentTarget || mounted(frame).contains(relatedTarget)) return;
      const entered = (key !== null && rowOf(key)) || mounted(frame);
      if (entered !== target) entered.focus({ preventScroll: true });
    },
    onTab: (event) => {
      const list = mounted(frame);
      const target = event.target as HTMLElement;
      const row = target.closest<HTMLElement>('[data-key]');
      const controls = controlsIn(row ?? list.firstElementChild!);
      const at = controls.indexOf(target);
      // The browser continues from the element focused here.
      if (!event.shiftKey) {
        if (at === controls.length - 1) (list.nextElementSibling as HTMLElement).focus();
      } else if (target === row) list.focus({ preventScroll: true });
      else if (row && at === 0) {
        event.preventDefault();
        row.focus({ preventScroll: true });
      }
    },
  };
}

/** Returns the index of the completely visible row that is nearest to an index. */
function nearest(index: number, { virtual }: ListScroll): number {
  const { startIndex, endIndex } = virtual.range ?? { startIndex: 0, endIndex: 0 };
  const top = virtual.scrollOffset ?? 0;
  const bottom = top + (virtual.scrollRect?.height ?? 0);
  const rows = virtual.measurementsCache;
  const isCut = startIndex < endIndex;
  const first = isCut && rows[startIndex]!.start < top - 1 ? startIndex + 1 : startIndex;
  const last = isCut && rows[endIndex]!.end > bottom + 1 ? Math.max(first, endIndex - 1) : endIndex;
  return Math.min(Math.max(index, first), last);
}

/** Returns the key that follows a removed key, or else precedes it; null if none of the keys is left. */
function neighborOf(removed: string, before: readonly string[], keys: readonly string[]): string | null {
  const left = new Set(keys);
  const index = before.indexOf(removed);
  const isLeft = (key: string) => left.has(key);
  return before.slice(index + 1).find(isLeft) ?? before.slice(0, index).reverse().find(isLeft) ?? null;
}
