import { type RefObject, useEffect, useRef, useState } from 'react';
import { useField, useServices } from '../services/context.js';
import { loadLater } from '../services/loading.js';
import { closeOverlay, overlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';
import { mounted } from './mounted.js';

/** Renders the open menu, dialog or card of an application, element or part. */
export function OverlayHost() {
  const open = useReading(overlay);
  const place = useRef<HTMLSpanElement>(null);
  const { navigation } = useServices();
  useEmojiSet(place);
  useLastInput();
  // A dialog about something on the page that the user leaves, such as by the back button, would act out of its context.
  useEffect(() => {
    let { key } = navigation.current();
    return navigation.subscribe(() => {
      const next = navigation.current().key;
      const left = next !== key && overlay.peek();
      key = next;
      if (left && left.root === place.current?.closest('[data-parley]') && left.anchor.closest('main'))
        closeOverlay(left);
    });
  }, [navigation]);
  const isHere = open !== null && open.root === place.current?.closest('[data-parley]');
  return (
    <>
      <span ref={place} hidden />
      {isHere && open.content}
    </>
  );
}

/** Draws the emoji around an element in the user's emoji set, with fonts that browsers load on first use. */
function useEmojiSet(place: RefObject<HTMLElement | null>): void {
  const set = useField('user_settings')?.emojiset;
  useEffect(() => {
    const root = mounted(place).closest<HTMLElement>('[data-parley]')!;
    root.dataset.emojiset = set ?? '';
    void loadLater(() => import('./emoji-fonts.js')).then(({ checkEmojiFonts }) => checkEmojiFonts(root));
  }, [place, set]);
}

let isKeyLastInput = false;

/** Records whether people use keys or a pointer. */
function useLastInput(): void {
  useEffect(() => {
    const end = new AbortController();
    for (const type of ['keydown', 'pointerdown']) {
      const record = () => {
        isKeyLastInput = type === 'keydown';
      };
      addEventListener(type, record, { capture: true, signal: end.signal });
    }
    return () => end.abort();
  }, []);
}

interface OwnOverlay {
  /** Element that opened it. */
  readonly anchor: HTMLElement;
  /** Root of the application, element or part that contains the anchor; its styles also apply to the overlay. */
  readonly container: HTMLElement;
  close(): void;
  /** Closes the overlay for another place; the messages there receive the focus. */
  leave(): void;
  /**
   * Returns the element to focus after closing: the one that had the focus, its row if it is hidden by now, or the
   * messages if it was removed. False if the focus has already moved.
   */
  finalFocus(): HTMLElement | null | false;
}

/** Returns the overlay that contains the component. */
export function useOverlay(): OwnOverlay {
  const [own] = useState(() => {
    const opened = overlay.peek()!;
    const { anchor, returnTo, root: container } = opened;
    let target = returnTo;
    const close = () => closeOverlay(opened);
    const leave = () => {
      target = container.querySelector('main') ?? returnTo;
      close();
    };
    return { anchor, container, close, leave, finalFocus: () => focusAfter(target, container) };
  });
  return own;
}

function focusAfter(returnTo: HTMLElement, container: HTMLElement): HTMLElement | null | false {
  const active = (container.getRootNode() as Document | ShadowRoot).activeElement;
  if (active && active !== document.body && !active.closest('[role="dialog"], [role="menu"]')) return false;
  if (!returnTo.isConnected) return container.querySelector<HTMLElement>('[data-messages]');
  const element = returnTo.checkVisibility() ? returnTo : returnTo.closest<HTMLElement>('[tabindex]');
  if (element?.tabIndex !== -1) return element;
  // Inside a row, the library would search for a tab stop.
  element.focus({ preventScroll: true });
  return false;
}

/** First field of an overlay, to be focused; null after a touch, because focusing would open the on-screen keyboard. */
export const fieldIn = (popup: HTMLElement | null): HTMLElement | null =>
  matchMedia('(pointer: coarse)').matches && !isKeyLastInput
    ? null
    : (popup?.querySelector<HTMLElement>('input:not([type="radio"], [type="checkbox"]), textarea, select') ?? null);
