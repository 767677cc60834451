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
  const options = { capture: true, signal };
  addEventListener('pointerdown', () => end.abort(), options);
  addEventListener(
    'keydown',
    (event) => {
      if (!isWanted()) end.abort();
      else if (isPlainKey(event) && HELD.test(event.key)) {
        event.preventDefault();
        event.stopPropagation();
        held.push(event);
      }
    },
    options,
  );
  addEventListener(
    'focusin',
    (event) => {
      const field = event.composedPath()[0] as HTMLElement;
      if (!field.closest('[role=dialog],[role=menu]')) return;
      // The overlay still selects or scrolls its field.
      setTimeout(() => {
        if (signal.aborted) return;
        end.abort();
        for (const each of held) repeat(each, field);
      });
    },
    options,
  );
}

/** Events made by scripts type nothing. */
function repeat(event: KeyboardEvent, field: HTMLElement): void {
  const { key } = event;
  if (!field.dispatchEvent(new KeyboardEvent('keydown', event))) return;
  if (key === 'Backspace') document.execCommand('delete');
  else if (!key[1]) document.execCommand('insertText', false, key);
}
