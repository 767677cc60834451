import { signal } from '@preact/signals-core';
import type { ReactNode } from 'react';
import { reportFailure } from './failures.js';
import { loadLater, retrying } from './loading.js';

let holdKeys = (_isWanted: () => boolean) => {};
void loadLater(() => import('./held-keys.js')).then((keys) => {
  holdKeys = keys.holdKeys;
});

/** Menu, dialog or card above the page. */
export interface Overlay {
  /** Element that opened it. */
  readonly anchor: HTMLElement;
  /**
   * Element that receives the focus on close: the anchor, or the element focused when a key was pressed, such as a
   * message.
   */
  readonly returnTo: HTMLElement;
  /**
   * Root of the application, element or part that contains the anchor; it may be unmounted while the overlay is open.
   */
  readonly root: HTMLElement;
  readonly content: ReactNode;
}

/** Open overlay; opening another one closes it. */
export const overlay = signal<Overlay | null>(null);

/** True if overlay code has been loading for two seconds. */
export const isOverlayLate = signal(false);

const PATIENCE_MS = 2000;

let opening: HTMLElement | null = null;

/** Opens an overlay with code loaded on first use. Sets `aria-expanded` on the anchor. */
export function openOverlay(anchor: HTMLElement, load: () => Promise<ReactNode>, returnTo = focusedAt(anchor)): void {
  closeOverlay();
  opening = anchor;
  anchor.setAttribute('aria-expanded', 'true');
  const isWanted = () => opening === anchor && anchor.isConnected;
  holdKeys(isWanted);
  const patience = setTimeout(() => {
    isOverlayLate.value = true;
  }, PATIENCE_MS);
  retrying(load, isWanted)
    .then((content) => {
      const root = anchor.closest<HTMLElement>('[data-parley]')!;
      if (isWanted()) overlay.value = { anchor, returnTo, root, content };
    })
    .catch((error) => {
      if (isWanted()) reportFailure(error);
    })
    .finally(() => {
      clearTimeout(patience);
      isOverlayLate.value = false;
    });
}

/** Closes the open overlay, or only `own` if it is still open. */
export function closeOverlay(own: Overlay | null = overlay.peek()): void {
  if (overlay.peek() !== own) return;
  opening?.setAttribute('aria-expanded', 'false');
  opening = null;
  overlay.value = null;
}

/** Returns the anchor, or its message if that is focused or was focused when the anchor's open menu was opened. */
function focusedAt(anchor: HTMLElement): HTMLElement {
  const open = overlay.peek();
  return open?.anchor === anchor ? open.returnTo : (anchor.closest<HTMLElement>('[data-key]:focus') ?? anchor);
}
