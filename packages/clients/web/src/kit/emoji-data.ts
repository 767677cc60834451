import { groups, toned } from './emoji-categories.json';
import type { EmojiWords } from './emoji-search.js';

// `scripts/write-emoji.mjs` writes the data. Codes are Zulip's.

/** Codes by category, in Unicode's order. */
export const GROUPS: readonly (readonly string[])[] = groups.map((codes) => codes.split(' '));

/** Codes of emoji that have skin tones. */
export const TONED: readonly string[] = toned.split(' ');

const WORDS = import.meta.glob<{ readonly default: EmojiWords }>('./emoji-words/*.json');

/** Returns the loader of names and keywords in a language, or in English. */
export const wordsIn = (language: string) =>
  (WORDS[`./emoji-words/${language}.json`] ?? WORDS['./emoji-words/en.json'])!;
