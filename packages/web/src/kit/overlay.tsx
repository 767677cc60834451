import { useRef, useState } from 'react';
import { closeOverlay, overlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';

/** Renders the open menu, dialog or card of an application, element or part. */
export function OverlayHost() {
  const open = useReading(overlay);
  const place = useRef<HTMLSpanElement>(null);
  const isHere = open !== null && open.root === place.current?.closest('[data-parley]');
  return (
    <>
      <span ref={place} hidden />
      {isHere && open.content}
    </>
  );
}

interface OwnOverlay {
  /** Element that opened it. */
  readonly anchor: HTMLElement;
  /** Element that receives the focus on close. */
  readonly returnTo: HTMLElement;
  /** Root of the application, element or part that contains the anchor; its styles also apply to the overlay. */
  readonly container: HTMLElement;
  close(): void;
}

/** Returns the overlay that contains the component. */
export function useOverlay(): OwnOverlay {
  const [own] = useState(() => {
    const opened = overlay.peek()!;
    const { anchor, returnTo, root: container } = opened;
    return { anchor, returnTo, container, close: () => closeOverlay(opened) };
  });
  return own;
}

/**
 * Returns the element to focus when the overlay closes: `returnTo`, or its row if it is hidden by now. False if the
 * focus has already moved.
 */
export function focusAfter(returnTo: HTMLElement): HTMLElement | null | false {
  const active = (returnTo.getRootNode() as Document | ShadowRoot).activeElement;
  if (active && active !== document.body && !active.closest('[role="dialog"], [role="menu"]')) return false;
  const element = returnTo.checkVisibility() ? returnTo : returnTo.closest<HTMLElement>('[tabindex]');
  if (element?.tabIndex !== -1) return element;
  // Inside a row, the library would search for a tab stop.
  element.focus({ preventScroll: true });
  return false;
}
