import { rankOf } from '@parley/chat';
import type { EmojiEntry } from './emoji-names.js';

/** Names and keywords by emoji code in one language, the name first. */
export type EmojiWords = Readonly<Record<string, readonly string[]>>;

interface SearchableEmoji {
  readonly entry: EmojiEntry;
  readonly words: readonly string[];
  /** Folded names and words, to reject most emoji quickly. */
  readonly text: string;
}

const FIRST_REGION = 0x1f1e6;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** Names of an emoji in the reader's language, the most common one first. */
function wordsOf(code: string, words: EmojiWords | null, regions: Intl.DisplayNames): readonly string[] {
  const letters = code.split('-').map((part) => Number.parseInt(part, 16) - FIRST_REGION);
  if (letters.length === 2 && letters.every((letter) => letter >= 0 && letter < 26))
    return [regions.of(String.fromCharCode(...letters.map((letter) => 65 + letter)))!];
  // Variants, such as those by gender, share the words of the first character.
  return words?.[code] ?? words?.[code.split('-')[0]!] ?? [];
}

/** Prepares emoji for searches by name and by words of a language. */
export function searchable(
  entries: readonly EmojiEntry[],
  words: EmojiWords | null,
  language: string,
): readonly SearchableEmoji[] {
  const regions = new Intl.DisplayNames([language], { type: 'region' });
  return entries.map((entry) => {
    const own = entry.imageUrl === null ? wordsOf(entry.emoji_code, words, regions) : [];
    return { entry, words: own, text: folded([...entry.names, ...own].join('\n')) };
  });
}

/** Finds emoji by parts of names, and then by words. */
export function searchEmoji(all: readonly SearchableEmoji[], query: string): readonly EmojiEntry[] {
  const wanted = folded(query).trim();
  const parts = wanted.split(/[\s_-]+/);
  return all
    .filter(({ text }) => parts.every((part) => text.includes(part)))
    .map((emoji) => ({ entry: emoji.entry, rank: rankIn(emoji, query, wanted) }))
    .filter(({ rank }) => rank < Infinity)
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}

function rankIn({ entry, words, text }: SearchableEmoji, query: string, wanted: string): number {
  const best = (names: readonly string[]) => Math.min(...names.map((name) => rankOf(query, name) ?? Infinity));
  // `rankOf` returns 0 to 2, so words rank below names.
  const rank = Math.min(best(entry.names), 3 + best(words));
  return rank === Infinity && UNSPACED.test(wanted) && text.includes(wanted) ? 6 : rank;
}
