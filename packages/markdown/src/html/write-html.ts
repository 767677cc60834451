import { type Element, RAW_HTML } from './element.js';
import { escapeAttribute, escapeCode, escapeText } from './escape.js';
import type { HtmlStash } from './stash.js';

const VOID_TAGS = new Set(['br', 'hr', 'img']);
/** An attribute that is either there or not. */
const FLAG = 'controls';

/** Everything inside an element as HTML. All text is escaped here and nowhere else; all HTML besides is our own. */
export function writeHtml(element: Element, stash: HtmlStash): string {
  let html = '';
  for (const child of element.children) html += writeElement(child, stash) + stash.fillIn(escapeText(child.tail));
  return html;
}

function writeElement(element: Element, stash: HtmlStash): string {
  const { tag, attributes, text } = element;
  if (tag === RAW_HTML) return text;
  let html = `<${tag}`;
  for (const name of Object.keys(attributes).sort()) {
    html += name === FLAG ? ` ${FLAG}` : ` ${name}="${escapeAttribute(stash.restore(attributes[name]!))}"`;
  }
  html += '>';
  if (VOID_TAGS.has(tag)) return html;
  const inside = tag === 'code' ? escapeCode(stash.restore(text)) : stash.fillIn(escapeText(text));
  return `${html}${inside}${element.children.length > 0 ? writeHtml(element, stash) : ''}</${tag}>`;
}
