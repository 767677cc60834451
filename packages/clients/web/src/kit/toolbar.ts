import { type FocusEvent, type KeyboardEvent, useLayoutEffect, useRef } from 'react';
import { mounted } from './mounted.js';

/** One tab stop for the buttons of a toolbar: the focused button, or the first one. Arrow keys move the focus. */
export function useToolbar() {
  const bar = useRef<HTMLDivElement>(null);
  const focused = useRef<Element | null>(null);
  const buttons = () => [...mounted(bar).querySelectorAll('button')];
  const place = () => {
    const all = buttons();
    const stop = all.find((button) => button === focused.current) ?? all[0];
    for (const button of all) {
      const index = button === stop ? 0 : -1;
      if (button.tabIndex !== index) button.tabIndex = index;
    }
  };
  useLayoutEffect(place);
  const focus = (element: Element | null) => {
    focused.current = element;
    place();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const { key, target, currentTarget, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (altKey || ctrlKey || metaKey || shiftKey) return;
    const all = buttons().filter((button) => !button.disabled && button.checkVisibility());
    const index = all.indexOf(target as HTMLButtonElement);
    const forward = getComputedStyle(currentTarget).direction === 'rtl' ? -1 : 1;
    const next = { ArrowRight: index + forward, ArrowLeft: index - forward, Home: 0, End: -1 }[key];
    if (next === undefined || index === -1) return;
    event.preventDefault();
    all.at(next % all.length)!.focus();
  };
  return {
    ref: bar,
    onKeyDown,
    onFocus: ({ target }: FocusEvent) => focus(target),
    onBlur: () => focus(null),
  };
}
