import { firstOf } from '../kernel/work.js';
import { type Block, type Emphasis, type Inline, type List, type ListItem, paragraph, plain } from './rich-text.js';

/** Node of parsed HTML, independent of the parser. */
export type HtmlNode = string | HtmlElement;

export interface HtmlElement {
  /** Name in lower case. */
  readonly tag: string;
  /** Returns an empty text for a missing attribute. */
  attribute(name: string): string;
  readonly children: readonly HtmlNode[];
}

/** Conventions of the program that wrote the HTML. */
export interface HtmlDialect {
  /** Meaning of underlines, which Markdown lacks; null if they have none. */
  readonly underline: Emphasis | null;
  /** Returns the node of an inline element; null drops the element, undefined reads it as HTML. */
  inline(element: HtmlElement): Inline | null | undefined;
}

/** Longer texts and deeper elements are shown as text. */
const MAX_LENGTH = 500_000;
const MAX_DEPTH = 50;
/** An unclosed element of formatting is repeated in all later blocks, so the size of the tree can be the product. */
const MAX_REPEATED = 1_000_000;
const FORMATTING = /<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)\b/gi;
const MAX_COLUMNS = 50;

const EMPHASIS: Readonly<Record<string, Emphasis>> = {
  b: 'strong',
  strong: 'strong',
  i: 'em',
  em: 'em',
  s: 'del',
  del: 'del',
  strike: 'del',
};
/**
 * Formatting by inline styles, as in Google Docs, which also cancels the formatting of elements by them:
 * `<b style="font-weight:normal">`.
 */
const STYLES: readonly (readonly [Emphasis, on: RegExp, off: RegExp])[] = [
  ['strong', /(?<![\w-])font-weight:\s*(?:bold|[6-9]00)/i, /(?<![\w-])font-weight:\s*(?:normal|[1-5]00)/i],
  ['em', /(?<![\w-])font-style:\s*(?:italic|oblique)/i, /(?<![\w-])font-style:\s*normal/i],
  ['del', /(?<![\w-])text-decoration(?:-line)?:[^;]*line-through/i, /(?<![\w-])text-decoration:\s*none/i],
];
/** Elements that begin a new line. */
const BLOCKS: ReadonlySet<string> = new Set(
  'p,div,ul,ol,li,blockquote,pre,codeblock,table,tbody,thead,tr,td,th,hr,h1,h2,h3,h4,h5,h6,section,article,figure'.split(
    ',',
  ),
);
const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'title', 'template']);
/** Code of an editor; white space is not collapsed. */
const CODE_STYLE = /white-space:\s*pre\s*(?:;|$)/i;
/** Paragraph of Word that shows an item of a list. */
const WORD_ITEM = /mso-list:\s*l\d+\s+level(\d)/i;
const WORD_MARKER = /mso-list:\s*ignore/i;

/** True for HTML that can be parsed in reasonable time. */
export const isReadableHtml = (html: string): boolean =>
  html.length <= MAX_LENGTH && (html.match(FORMATTING)?.length ?? 0) * (html.split('<').length - 1) <= MAX_REPEATED;

/** Reads HTML as formatted text. Scripts, styles and unknown attributes have no effect. */
export const readHtml = (nodes: readonly HtmlNode[], dialect: HtmlDialect): readonly Block[] =>
  new HtmlReader(dialect).blocks(nodes, 0);

class HtmlReader {
  constructor(private readonly dialect: HtmlDialect) {}

  /** Inline nodes between blocks become paragraphs. */
  blocks(nodes: readonly HtmlNode[], depth: number): readonly Block[] {
    const blocks: Block[] = [];
    let line: Inline[] = [];
    let wordItems: HtmlElement[] = [];
    const endLine = () => {
      const children = trimmed(line);
      if (children.length > 0) blocks.push(paragraph(children));
      line = [];
    };
    const endList = () => {
      if (wordItems.length > 0) blocks.push(this.wordList(wordItems, depth));
      wordItems = [];
    };
    for (const node of nodes) {
      if (isElement(node) && depth < MAX_DEPTH && BLOCKS.has(node.tag)) {
        endLine();
        if (WORD_ITEM.test(styleOf(node))) wordItems.push(node);
        else {
          endList();
          blocks.push(...this.block(node, depth + 1));
        }
      } else if (isElement(node) && depth < MAX_DEPTH && node.tag !== 'a' && hasBlocks(node, depth)) {
        endLine();
        endList();
        const children = this.blocks(node.children, depth + 1);
        blocks.push(...children.map((block) => emphasized(block, this.emphasisOf(node))));
      } else {
        if (isElement(node) || node.trim() !== '') endList();
        line.push(...this.inline(node, depth + 1));
      }
    }
    endLine();
    endList();
    return blocks;
  }

  private block(element: HtmlElement, depth: number): readonly Block[] {
    switch (element.tag) {
      case 'ul':
      case 'ol':
        return this.list(element, depth);
      case 'blockquote':
        return [{ type: 'quote', children: this.blocks(element.children, depth) }];
      case 'pre':
      case 'codeblock':
        return [code(htmlTextOf(element).replace(/\n$/, ''), languageOf(element))];
      case 'hr':
        return [{ type: 'rule' }];
      case 'table':
        return this.table(element, depth);
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6': {
        const children = withoutStrong(this.inlines(element, depth));
        return [{ type: 'heading', children, level: Number(element.tag[1]) as 1 }];
      }
      default:
        if (CODE_STYLE.test(styleOf(element))) return codeOfEditor(element);
        return this.blocks(element.children, depth);
    }
  }

  /** Other blocks of an item stand after the list. */
  private list(element: HtmlElement, depth: number): readonly Block[] {
    const items: ListItem[] = [];
    const others: Block[] = [];
    for (const child of element.children.filter(isElement)) {
      const blocks = this.blocks(child.tag === 'li' ? child.children : [child], depth + 1);
      const children: Inline[] = [];
      const lists: List[] = [];
      for (const block of blocks) {
        if (block.type === 'paragraph') children.push(...(children.length > 0 ? [plain('\n')] : []), ...block.children);
        else if (block.type === 'list') lists.push(block);
        else others.push(block);
      }
      const last = items.at(-1);
      // Editors put a nested list after its item instead of inside it.
      if (children.length === 0 && last) items[items.length - 1] = { ...last, lists: [...last.lists, ...lists] };
      else items.push({ children, lists });
    }
    const start = element.tag === 'ol' ? Number(element.attribute('start') || 1) || 1 : null;
    return items.length === 0 ? others : [{ type: 'list', start, items }, ...others];
  }

  /** List of Word, which writes items as paragraphs with a level, and markers as text. */
  private wordList(elements: readonly HtmlElement[], depth: number): List {
    const levelOf = (element: HtmlElement) => Number(WORD_ITEM.exec(styleOf(element))![1]);
    const listAt = (from: number, to: number): List => {
      const level = levelOf(elements[from]!);
      const items: ListItem[] = [];
      for (let index = from; index < to; index++) {
        let next = index + 1;
        while (next < to && levelOf(elements[next]!) > level) next++;
        const lists = next > index + 1 ? [listAt(index + 1, next)] : [];
        items.push({ children: this.inlines(elements[index]!, depth + 1), lists });
        index = next - 1;
      }
      const [number] = /^\d+(?=[.)])|^\w+(?=[.)])/.exec(markerOf(elements[from]!)) ?? [];
      return { type: 'list', start: number === undefined ? null : Number(number) || 1, items };
    };
    return listAt(0, elements.length);
  }

  /** A table of one cell, such as a copied spreadsheet cell, is its content. */
  private table(element: HtmlElement, depth: number): readonly Block[] {
    const rows = this.rows(element, depth);
    const [header = [], ...others] = rows;
    if (others.length === 0 && header.length === 1)
      return firstOf(header).length === 0 ? [] : [paragraph(firstOf(header))];
    return [{ type: 'table', rows: [header.map(withoutStrong), ...others] }];
  }

  private rows(element: HtmlElement, depth: number): readonly (readonly (readonly Inline[])[])[] {
    return element.children.filter(isElement).flatMap((child) => {
      if (child.tag !== 'tr') return depth < MAX_DEPTH ? this.rows(child, depth + 1) : [];
      return [
        child.children.filter(isElement).flatMap((cell) => {
          const columns = Math.min(Number(cell.attribute('colspan')) || 1, MAX_COLUMNS);
          const children = inEmphasis(this.inlines(cell, depth + 1), this.emphasisOf(cell));
          return [children, ...Array.from({ length: columns - 1 }, () => [])];
        }),
      ];
    });
  }

  private inlines(element: HtmlElement, depth: number): readonly Inline[] {
    return trimmed(element.children.flatMap((child) => this.inline(child, depth + 1)));
  }

  private inline(node: HtmlNode, depth: number): readonly Inline[] {
    if (!isElement(node)) return [plain(node.replaceAll('\u00a0', ' ').replace(/[ \t\r\n]+/g, ' '))];
    if (depth > MAX_DEPTH) return [plain(htmlTextOf(node))];
    const known = this.dialect.inline(node);
    if (known !== undefined) return known === null ? [] : [known];
    if (HIDDEN.has(node.tag) || WORD_MARKER.test(styleOf(node))) return [];
    if (node.tag === 'br') return [plain('\n')];
    if (node.tag === 'code') return [{ type: 'code', text: htmlTextOf(node) }];
    const children = node.children.flatMap((child) => this.inline(child, depth + 1));
    if (node.tag === 'a') return [{ type: 'link', url: node.attribute('href'), children }];
    // Blocks in cells of tables.
    if (BLOCKS.has(node.tag)) return [...children, plain(' ')];
    return inEmphasis(children, this.emphasisOf(node));
  }

  private emphasisOf(element: HtmlElement): readonly Emphasis[] {
    const style = styleOf(element);
    const byTag = element.tag === 'u' ? this.dialect.underline : EMPHASIS[element.tag];
    return STYLES.filter(([type, on, off]) => on.test(style) || (type === byTag && !off.test(style))).map(
      ([type]) => type,
    );
  }
}

const isElement = (node: HtmlNode): node is HtmlElement => typeof node !== 'string';
const styleOf = (element: HtmlElement): string => element.attribute('style');

const hasBlocks = (element: HtmlElement, depth: number): boolean =>
  depth < MAX_DEPTH &&
  element.children.some((child) => isElement(child) && (BLOCKS.has(child.tag) || hasBlocks(child, depth + 1)));

const inEmphasis = (children: readonly Inline[], emphasis: readonly Emphasis[]): readonly Inline[] =>
  children.length === 0
    ? []
    : emphasis.reduce<readonly Inline[]>((inner, type) => [{ type, children: inner }], children);

const emphasized = (block: Block, emphasis: readonly Emphasis[]): Block =>
  block.type === 'paragraph' ? paragraph(inEmphasis(block.children, emphasis)) : block;

/** Headings and header cells are bold anyway. */
const withoutStrong = (inlines: readonly Inline[]): readonly Inline[] =>
  inlines.flatMap((inline) => (inline.type === 'strong' ? withoutStrong(inline.children) : [inline]));

const code = (text: string, language: string): Block => ({
  type: 'code',
  text: text.replaceAll('\u00a0', ' '),
  language,
});

/** Lines of an editor are elements in its box. A part of a line is text. */
function codeOfEditor(element: HtmlElement): readonly Block[] {
  const lines = element.children.map((child) => (isElement(child) ? htmlTextOf(child).replace(/\n$/, '') : child));
  const text = lines.join(element.children.some((child) => isElement(child) && child.tag === 'div') ? '\n' : '');
  if (text.includes('\n')) return [code(text, '')];
  return text === '' ? [] : [paragraph([plain(text.replaceAll('\u00a0', ' '))])];
}

/** Text of a tree of any depth, with line breaks. */
export function htmlTextOf(element: HtmlElement): string {
  const texts: string[] = [];
  const left: HtmlNode[] = [element];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (!isElement(node)) texts.push(node);
    else {
      if (node.tag === 'br') texts.push('\n');
      for (let index = node.children.length - 1; index >= 0; index--) left.push(node.children[index]!);
    }
  }
  return texts.join('');
}

/** Text of the marker before an item of Word. */
function markerOf(element: HtmlElement): string {
  for (const child of element.children.filter(isElement)) {
    const marker = WORD_MARKER.test(styleOf(child)) ? htmlTextOf(child) : markerOf(child);
    if (marker !== '') return marker.trim();
  }
  return '';
}

/** The class of a code block is the language, such as `Python`; that of `pre` begins with `language-`. */
function languageOf(element: HtmlElement): string {
  const inner = element.children.find(isElement);
  const name = `${element.attribute('class')} ${inner?.tag === 'code' ? inner.attribute('class') : ''}`.trim();
  const pattern = element.tag === 'codeblock' ? /^(?:language-)?([\w+#-]{1,50})$/ : /language-([\w+#-]{1,50})/;
  return pattern.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** Trims white space and line breaks at both ends. */
function trimmed(inlines: readonly Inline[]): readonly Inline[] {
  const isBlank = (inline: Inline | undefined) => inline?.type === 'text' && inline.text.trim() === '';
  let start = 0;
  let end = inlines.length;
  while (start < end && isBlank(inlines[start])) start++;
  while (end > start && isBlank(inlines[end - 1])) end--;
  return inlines.slice(start, end);
}
