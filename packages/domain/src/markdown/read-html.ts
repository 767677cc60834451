import {
  CODE_STYLE,
  code,
  codeElement,
  codeOfEditor,
  type HtmlElement,
  type HtmlNode,
  htmlTextOf,
  isElement,
  languageOf,
  styleOf,
  withLanguage,
} from './html-node.js';
import {
  type Block,
  type Emphasis,
  type Inline,
  type List,
  type ListItem,
  paragraph,
  plain,
  plainText,
} from './rich-text.js';

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
  (
    'p,div,ul,ol,li,dl,dt,dd,blockquote,pre,codeblock,table,caption,tbody,thead,tfoot,tr,td,th,hr,h1,h2,h3,h4,h5,h6,' +
    'section,article,aside,main,nav,header,footer,address,center,details,summary,figure,figcaption,form,fieldset'
  ).split(','),
);
const CODE: ReadonlySet<string> = new Set(['code', 'kbd', 'samp', 'tt']);
const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'title', 'template']);
/** Paragraph of Word that shows an item of a list. */
const WORD_ITEM = /mso-list:\s*l\d+\s+level(\d)/i;
const WORD_MARKER = /mso-list:\s*ignore/i;
const NOT_SHOWN = /(?<![\w-])display:\s*none|mso-hide:\s*all/i;
/** Text of links to their own heading. */
const ANCHOR = /^[#¶\s]*$/;

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
      if (wordItems.length > 0) blocks.push(...this.wordLists(wordItems, depth));
      wordItems = [];
    };
    for (const node of nodes) {
      if (isElement(node) && depth < MAX_DEPTH && BLOCKS.has(node.tag)) {
        if (isLine(node, depth)) {
          endList();
          const children = node.children.flatMap((child) => this.inline(child, depth + 2));
          line.push(...lineBreak(line), ...inEmphasis(children, this.emphasisOf(node)));
          line.push(...lineBreak(line));
          continue;
        }
        endLine();
        if (WORD_ITEM.test(styleOf(node))) wordItems.push(node);
        else {
          endList();
          addBlocks(blocks, this.block(node, depth + 1), node.attribute('data-indent'));
        }
      } else if (isElement(node) && depth < MAX_DEPTH && node.tag !== 'a' && hasBlocks(node, depth)) {
        endLine();
        endList();
        const children = this.blocks(node.children, depth + 1);
        blocks.push(...children.map((block) => emphasized(block, this.emphasisOf(node))));
      } else if (isElement(node) || node.trim() !== '' || lineBreak(line).length > 0) {
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
        return [code(htmlTextOf(codeElement(element)).replace(/\n$/, ''), languageOf(element))];
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
        return withLanguage(this.blocks(element.children, depth), element);
    }
  }

  /** Other blocks of an item, such as code, interrupt the list, which continues after them. */
  private list(element: HtmlElement, depth: number): readonly Block[] {
    const blocks: Block[] = [];
    let start = element.tag === 'ol' ? Number(element.attribute('start') || 1) || 1 : null;
    let items: ListItem[] = [];
    const endList = () => {
      if (items.length > 0) blocks.push({ type: 'list', start, items });
      if (start !== null) start += items.length;
      items = [];
    };
    for (const child of element.children.filter(isElement)) {
      const content = this.blocks(child.tag === 'li' ? child.children : [child], depth + 1);
      const end = content.findIndex(({ type }) => type !== 'paragraph' && type !== 'heading' && type !== 'list');
      const own = end < 0 ? content : content.slice(0, end);
      const lists = own.filter((block) => block.type === 'list');
      const texts = own.flatMap((block) => itemText(block).map((inline, index) => ({ inline, isFirst: index === 0 })));
      const children = texts.flatMap(({ inline, isFirst }, index) =>
        isFirst && index > 0 ? [plain('\n'), inline] : [inline],
      );
      const last = items.at(-1);
      if (children.length > 0) items.push({ children: [...taskMark(child), ...children], lists });
      // Editors put a nested list after its item instead of inside it.
      else if (last) items[items.length - 1] = { ...last, lists: [...last.lists, ...lists] };
      else if (lists.length > 0) items.push({ children, lists });
      if (end < 0) continue;
      endList();
      blocks.push(...content.slice(end));
    }
    endList();
    return blocks;
  }

  /** Lists of Word, which writes items as paragraphs with a level, and markers as text. */
  private wordLists(elements: readonly HtmlElement[], depth: number): readonly List[] {
    const levelOf = (element: HtmlElement) => Number(WORD_ITEM.exec(styleOf(element))![1]);
    const listsAt = (from: number, to: number): readonly List[] => {
      const level = levelOf(elements[from]!);
      const found: { start: number | null; items: ListItem[] }[] = [];
      for (let index = from; index < to; index++) {
        const element = elements[index]!;
        let next = index + 1;
        while (next < to && levelOf(elements[next]!) > level) next++;
        const lists = next > index + 1 ? listsAt(index + 1, next) : [];
        const [number] = /^\w+(?=[.)])/.exec(markerOf(element)) ?? [];
        const start = number === undefined ? null : Number(number) || 1;
        const last = found.at(-1);
        const list = last && (last.start === null) === (start === null) ? last : { start, items: [] };
        if (list !== last) found.push(list);
        list.items.push({ children: this.inlines(element, depth + 1), lists });
        index = next - 1;
      }
      return found.map((list) => ({ type: 'list', ...list }));
    };
    return listsAt(0, elements.length);
  }

  /** A table of one cell, such as a copied spreadsheet cell or the layout of an email, is its content. */
  private table(element: HtmlElement, depth: number): readonly Block[] {
    const captions = element.children.filter((child) => isElement(child) && child.tag === 'caption');
    const rows = rowsOf(element, depth);
    const [first = [], ...others] = rows;
    if (others.length === 0 && first.length <= 1) {
      const emphasis = first.flatMap((cell) => this.emphasisOf(cell));
      const children = first.flatMap((cell) => cell.children);
      return this.blocks([...captions, ...children], depth + 1).map((block) => emphasized(block, emphasis));
    }
    const [header = [], ...body] = this.grid(rows, depth);
    return [...this.blocks(captions, depth + 1), { type: 'table', rows: [header.map(withoutStrong), ...body] }];
  }

  /** Cells by row and column. A merged cell stands in its first column and row. */
  private grid(rows: readonly (readonly HtmlElement[])[], depth: number): readonly (readonly (readonly Inline[])[])[] {
    /** Number of further rows that a merged cell covers, by column. */
    const covered: number[] = [];
    return rows.map((cells) => {
      const row: (readonly Inline[])[] = [];
      const skipCovered = () => {
        for (let left = covered[row.length]; left !== undefined && left > 0; left = covered[row.length]) {
          covered[row.length] = left - 1;
          row.push([]);
        }
      };
      for (const cell of cells) {
        skipCovered();
        const columns = Math.min(Number(cell.attribute('colspan')) || 1, MAX_COLUMNS);
        const children = inEmphasis(this.inlines(cell, depth + 2), this.emphasisOf(cell));
        const column = row.push(children) - 1;
        // Merged cells in further columns would multiply the size of the table.
        const end = Math.min(column + columns, MAX_COLUMNS);
        for (let index = column; index < end; index++) {
          covered[index] = (Number(cell.attribute('rowspan')) || 1) - 1;
          if (index > column) row.push([]);
        }
      }
      skipCovered();
      return row;
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
    if (HIDDEN.has(node.tag) || WORD_MARKER.test(styleOf(node)) || NOT_SHOWN.test(styleOf(node))) return [];
    if (node.tag === 'br') return [plain('\n')];
    if (CODE.has(node.tag)) return [{ type: 'code', text: htmlTextOf(node) }];
    const children = node.children.flatMap((child) => this.inline(child, depth + 1));
    if (node.tag === 'a') return link(node.attribute('href'), children);
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

const hasBlocks = (element: HtmlElement, depth: number): boolean =>
  depth < MAX_DEPTH &&
  element.children.some((child) => isElement(child) && (BLOCKS.has(child.tag) || hasBlocks(child, depth + 1)));

const inEmphasis = (children: readonly Inline[], emphasis: readonly Emphasis[]): readonly Inline[] =>
  children.length === 0
    ? []
    : emphasis.reduce<readonly Inline[]>((inner, type) => [{ type, children: inner }], children);

const emphasized = (block: Block, emphasis: readonly Emphasis[]): Block =>
  block.type === 'paragraph' ? paragraph(inEmphasis(block.children, emphasis)) : block;

/** White space at both ends stands outside the link. */
function link(url: string, children: readonly Inline[]): readonly Inline[] {
  const text = plainText(children);
  if (ANCHOR.test(text)) return [];
  const gap = (isThere: boolean) => (isThere ? [plain(' ')] : []);
  return [...gap(/^\s/.test(text)), { type: 'link', url, children: trimmed(children) }, ...gap(/\s$/.test(text))];
}

/** True for an element that only begins a new line, without space between paragraphs. */
const isLine = (element: HtmlElement, depth: number): boolean =>
  element.tag === 'div' &&
  !CODE_STYLE.test(styleOf(element)) &&
  !WORD_ITEM.test(styleOf(element)) &&
  !hasBlocks(element, depth);

const lineBreak = (line: readonly Inline[]): readonly Inline[] =>
  line.length === 0 || plainText(line.slice(-1)).endsWith('\n') ? [] : [plain('\n')];

/** Adds blocks. Slack writes each level of a list as a separate list with its level. */
function addBlocks(blocks: Block[], added: readonly Block[], level: string): void {
  const last = blocks.at(-1);
  const [first, ...others] = added;
  const isAdded =
    level !== '' &&
    last?.type === 'list' &&
    first?.type === 'list' &&
    addItems(last as GrowingList, first as GrowingList, Math.min(Number(level), MAX_DEPTH));
  blocks.push(...(isAdded ? others : added));
}

/** List of this reader, which may get more items. A copy for each of many lists would take too long. */
interface GrowingList extends List {
  readonly items: GrowingItem[];
}

interface GrowingItem extends ListItem {
  readonly lists: GrowingList[];
}

/** Adds the items of a list to another one at a level. Returns false if they are of different kinds. */
function addItems(list: GrowingList, added: GrowingList, level: number): boolean {
  if (!(level > 0)) {
    if ((list.start === null) !== (added.start === null)) return false;
    list.items.push(...added.items);
    return true;
  }
  const item = list.items.at(-1);
  if (!item) return false;
  const nested = item.lists.at(-1);
  if (!nested || !addItems(nested, added, level - 1)) item.lists.push(added);
  return true;
}

/** Text of a block in an item; empty for other blocks. */
function itemText(block: Block): readonly Inline[] {
  if (block.type === 'heading') return inEmphasis(block.children, ['strong']);
  return block.type === 'paragraph' ? block.children : [];
}

/** Mark of a task, in the notation of editors for Markdown; empty for other items. */
function taskMark(item: HtmlElement): readonly Inline[] {
  const elements = item.children.filter(isElement);
  const box = [...elements, ...elements.flatMap(({ children }) => children.filter(isElement))].find(
    ({ tag, attribute }) => tag === 'input' && attribute('type') === 'checkbox',
  );
  const state = item.attribute('aria-checked') || item.attribute('data-checked');
  if (!box && state === '') return [];
  return [plain(state === 'true' || box?.attribute('checked') ? '[x] ' : '[ ] ')];
}

/** Cells of a table by row; those of nested tables belong to their cell. */
const rowsOf = (element: HtmlElement, depth: number): readonly (readonly HtmlElement[])[] =>
  element.children.filter(isElement).flatMap((child) => {
    if (child.tag === 'tr') return [child.children.filter(isElement)];
    return depth < MAX_DEPTH ? rowsOf(child, depth + 1) : [];
  });

/** Headings and header cells are bold anyway. */
const withoutStrong = (inlines: readonly Inline[]): readonly Inline[] =>
  inlines.flatMap((inline) => (inline.type === 'strong' ? withoutStrong(inline.children) : [inline]));

/** Text of the marker before an item of Word. */
function markerOf(element: HtmlElement): string {
  for (const child of element.children.filter(isElement)) {
    const marker = WORD_MARKER.test(styleOf(child)) ? htmlTextOf(child) : markerOf(child);
    if (marker !== '') return marker.trim();
  }
  return '';
}

/** Trims white space and line breaks at both ends, and collapses the other white space as browsers do. */
function trimmed(inlines: readonly Inline[]): readonly Inline[] {
  const shown = collapsed(inlines, { isAfterSpace: true });
  const isBlank = (inline: Inline | undefined) => inline?.type === 'text' && inline.text.trim() === '';
  let start = 0;
  let end = shown.length;
  while (start < end && isBlank(shown[start])) start++;
  while (end > start && isBlank(shown[end - 1])) end--;
  const last = shown[end - 1];
  if (last?.type !== 'text' || end === start) return shown.slice(start, end);
  return [...shown.slice(start, end - 1), plain(last.text.trimEnd())];
}

/** Removes white space at the start of lines and after white space of the previous text. */
const collapsed = (inlines: readonly Inline[], before: { isAfterSpace: boolean }): readonly Inline[] =>
  inlines.map((inline) => {
    if (inline.type === 'text') {
      const text = inline.text.replace(/(^|\n) +/g, (_, lineBreak: string) =>
        lineBreak === '\n' ? lineBreak : before.isAfterSpace ? '' : ' ',
      );
      if (text !== '') before.isAfterSpace = /\s$/.test(text);
      return plain(text);
    }
    if ('children' in inline) return { ...inline, children: collapsed(inline.children, before) };
    before.isAfterSpace = false;
    return inline;
  });
