import { Element } from '../html/element.js';
import { attributeOf, decodeEntities, readTokens } from './html-tokens.js';

/** Rendered HTML as a tree again. */
export function readHtml(html: string): Element {
  const root = new Element('div');
  const open = [root];
  for (const token of readTokens(html)) {
    const parent = open.at(-1)!;
    if (token.kind === 'text') addText(parent, decodeEntities(token.html));
    else if (token.kind === 'close') {
      const at = open.findLastIndex(({ tag }) => tag === token.tag);
      if (at > 0) open.length = at;
    } else {
      const child = parent.append(token.tag, attributesOf(token.html));
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

/** Of all attributes only these say anything about the text. */
const MEANINGFUL = ['class', 'alt', 'start', 'encoding'];

function attributesOf(tag: string): Readonly<Record<string, string>> {
  const attributes: Record<string, string> = {};
  for (const name of MEANINGFUL) {
    const value = attributeOf(tag, name);
    if (value !== null) attributes[name] = value;
  }
  return attributes;
}
