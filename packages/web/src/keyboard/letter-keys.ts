import { signal } from '@preact/signals-core';

const KEY = 'parley-no-letter-keys';

/** True unless the user turned single-letter shortcuts off in this browser, because speech input types letters too. */
export const letterKeys = signal(isOn());

export function setLetterKeys(isOn: boolean): void {
  letterKeys.value = isOn;
  // Storage may be forbidden; the choice then lasts until the page is left.
  try {
    if (isOn) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, '1');
  } catch {}
}

function isOn(): boolean {
  try {
    return localStorage.getItem(KEY) === null;
  } catch {
    return true;
  }
}
