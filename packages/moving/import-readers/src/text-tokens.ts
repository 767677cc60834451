import { emojiNamed, type Inline, plain } from '@parley/domain/markdown';

/**
 * Splits text at the matches of a pattern. `read` returns null for a match that is ordinary text, and may consume only
 * the beginning of the match.
 */
export function splitText(
  text: string,
  pattern: RegExp,
  read: (match: RegExpExecArray) => { readonly node: Inline; readonly length?: number } | null,
): readonly Inline[] {
  const nodes: Inline[] = [];
  let done = 0;
  const tokens = new RegExp(pattern);
  for (let match = tokens.exec(text); match; match = tokens.exec(text)) {
    const found = read(match);
    if (found === null) continue;
    if (match.index > done) nodes.push(plain(text.slice(done, match.index)));
    nodes.push(found.node);
    done = match.index + (found.length ?? match[0].length);
    tokens.lastIndex = done;
  }
  if (done < text.length) nodes.push(plain(text.slice(done)));
  return nodes;
}

/** Emoji by its name in colons; null for times such as `10:30:45`. */
export const emojiOf = (name: string): Inline | null =>
  /[a-z]/i.test(name) ? { type: 'emoji', name, character: emojiNamed(name) } : null;
