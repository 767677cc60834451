import { useRef, useState } from 'react';
import { closeOverlay, overlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';

/** Place of the menu, dialog or card that was opened in the same application, element or part. */
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
  /** Element that gets the focus back. */
  readonly returnTo: HTMLElement;
  /** Root of the application, element or part around the anchor, whose styles apply to the overlay too. */
  readonly container: HTMLElement;
  close(): void;
}

/** The overlay in which a component is drawn. */
export function useOverlay(): OwnOverlay {
  const [own] = useState(() => {
    const opened = overlay.peek()!;
    const { anchor, returnTo, root: container } = opened;
    return { anchor, returnTo, container, close: () => closeOverlay(opened) };
  });
  return own;
}

/**
 * Element that gets the focus when the overlay closes: the row around `returnTo` if that is hidden meanwhile. False if
 * the focus has moved already.
 */
export function focusAfter(returnTo: HTMLElement): HTMLElement | null | false {
  const active = (returnTo.getRootNode() as Document | ShadowRoot).activeElement;
  if (active && active !== document.body && !active.closest('[role="dialog"], [role="menu"]')) return false;
  const element = returnTo.checkVisibility() ? returnTo : returnTo.closest<HTMLElement>('[tabindex]');
  if (element?.tabIndex !== -1) return element;
  // In a row, the library would search for a tab stop.
  element.focus({ preventScroll: true });
  return false;
}
