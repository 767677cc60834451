import { SPACE } from '../characters.js';
import { Element } from '../html/element.js';
import type { InlineContext, InlineRule } from './rule.js';

const STRONG_EMPHASIS = new RegExp(`\\*\\*\\*(?![${SPACE}])([^*^\\n]+)(?<![${SPACE}])\\*\\*\\*`, 'g');
const STRONG = /\*\*([^\n]+?)\*\*/g;
const EMPHASIS = new RegExp(`\\*(?![${SPACE}])([^*^\\n]+)(?<![${SPACE}])\\*`, 'g');
const DELETED = /(?<!~)~~([^~\n]+)~~(?!~)/g;

export const strongEmphasis: InlineRule = (text, context) =>
  replaceInnermostFirst(text, '***', STRONG_EMPHASIS, (inside) => {
    const strong = new Element('strong');
    strong.append('em').text = context.formatInside(inside);
    return context.stash(strong);
  });

export const strong: InlineRule = (text, context) =>
  text.includes('**') ? text.replace(STRONG, (_, inside) => stashElement('strong', inside, context)) : text;

export const emphasis: InlineRule = (text, context) =>
  replaceInnermostFirst(text, '*', EMPHASIS, (inside) => stashElement('em', inside, context));

export const deleted: InlineRule = (text, context) =>
  text.includes('~~') ? text.replace(DELETED, (_, inside) => stashElement('del', inside, context)) : text;

function stashElement(tag: string, inside: string, context: InlineContext): string {
  const element = new Element(tag);
  element.text = context.formatInside(inside);
  return context.stash(element);
}

/** An opening mark may find its partner only after what stands between has been replaced, so each match starts over. */
function replaceInnermostFirst(
  text: string,
  mark: string,
  pattern: RegExp,
  replace: (inside: string) => string,
): string {
  let result = text;
  let from = result.indexOf(mark);
  while (from !== -1) {
    pattern.lastIndex = from;
    const match = pattern.exec(result);
    if (!match) break;
    const end = match.index + match[0].length;
    result = result.slice(0, match.index) + replace(match[1]!) + result.slice(end);
    from = result.indexOf(mark, from);
  }
  return result;
}
