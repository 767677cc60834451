import { MAX_HTML_LENGTH, unrenderable } from '../budgets.js';
import { CLOSE_PLACEHOLDER, isBlank, OPEN_PLACEHOLDER, trim } from '../characters.js';

/** An entity that somebody typed is left as it is, wherever it stands. */
const LONE_AMPERSAND = /&(?!(?:#[0-9]+|#x[0-9a-f]+|[0-9a-z]+);)/gi;
const SPECIAL_IN_TEXT = /[&<>]/;
const SPECIAL_IN_ATTRIBUTE = /[&<>"]/;

export function escapeText(text: string): string {
  if (!SPECIAL_IN_TEXT.test(text)) return text;
  return text.replace(LONE_AMPERSAND, '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function escapeAttribute(value: string): string {
  if (!SPECIAL_IN_ATTRIBUTE.test(value)) return value;
  return escapeText(value).replaceAll('"', '&quot;');
}

/** For code, where an entity stands for nothing but its letters. */
export function escapeCode(text: string): string {
  if (!SPECIAL_IN_TEXT.test(text)) return text;
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export type Attributes = Readonly<Record<string, string>>;

export const NO_ATTRIBUTES: Attributes = {};

/**
 * A node of the message's tree. Text belongs to elements: `text` stands before the first child, `tail` behind the
 * element itself. The rules of lists, line breaks and previews are all about what precedes or follows an element, and
 * read plainly in these terms.
 */
export class Element {
  text = '';
  tail = '';
  children: Element[] = [];
  /** No rule of inline formatting looks into the text, or the tail, any more. */
  isTextFinal = false;
  isTailFinal = false;

  constructor(
    readonly tag: string,
    readonly attributes = NO_ATTRIBUTES,
  ) {}

  get lastChild(): Element | undefined {
    return this.children[this.children.length - 1];
  }

  append(tag: string, attributes?: Attributes): Element {
    const child = new Element(tag, attributes);
    this.children.push(child);
    return child;
  }

  /** All text inside, in document order. */
  get allText(): string {
    return this.text + this.children.map((child) => child.allText + child.tail).join('');
  }
}

/** A copy that can be changed without changing the original. */
export function copy(element: Element): Element {
  const twin = new Element(element.tag, element.attributes);
  twin.text = element.text;
  twin.tail = element.tail;
  twin.isTextFinal = element.isTextFinal;
  twin.isTailFinal = element.isTailFinal;
  twin.children = element.children.map(copy);
  return twin;
}

/** The tag of an element that stands for HTML that the renderer made itself: code, formulas, the frame of a spoiler. */
export const RAW_HTML = 'raw';

export function rawHtml(placeholder: string): Element {
  const element = new Element(RAW_HTML);
  element.text = placeholder;
  element.isTextFinal = true;
  return element;
}

const BLOCKS = new Set(
  `${RAW_HTML} blockquote div h1 h2 h3 h4 h5 h6 hr li ol p pre table tbody td th thead tr ul`.split(' '),
);

export const isBlock = (element: Element) => BLOCKS.has(element.tag);

/** Puts the newlines between blocks, on which terminal clients rely. */
export function layOut(element: Element): void {
  for (const child of element.children) layOutBlock(child);
}

function layOutBlock(element: Element): void {
  if (isBlock(element)) {
    const first = element.children[0];
    if (first && isBlock(first) && isBlank(element.text)) element.text = '\n';
    for (const child of element.children) layOutBlock(child);
    if (isBlank(element.tail)) element.tail = '\n';
    return;
  }
  if (element.tag === 'br') element.tail = isBlank(element.tail) ? '\n' : `\n${element.tail}`;
  for (const child of element.children) layOutBlock(child);
}

const PLACEHOLDER = new RegExp(`${OPEN_PLACEHOLDER}h(\\d+)${CLOSE_PLACEHOLDER}`, 'g');
const WHOLE_PLACEHOLDER = new RegExp(`^${PLACEHOLDER.source}$`);

/** How much HTML may still be written: few placeholders may stand for very much of it. */
export interface Room {
  /** @throws DomainError UNRENDERABLE_CONTENT when there is not so much. */
  take(length: number): void;
}

interface Entry {
  readonly placeholder: string;
  readonly html: () => string;
  /** What was typed for it, which stands where HTML cannot: in attributes. */
  readonly typed: string;
}

/** HTML that the renderer made itself, and the placeholders that stand for it in text until the very end. */
export class HtmlStash {
  private readonly entries: Entry[] = [];
  private byHtml: Map<string, Entry> | undefined;

  /** The same HTML has the same placeholder, so that rendering twice adds nothing. */
  add(html: string, typed: string): string {
    this.byHtml ??= new Map();
    let entry = this.byHtml.get(html);
    if (!entry) {
      entry = this.push(() => html, typed);
      this.byHtml.set(html, entry);
    }
    return entry.placeholder;
  }

  /** HTML that is known only when it is written, of what is a block of its own. */
  addLater(html: () => string): string {
    return this.push(html, '').placeholder;
  }

  /** Whether a text is nothing but a placeholder. */
  isPlaceholder(text: string): boolean {
    return WHOLE_PLACEHOLDER.test(text);
  }

  fillIn(text: string, room: Room): string {
    if (!text.includes(OPEN_PLACEHOLDER)) return text;
    return text.replace(PLACEHOLDER, (_, index) => {
      const html = this.entries[Number(index)]!.html();
      room.take(html.length);
      return html;
    });
  }

  /** The text as it was typed. */
  restore(text: string): string {
    if (!text.includes(OPEN_PLACEHOLDER)) return text;
    return text.replace(PLACEHOLDER, (_, index) => this.entries[Number(index)]!.typed);
  }

  private push(html: () => string, typed: string): Entry {
    const entry = { placeholder: `${OPEN_PLACEHOLDER}h${this.entries.length}${CLOSE_PLACEHOLDER}`, html, typed };
    this.entries.push(entry);
    return entry;
  }
}

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
