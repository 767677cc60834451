import { Element } from '../html/element.js';
import { attributesOf, decodeEntities, readTokens } from './html-tokens.js';

/** The tag of an element that stands for a formula, with its source for a text. */
export const FORMULA_TAG = 'formula';

/** Rendered HTML as a tree again. */
export function readHtml(html: string): Element {
  const root = new Element('div');
  const open = [root];
  for (const token of readTokens(html)) {
    const parent = open.at(-1)!;
    if (token.kind === 'text') addText(parent, decodeEntities(token.html));
    else if (token.kind === 'formula') addFormula(parent, token.html);
    else if (token.kind === 'close') {
      const at = open.findLastIndex(({ tag }) => tag === token.tag);
      if (at > 0) open.length = at;
    } else {
      const child = parent.append(token.tag, meaningfulAttributes(token.html));
      if (token.kind === 'open') open.push(child);
    }
  }
  return root;
}

function addText(parent: Element, text: string): void {
  const last = parent.lastChild;
  if (last) last.tail += text;
  else parent.text += text;
}

/** What is left of it is its source. */
function addFormula(parent: Element, html: string): void {
  const formula = parent.append(FORMULA_TAG);
  formula.text = sourceOf(html);
}

const SOURCE = /<annotation[^>]*>([^<]*)/;

/** Of a formula, as it was typed. */
export const sourceOf = (formula: string): string => decodeEntities(SOURCE.exec(formula)?.[1] ?? '');

/** Of all attributes only these say anything about the text. */
const MEANINGFUL = new Set(['class', 'alt', 'start', 'encoding']);

function meaningfulAttributes(tag: string): Readonly<Record<string, string>> | undefined {
  let attributes: Record<string, string> | undefined;
  for (const [name, value] of attributesOf(tag)) {
    if (!MEANINGFUL.has(name)) continue;
    attributes ??= {};
    attributes[name] ??= value;
  }
  return attributes;
}
