import type { UserId } from '@parley/domain/kernel';
import { mayAlertWordBegin, mayAlertWordEnd } from '@parley/domain/writing';
import { noneOf } from './characters.js';

/** Trie node: successors by character, and the users with a word that ends here. */
interface Node {
  readonly next: Map<string, Node>;
  userIds: readonly UserId[];
}

/** Cached, because a realm's words are used often and rarely change. */
const indexes = new WeakMap<ReadonlyMap<string, readonly UserId[]>, Node>();

/** Returns the users whose alert words occur in the text. Scans the text once for any number of words. */
export function findAlertedUsers(text: string, words: ReadonlyMap<string, readonly UserId[]>): ReadonlySet<UserId> {
  if (words.size === 0) return noneOf();
  const alerted = new Set<UserId>();
  const root = indexFor(words);
  const lowered = text.toLowerCase();
  for (let start = 0; start < lowered.length; start++) {
    if (!mayAlertWordBegin(lowered, start)) continue;
    let node: Node | undefined = root;
    for (let end = start; node; end++) {
      if (node.userIds.length > 0 && mayAlertWordEnd(lowered, end)) for (const id of node.userIds) alerted.add(id);
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
