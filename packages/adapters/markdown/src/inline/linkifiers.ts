import type { LinkifierMatch } from '../links/compiled-linkifier.js';
import { linkOrText } from './links.js';
import type { InlineContext, InlineRule } from './rule.js';

/** Applies the realm's linkifiers in order, each to the text left by the previous ones. */
export const linkifiers: InlineRule = (text, context) => {
  let result = text;
  for (const search of context.linkifiers?.searches(text) ?? []) result = putLinks(result, search(result), context);
  return result;
};

function putLinks(text: string, matches: readonly LinkifierMatch[], context: InlineContext): string {
  let result = '';
  let done = 0;
  for (const { start, end, urlWith } of matches) {
    const link = linkOrText(urlWith(context.restore), text.slice(start, end), context);
    if (typeof link === 'string') continue;
    result += text.slice(done, start) + context.stash(link);
    done = end;
  }
  return done === 0 ? text : result + text.slice(done);
}
