import { SPACE } from '../characters.js';
import { Element } from '../html/element.js';
import { replaceInnermostFirst } from './replace-innermost-first.js';
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
