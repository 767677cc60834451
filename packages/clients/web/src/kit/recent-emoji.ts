import type { Emoji } from '@parley/chat';
import { parseStored } from '../services/storage.js';
import type { EmojiEntry } from './emoji-names.js';

/** Number of remembered emoji: three rows of the picker. */
export const MAX_RECENT = 21;

/** Identifies an emoji among recent ones. */
export const keyOf = ({ reaction_type: type, emoji_code: code }: Omit<Emoji, 'emoji_name'>): string =>
  `${type} ${code}`;

/** Puts a picked emoji in front of the recent keys. */
export const withPicked = (recent: readonly string[], picked: EmojiEntry): readonly string[] =>
  [keyOf(picked), ...recent.filter((key) => key !== keyOf(picked))].slice(0, MAX_RECENT);

/** Moves recently picked emoji to the front, the latest first. */
export function recentFirst(entries: readonly EmojiEntry[], recent: readonly string[]): readonly EmojiEntry[] {
  if (recent.length === 0) return entries;
  const byKey = new Map(entries.map((entry) => [keyOf(entry), entry]));
  const front = new Set(recent.flatMap((key) => byKey.get(key) ?? []));
  return [...front, ...entries.filter((entry) => !front.has(entry))];
}

/** Reads stored keys, which may be damaged. */
export function parseRecent(stored: string | null): readonly string[] {
  const keys = parseStored(stored);
  return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string').slice(0, MAX_RECENT) : [];
}
