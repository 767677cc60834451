import { signal } from '@preact/signals-core';
import { readStored, store } from '../services/storage.js';

const KEY = 'parley-no-letter-keys';

/** True unless the user turned single-letter shortcuts off in this browser, because speech input types letters too. */
export const letterKeys = signal(readStored(KEY) === null);

export function setLetterKeys(isOn: boolean): void {
  letterKeys.value = isOn;
  store(KEY, isOn ? null : '1');
}
