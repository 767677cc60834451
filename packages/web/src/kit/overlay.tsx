import { useRef, useState } from 'react';
import { closeOverlay, overlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';

/** Place of the menu, dialog or card that was opened in the same application, element or part. */
export function OverlayHost() {
  const open = useReading(overlay);
  const place = useRef<HTMLSpanElement>(null);
  const isHere = open !== null && open.anchor.closest('[data-parley]') === place.current?.closest('[data-parley]');
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
    const { anchor, returnTo } = opened;
    const container = anchor.closest<HTMLElement>('[data-parley]')!;
    return { anchor, returnTo, container, close: () => closeOverlay(opened) };
  });
  return own;
}

/**
 * Element that gets the focus when the overlay closes: the row around the anchor if that is hidden meanwhile. False if
 * a command has moved the focus elsewhere.
 */
export function focusAfter(anchor: HTMLElement): HTMLElement | null | false {
  const active = (anchor.getRootNode() as Document | ShadowRoot).activeElement;
  if (active && active !== document.body && !active.closest('[role="dialog"], [role="menu"]')) return false;
  return anchor.checkVisibility() ? anchor : anchor.closest<HTMLElement>('[tabindex]');
}
