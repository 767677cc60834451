import { signal } from '@preact/signals-core';
import { readStored, store } from './storage.js';

const KEY = 'parley-no-letter-keys';

/** False if the user disabled single-letter shortcuts in this browser, since speech input types letters too. */
export const letterKeys = signal(readStored(KEY) === null);

export function setLetterKeys(isOn: boolean): void {
  letterKeys.value = isOn;
  store(KEY, isOn ? null : '1');
}

/** Elements that use letters. */
export const FIELDS = 'input, textarea, select, [contenteditable]';

/** True without modifier keys, except those needed to type characters such as `@` on some keyboards. */
export const isPlainKey = ({ key, ctrlKey, metaKey, altKey }: Modifiers): boolean =>
  !metaKey && (altKey ? /^[^\p{L}]$/u.test(key) : !ctrlKey);

type Modifiers = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** True for keys of an input method. Safari ends the composition before the key event, which then has code 229. */
export const isComposing = ({ isComposing: isIn, keyCode }: KeyboardEvent): boolean => isIn || keyCode === 229;
