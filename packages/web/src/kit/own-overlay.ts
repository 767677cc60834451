import { useState } from 'react';
import { closeOverlay, overlay } from '../services/overlay.js';

interface OwnOverlay {
  /** Element that opened it. */
  readonly anchor: HTMLElement;
  close(): void;
}

/** The overlay in which a component is drawn. */
export function useOverlay(): OwnOverlay {
  const [own] = useState(() => {
    const opened = overlay.peek()!;
    return { anchor: opened.anchor, close: () => closeOverlay(opened) };
  });
  return own;
}

/** Element that gets the focus when the overlay closes: the row around the anchor if that is hidden meanwhile. */
export function focusAfter(anchor: HTMLElement): HTMLElement | null {
  return anchor.checkVisibility() ? anchor : anchor.closest<HTMLElement>('[tabindex]');
}
