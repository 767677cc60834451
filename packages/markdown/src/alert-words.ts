import type { UserId } from '@parley/domain';

/** By first character, so that most places in a text need one look. */
type Index = ReadonlyMap<string, readonly (readonly [word: string, userIds: readonly UserId[]])[]>;

const BEFORE = new Set(' \n(".,\';[*`>');
const AFTER = new Set(" \n)?:.,';]!*`");

/** A realm's words are asked for again and again, and seldom change. */
const indexes = new WeakMap<ReadonlyMap<string, readonly UserId[]>, Index>();

/** Who wanted to know of a word in the text. */
export function findAlertedUsers(text: string, words: ReadonlyMap<string, readonly UserId[]>): ReadonlySet<UserId> {
  const alerted = new Set<UserId>();
  if (words.size === 0) return alerted;
  const index = indexFor(words);
  const lowered = text.toLowerCase();
  for (let start = 0; start < lowered.length; start++) {
    // The first two places count as the beginning of a word whatever precedes: the reference's rule.
    if (start > 1 && !BEFORE.has(lowered[start - 1]!)) continue;
    for (const [word, userIds] of index.get(lowered[start]!) ?? []) {
      if (!lowered.startsWith(word, start)) continue;
      const end = start + word.length;
      if (end === lowered.length || AFTER.has(lowered[end]!)) for (const id of userIds) alerted.add(id);
    }
  }
  return alerted;
}

function indexFor(words: ReadonlyMap<string, readonly UserId[]>): Index {
  let index = indexes.get(words);
  if (index) return index;
  const byFirst = new Map<string, (readonly [string, readonly UserId[]])[]>();
  for (const [word, userIds] of words) {
    if (word === '') continue;
    const entries = byFirst.get(word[0]!) ?? [];
    byFirst.set(word[0]!, [...entries, [word, userIds]]);
  }
  index = byFirst;
  indexes.set(words, index);
  return index;
}
