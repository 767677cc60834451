import { isBlank } from '../characters.js';

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
