import type { EmojiWords } from './emoji-search.js';

// The build fills in these values (`emoji-plugin.ts`). Codes are Zulip's.

/** Codes by category, in Unicode's order. */
export const GROUPS: readonly (readonly string[])[] = [];

/** Codes of emoji that have skin tones. */
export const TONED: readonly string[] = [];

/** Loads names and keywords by language. */
export const WORDS: Readonly<Record<string, () => Promise<{ readonly default: EmojiWords }>>> = {};
