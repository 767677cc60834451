import { signal } from '@preact/signals-core';
import { readStored, store } from './storage.js';

const KEY = 'parley-no-letter-keys';

/** True unless the user turned single-letter shortcuts off in this browser, because speech input types letters too. */
export const letterKeys = signal(readStored(KEY) === null);

export function setLetterKeys(isOn: boolean): void {
  letterKeys.value = isOn;
  store(KEY, isOn ? null : '1');
}

/** True without modifier keys, except for those that some keyboards need to type a sign such as `@`. */
export const isPlainKey = ({ key, ctrlKey, metaKey, altKey }: Modifiers): boolean =>
  !metaKey && (altKey ? /^[^\p{L}]$/u.test(key) : !ctrlKey);

type Modifiers = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** True for keys of an input method. Safari ends the composition before the key, which then has the code 229. */
export const isComposing = ({ isComposing: isIn, keyCode }: KeyboardEvent): boolean => isIn || keyCode === 229;
