/** Finger movement other than scrolling. */
export type GestureKind = 'back' | 'close' | 'down' | 'up';

export interface Gesture {
  readonly kind: GestureKind;
  /** True if lifting the finger now completes it. */
  readonly isComplete: boolean;
}

interface Listener {
  /** Called while a finger moves; null if it only scrolls. */
  onMove(gesture: Gesture | null): void;
  onComplete(kind: GestureKind): void;
}

/** Distance beyond which a touch is no longer a press. */
const MOVED_PX = 10;
const COMPLETE_PX = 80;
const LONG_PRESS_MS = 500;
/** Elements that handle horizontal swipes or long presses themselves. */
const OWN_GESTURES = 'input, textarea, select, video, audio, [role="dialog"], [role="menu"]';
/** Elements with a browser menu on a long press. */
const OWN_MENUS = 'main a, [data-media]';

interface Touch {
  readonly x: number;
  readonly y: number;
  readonly target: Element;
  /** Gestures that can start at the target. */
  readonly pulls: readonly GestureKind[];
}

/** Recognizes swipes, pulls at the ends of lists, and long presses. Returns a function that removes the listeners. */
export function watchTouches(listener: Listener): () => void {
  const end = new AbortController();
  let touch: Touch | null = null;
  let gesture: Gesture | null = null;
  let wasPressed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    clearTimeout(timer);
    touch = null;
    if (gesture) listener.onMove(null);
    gesture = null;
  };
  const press = () => {
    const button = touch && menuButtonOf(touch.target);
    if (!button) return;
    stop();
    wasPressed = true;
    button.click();
  };
  const on = <T extends keyof DocumentEventMap>(type: T, run: (event: DocumentEventMap[T]) => void, passive = true) =>
    document.addEventListener(type, run, { signal: end.signal, passive, capture: true });
  on('touchstart', ({ touches, target }) => {
    stop();
    wasPressed = false;
    const [finger] = touches;
    if (touches.length !== 1 || !finger || !(target instanceof Element) || target.closest(OWN_GESTURES)) return;
    touch = { x: finger.clientX, y: finger.clientY, target, pulls: pullsAt(target) };
    timer = setTimeout(press, LONG_PRESS_MS);
  });
  on(
    'touchmove',
    (event) => {
      const [finger] = event.touches;
      if (!touch || !finger) return;
      const [x, y] = [finger.clientX - touch.x, finger.clientY - touch.y];
      if (Math.hypot(x, y) > MOVED_PX) clearTimeout(timer);
      const kind = kindOf(touch, x, y);
      // The browser's own swipe would go back as well, out of the application on its first page.
      if ((kind === 'back' || kind === 'close') && event.cancelable) event.preventDefault();
      const length = Math.max(Math.abs(x), Math.abs(y));
      const next = kind === null || length < 2 * MOVED_PX ? null : { kind, isComplete: length >= COMPLETE_PX };
      if (next?.kind !== gesture?.kind || next?.isComplete !== gesture?.isComplete) listener.onMove(next);
      gesture = next;
    },
    false,
  );
  on(
    'touchend',
    (event) => {
      // Prevents the browser's click below the finger, which would close the menu.
      if (wasPressed && event.cancelable) event.preventDefault();
      const done = gesture?.isComplete ? gesture.kind : null;
      stop();
      if (done) listener.onComplete(done);
    },
    false,
  );
  on('touchcancel', stop);
  on(
    'contextmenu',
    (event) => {
      // Some browsers fire this event before the timer.
      if (touch && menuButtonOf(touch.target)) press();
      if (wasPressed) event.preventDefault();
    },
    false,
  );
  return () => {
    stop();
    end.abort();
  };
}

/** Button that opens the menu of a message, or of a row in the list of conversations. */
function menuButtonOf(target: Element): HTMLElement | null {
  if (target.closest(OWN_MENUS)) return null;
  const row = target.closest('[data-messages] [data-key], [part="sidebar"] nav li');
  return row?.querySelector<HTMLElement>('button[aria-haspopup="menu"]') ?? null;
}

function kindOf({ target, pulls }: Touch, x: number, y: number): GestureKind | null {
  const isAcross = Math.abs(x) > 2 * Math.abs(y);
  const isAlong = Math.abs(y) > 2 * Math.abs(x);
  const forward = getComputedStyle(target).direction === 'rtl' ? -x : x;
  const kind = isAcross ? (forward > 0 ? 'back' : 'close') : y > 0 ? 'down' : 'up';
  return (isAcross || isAlong) && pulls.includes(kind) ? kind : null;
}

/** Gestures that can start at an element, because nothing scrolls there in their direction. */
function pullsAt(target: Element): readonly GestureKind[] {
  if (target.closest('[part="sidebar"]')) return ['close'];
  if (!target.closest('main')) return [];
  // Older messages load automatically, so a list of messages is pulled at its end.
  const pulls = new Set<GestureKind>(['back', target.closest('[data-messages]') ? 'up' : 'down']);
  for (let element: Element | null = target; element; element = element.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(element);
    if (scrolls(overflowX) && element.scrollWidth > element.clientWidth + 1) pulls.delete('back');
    if (!scrolls(overflowY)) continue;
    if (element.scrollTop > 0) pulls.delete('down');
    if (element.scrollTop + element.clientHeight < element.scrollHeight - 2) pulls.delete('up');
  }
  return [...pulls];
}

const scrolls = (overflow: string): boolean => overflow === 'auto' || overflow === 'scroll';
