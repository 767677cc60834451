/**
 * Letters of scripts that are written without spaces, and their full-width punctuation, for use inside a character class:
 * Han, Kana, Hangul and Thai. A mention or an address next to them needs no space (markdown §11). Further Han letters lie
 * beyond the basic plane.
 */
export const UNSPACED =
  '\\u0e00-\\u0e7f\\u1100-\\u11ff\\u2e80-\\u9fff\\ua960-\\ua97f\\uac00-\\ud7ff\\uf900-\\ufaff\\ufe30-\\ufe4f\\uff00-\\uffef';
/** Han letters beyond the basic plane, as UTF-16. */
export const FURTHER_HAN = '[\\ud840-\\ud888][\\udc00-\\udfff]';

const BEGINS = new RegExp(`(?:[${UNSPACED}]|${FURTHER_HAN})`, 'y');

/** True if such a letter or punctuation begins at the position. */
export function isUnspacedAt(text: string, at: number): boolean {
  // Most texts have none.
  if (!(text.charCodeAt(at) >= 0xe00)) return false;
  BEGINS.lastIndex = at;
  return BEGINS.test(text);
}

/** True if such a letter or punctuation ends at the position. */
export const isUnspacedBefore = (text: string, at: number): boolean =>
  isUnspacedAt(text, at - 1) || (isLowSurrogate(text.charCodeAt(at - 1)) && isUnspacedAt(text, at - 2));

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
