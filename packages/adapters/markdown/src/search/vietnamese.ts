import { normalize, withoutDiacritics } from './letters.js';
import { ASCII } from './text-parts.js';

/** Latin letters with diacritics. */
const OTHER_LATIN = /[\u00c0-\u024f\u1ea0-\u1ef9]|[\u0300-\u0323]/;
/** Vietnamese letters that hardly any other language has: those with a horn, a hook above, a dot below or two diacritics. */
const OWN_LETTERS = /[\u01a0\u01a1\u01af\u01b0\u1ea0-\u1ef9]|[\u0309\u031b\u0323]/;
const SYLLABLE = /^(?:ngh?|nh|[cgkpt]h|tr|gi|qu|[bcdghklmnprstvx])?[aeiouy]{1,3}(?:ch|n[gh]?|[cmpt])?$/;
const MIN_SYLLABLE = 2;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * True for a word that is written like a Vietnamese syllable. English stop words such as `in` and `an` are; in Vietnamese
 * they mean something else.
 */
export const isVietnameseSyllable = (word: string): boolean =>
  word.length >= MIN_SYLLABLE && SYLLABLE.test(withoutDiacritics(normalize(word)));

/** True for a text that may be in Vietnamese; also for texts in many other languages with diacritics. */
export const hasVietnameseWords = (text: string): boolean => !ASCII.test(text) && OTHER_LATIN.test(text);

/** True for a query with letters of Vietnamese alone, or with diacritics and nothing but Vietnamese syllables. */
export const isVietnamese = (query: string): boolean =>
  hasVietnameseWords(query) && (OWN_LETTERS.test(query) || (query.match(WORD) ?? []).every(isVietnameseSyllable));
