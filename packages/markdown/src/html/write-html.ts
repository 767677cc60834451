import { MAX_HTML_LENGTH, unrenderable } from '../bounds.js';
import { trim } from '../characters.js';
import { type Attributes, type Element, NO_ATTRIBUTES, RAW_HTML } from './element.js';
import { escapeAttribute, escapeCode, escapeText } from './escape.js';
import type { HtmlStash, Room } from './stash.js';

const VOID_TAGS = new Set(['br', 'hr', 'img']);
/** An attribute that is either there or not. */
const FLAG = 'controls';

/**
 * Everything inside an element as HTML. All text is escaped here and nowhere else; all HTML besides is our own.
 * @throws DomainError UNRENDERABLE_CONTENT when that is too much.
 */
export function writeHtml(root: Element, stash: HtmlStash): string {
  const html = trim(new HtmlWriter(stash).inside(root));
  if (html.length > MAX_HTML_LENGTH) throw unrenderable();
  return html;
}

class HtmlWriter implements Room {
  private room = MAX_HTML_LENGTH;
  /** Those of many elements are the very same. */
  private readonly written = new Map<Attributes, string>([[NO_ATTRIBUTES, '']]);

  constructor(private readonly stash: HtmlStash) {}

  take(length: number): void {
    this.room -= length;
    if (this.room < 0) throw unrenderable();
  }

  inside({ children }: Element): string {
    let html = '';
    for (const child of children) html += this.element(child) + this.text(child.tail);
    return html;
  }

  private element(element: Element): string {
    const { tag, attributes, text } = element;
    if (tag === RAW_HTML) return this.stash.fillIn(text, this);
    const opening = `<${tag}${this.attributes(attributes)}>`;
    if (VOID_TAGS.has(tag)) return opening;
    const inside = tag === 'code' ? escapeCode(this.stash.restore(text)) : this.text(text);
    return `${opening}${inside}${element.children.length > 0 ? this.inside(element) : ''}</${tag}>`;
  }

  private attributes(attributes: Attributes): string {
    let html = this.written.get(attributes);
    if (html === undefined) {
      html = '';
      for (const name of Object.keys(attributes).sort()) {
        html += name === FLAG ? ` ${FLAG}` : ` ${name}="${escapeAttribute(this.stash.restore(attributes[name]!))}"`;
      }
      this.written.set(attributes, html);
    }
    return html;
  }

  private text(text: string): string {
    return this.stash.fillIn(escapeText(text), this);
  }
}
