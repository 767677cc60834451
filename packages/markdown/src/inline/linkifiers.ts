import type { Linkifier } from '@parley/domain';
import { CompiledLinkifier } from '../links/linkifier.js';
import { linkOrText } from './links.js';
import type { InlineContext } from './rule.js';

/** The realm's own patterns, in their order: each runs over what those before it have left. */
export function linkify(text: string, linkifiers: readonly Linkifier[], context: InlineContext): string {
  let result = text;
  for (const linkifier of linkifiers) result = applyLinkifier(result, CompiledLinkifier.of(linkifier), context);
  return result;
}

function applyLinkifier(text: string, linkifier: CompiledLinkifier | null, context: InlineContext): string {
  if (!linkifier) return text;
  let result = '';
  let done = 0;
  for (const match of linkifier.matches(text, context.restore)) {
    const link = linkOrText(match.url, match.text, context);
    if (typeof link === 'string') continue;
    result += text.slice(done, match.start) + context.stash(link);
    done = match.end;
  }
  return done === 0 ? text : result + text.slice(done);
}
