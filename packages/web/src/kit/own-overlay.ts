import { useState } from 'react';
import { closeOverlay, overlay } from '../services/overlay.js';

interface OwnOverlay {
  /** Element that opened it. */
  readonly anchor: HTMLElement;
  /** Element for the overlay in another product's page; undefined in the application, whose overlays belong to the page. */
  readonly container: HTMLElement | undefined;
  close(): void;
}

/** The overlay in which a component is drawn. */
export function useOverlay(): OwnOverlay {
  const [own] = useState(() => {
    const opened = overlay.peek()!;
    const { anchor } = opened;
    const container = anchor.closest<HTMLElement>('[data-parley]:not(#parley)') ?? undefined;
    return { anchor, container, close: () => closeOverlay(opened) };
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
