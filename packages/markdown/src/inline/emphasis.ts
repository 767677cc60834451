import { Element } from '../html/element.js';
import { replaceBetweenStars } from './replace-between-stars.js';
import type { InlineContext, InlineRule } from './rule.js';

const STRONG = /\*\*([^\n]+?)\*\*/g;
const DELETED = /(?<!~)~~([^~\n]+)~~(?!~)/g;

export const strongEmphasis: InlineRule = (text, context) => {
  if (!text.includes('***')) return text;
  return replaceBetweenStars(text, 3, context.work, (inside) => {
    const strong = new Element('strong');
    strong.append('em').text = context.formatInside(inside);
    return context.stash(strong);
  });
};

export const strong: InlineRule = (text, context) =>
  text.includes('**') ? text.replace(STRONG, (_, inside) => stashElement('strong', inside, context)) : text;

export const emphasis: InlineRule = (text, context) =>
  text.includes('*')
    ? replaceBetweenStars(text, 1, context.work, (inside) => stashElement('em', inside, context))
    : text;

export const deleted: InlineRule = (text, context) =>
  text.includes('~~') ? text.replace(DELETED, (_, inside) => stashElement('del', inside, context)) : text;

function stashElement(tag: string, inside: string, context: InlineContext): string {
  const element = new Element(tag);
  element.text = context.formatInside(inside);
  return context.stash(element);
}
