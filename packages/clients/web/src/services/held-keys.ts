import { isPlainKey } from './letter-keys.js';

/** Keys that type, select or move within an overlay. */
const HELD = /^(.|Enter|Backspace|Arrow.*)$/;

let end = new AbortController();

/** Holds keys until an overlay has the focus, where they are repeated, or until it is unwanted. */
export function holdKeys(isWanted: () => boolean): void {
  end.abort();
  end = new AbortController();
  const { signal } = end;
  const held: KeyboardEvent[] = [];
  const on = <T extends keyof WindowEventMap>(type: T, run: (event: WindowEventMap[T]) => void) =>
    addEventListener(type, run, { capture: true, signal });
  on('pointerdown', () => end.abort());
  on('keydown', (event) => {
    if (!isWanted()) end.abort();
    else if (isPlainKey(event) && HELD.test(event.key)) {
      event.preventDefault();
      event.stopPropagation();
      held.push(event);
    }
  });
  on('focusin', (event) => {
    const field = event.composedPath()[0] as HTMLElement;
    if (!field.closest('[role="dialog"], [role="menu"]')) return;
    // The overlay still selects or scrolls its field.
    setTimeout(() => {
      if (signal.aborted) return;
      end.abort();
      for (const key of held) repeat(key, field);
    });
  });
}

/** Events made by scripts type nothing. */
function repeat({ key }: KeyboardEvent, field: HTMLElement): void {
  const isFree = field.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  if (!isFree || !field.matches('input, textarea')) return;
  if (key === 'Backspace') document.execCommand('delete');
  else if (!key[1]) document.execCommand('insertText', false, key);
}
