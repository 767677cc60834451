import { signal } from '@preact/signals-core';
import type { ReactNode } from 'react';
import { reportFailure } from './failures.js';
import { retrying } from './loading.js';

/** Menu, dialog or card above the page. */
export interface Overlay {
  /** Element that opened it. */
  readonly anchor: HTMLElement;
  /** Element that gets the focus back: the anchor, or the message or other element that had it when a key was pressed. */
  readonly returnTo: HTMLElement;
  /** Root of the application, element or part around the anchor, which may leave the page while the overlay is open. */
  readonly root: HTMLElement;
  readonly content: ReactNode;
}

/** The open one; opening another one closes it. */
export const overlay = signal<Overlay | null>(null);

/** True while code of an overlay has been awaited for two seconds. */
export const isOverlayLate = signal(false);

const PATIENCE_MS = 2000;

let opening: HTMLElement | null = null;

/** Opens an overlay whose code is loaded on the first use. The anchor says by `aria-expanded` that it is open. */
export function openOverlay(anchor: HTMLElement, load: () => Promise<ReactNode>, returnTo = focusedAt(anchor)): void {
  closeOverlay();
  opening = anchor;
  anchor.setAttribute('aria-expanded', 'true');
  const isWanted = () => opening === anchor && anchor.isConnected;
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

/** Closes what is open, or `own` unless something else took its place. */
export function closeOverlay(own: Overlay | null = overlay.peek()): void {
  if (overlay.peek() !== own) return;
  opening?.setAttribute('aria-expanded', 'false');
  opening = null;
  overlay.value = null;
}

/** The anchor, or the message around it if that has the focus, or had it when the menu opened that is open there. */
function focusedAt(anchor: HTMLElement): HTMLElement {
  const open = overlay.peek();
  return open?.anchor === anchor ? open.returnTo : (anchor.closest<HTMLElement>('[data-key]:focus') ?? anchor);
}
