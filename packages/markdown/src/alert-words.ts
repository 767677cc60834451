import type { UserId } from '@parley/domain/kernel';
import { AFTER_ALERT_WORD, mayAlertWordBegin } from '@parley/domain/messages';
import { noneOf } from './characters.js';

/** What words go on with, character by character, and whose word has come to its end here. */
interface Node {
  readonly next: Map<string, Node>;
  userIds: readonly UserId[];
}

/** A realm's words are asked for again and again, and seldom change. */
const indexes = new WeakMap<ReadonlyMap<string, readonly UserId[]>, Node>();

/** Who wanted to know of a word in the text. However many words there are, a text is gone over once. */
export function findAlertedUsers(text: string, words: ReadonlyMap<string, readonly UserId[]>): ReadonlySet<UserId> {
  if (words.size === 0) return noneOf();
  const alerted = new Set<UserId>();
  const root = indexFor(words);
  const lowered = text.toLowerCase();
  for (let start = 0; start < lowered.length; start++) {
    if (!mayAlertWordBegin(lowered, start)) continue;
    let node: Node | undefined = root;
    for (let end = start; node; end++) {
      const isEnd = end === lowered.length || AFTER_ALERT_WORD.has(lowered[end]!);
      if (isEnd) for (const id of node.userIds) alerted.add(id);
      node = node.next.get(lowered[end]!);
    }
  }
  return alerted;
}

function indexFor(words: ReadonlyMap<string, readonly UserId[]>): Node {
  let root = indexes.get(words);
  if (root) return root;
  root = { next: new Map(), userIds: [] };
  for (const [word, userIds] of words) if (word !== '') nodeFor(root, word).userIds = userIds;
  indexes.set(words, root);
  return root;
}

function nodeFor(root: Node, word: string): Node {
  let node = root;
  for (let i = 0; i < word.length; i++) {
    let next = node.next.get(word[i]!);
    if (!next) {
      next = { next: new Map(), userIds: [] };
      node.next.set(word[i]!, next);
    }
    node = next;
  }
  return node;
}
