import type { CompiledLinkifier } from '../links/linkifier.js';
import { linkOrText } from './links.js';
import type { InlineContext, InlineRule } from './rule.js';

/** The realm's own patterns, in their order: each runs over what those before it have left. */
export const linkifiers: InlineRule = (text, context) => {
  let result = text;
  for (const linkifier of context.linkifiers) {
    if (context.linkifierWatchdog.isOver) break;
    result = applyLinkifier(result, linkifier, context);
  }
  return result;
};

function applyLinkifier(text: string, linkifier: CompiledLinkifier, context: InlineContext): string {
  let result = '';
  let done = 0;
  for (const match of linkifier.matches(text, context.linkifierWatchdog)) {
    const url = linkifier.urlOf(match, context.restore);
    const link = linkOrText(url, text.slice(match.start, match.end), context);
    if (typeof link === 'string') continue;
    result += text.slice(done, match.start) + context.stash(link);
    done = match.end;
  }
  return done === 0 ? text : result + text.slice(done);
}
