import {
  type Block,
  type Emphasis,
  type Inline,
  type List,
  type ListItem,
  paragraph,
  plain,
} from '@parley/domain/markdown';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** Longer texts and deeper elements are shown as text; messages of Teams have at most 28 KB. */
const MAX_LENGTH = 500_000;
const MAX_DEPTH = 50;
/** An unclosed element of formatting is repeated in all later blocks, so the size of the tree can be the product. */
const MAX_REPEATED = 1_000_000;
const FORMATTING = /<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)\b/gi;

/** Nodes for elements that only the reader of messages understands. */
export interface HtmlReferences {
  /** Returns the node of a mention; `id` is the number in the list of mentions. */
  mention(id: string, text: string): Inline;
  /** Returns the node of a picture. */
  picture(url: string, name: string): Inline | null;
}

const EMPHASIS: Readonly<Record<string, Emphasis>> = {
  b: 'strong',
  strong: 'strong',
  i: 'em',
  em: 'em',
  u: 'em',
  s: 'del',
  del: 'del',
  strike: 'del',
};
/** Elements that begin a new line. */
const BLOCKS: ReadonlySet<string> = new Set(
  'p,div,ul,ol,li,blockquote,pre,codeblock,table,tbody,thead,tr,td,th,hr,h1,h2,h3,h4,h5,h6,section,article,figure'.split(
    ',',
  ),
);

/** Parses the HTML of a message. Scripts, styles and unknown attributes have no effect. */
export function parseTeamsHtml(html: string, references: HtmlReferences): readonly Block[] {
  if (html.length > MAX_LENGTH || isExplosive(html)) return [paragraph([plain(html)])];
  return new HtmlReader(references).blocks(parseFragment(html).childNodes, 0);
}

const isExplosive = (html: string): boolean =>
  (html.match(FORMATTING)?.length ?? 0) * (html.split('<').length - 1) > MAX_REPEATED;

class HtmlReader {
  constructor(private readonly references: HtmlReferences) {}

  /** Inline nodes between blocks become paragraphs. */
  blocks(nodes: readonly Node[], depth: number): readonly Block[] {
    const blocks: Block[] = [];
    let line: Inline[] = [];
    const endLine = () => {
      const children = trimmed(line);
      if (children.length > 0) blocks.push(paragraph(children));
      line = [];
    };
    for (const node of nodes) {
      if (isElement(node) && BLOCKS.has(node.tagName) && depth < MAX_DEPTH) {
        endLine();
        blocks.push(...this.block(node, depth + 1));
      } else line.push(...this.inline(node, depth + 1));
    }
    endLine();
    return blocks;
  }

  private block(element: Element, depth: number): readonly Block[] {
    switch (element.tagName) {
      case 'ul':
      case 'ol':
        return this.list(element, depth);
      case 'blockquote':
        return [{ type: 'quote', children: this.blocks(element.childNodes, depth) }];
      case 'pre':
      case 'codeblock':
        return [{ type: 'code', text: textOf(element).replaceAll('\u00a0', ' '), language: languageOf(element) }];
      case 'hr':
        return [{ type: 'rule' }];
      case 'table':
        return [{ type: 'table', rows: this.rows(element, depth) }];
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6':
        return [{ type: 'heading', children: this.inlines(element, depth), level: Number(element.tagName[1]) as 1 }];
      default:
        return this.blocks(element.childNodes, depth);
    }
  }

  /** Other blocks of an item stand after the list. */
  private list(element: Element, depth: number): readonly Block[] {
    const items: ListItem[] = [];
    const others: Block[] = [];
    for (const child of element.childNodes.filter(isElement)) {
      const blocks = this.blocks(child.tagName === 'li' ? child.childNodes : [child], depth + 1);
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
    const start = element.tagName === 'ol' ? Number(attributeOf(element, 'start') || 1) || 1 : null;
    return items.length === 0 ? others : [{ type: 'list', start, items }, ...others];
  }

  private rows(element: Element, depth: number): readonly (readonly (readonly Inline[])[])[] {
    const children = element.childNodes.filter(isElement);
    return children.flatMap((child) => {
      if (child.tagName !== 'tr') return depth < MAX_DEPTH ? this.rows(child, depth + 1) : [];
      return [child.childNodes.filter(isElement).map((cell) => this.inlines(cell, depth + 1))];
    });
  }

  private inlines(element: Element, depth: number): readonly Inline[] {
    return trimmed(element.childNodes.flatMap((child) => this.inline(child, depth + 1)));
  }

  private inline(node: Node, depth: number): readonly Inline[] {
    if ('value' in node) return [plain(node.value.replaceAll('\u00a0', ' ').replace(/[ \t\r\n]+/g, ' '))];
    if (!isElement(node)) return [];
    if (depth > MAX_DEPTH) return [plain(textOf(node))];
    const children = () => node.childNodes.flatMap((child) => this.inline(child, depth + 1));
    switch (node.tagName) {
      case 'br':
        return [plain('\n')];
      case 'code':
        return [{ type: 'code', text: textOf(node) }];
      case 'at':
        return [this.references.mention(attributeOf(node, 'id'), textOf(node))];
      case 'emoji':
      case 'customemoji':
        return [plain(attributeOf(node, 'alt') || attributeOf(node, 'title'))];
      case 'img': {
        const picture = this.references.picture(attributeOf(node, 'src'), attributeOf(node, 'alt') || 'image');
        return picture === null ? [] : [picture];
      }
      case 'a':
        return [{ type: 'link', url: attributeOf(node, 'href'), children: children() }];
      case 'script':
      case 'style':
      case 'attachment':
      case 'systemeventmessage':
        return [];
      default: {
        const type = EMPHASIS[node.tagName];
        if (type !== undefined) return [{ type, children: children() }];
        // Blocks in cells of tables.
        return BLOCKS.has(node.tagName) ? [...children(), plain(' ')] : children();
      }
    }
  }
}

const isElement = (node: Node): node is Element => 'tagName' in node;
const attributeOf = (element: Element, name: string): string =>
  element.attrs.find((each) => each.name === name)?.value ?? '';

/** Text of a tree of any depth, with line breaks. */
function textOf(element: Element): string {
  const texts: string[] = [];
  const left: Node[] = [element];
  for (let node = left.pop(); node; node = left.pop()) {
    if ('value' in node) texts.push(node.value);
    else if (isElement(node)) {
      if (node.tagName === 'br') texts.push('\n');
      for (let index = node.childNodes.length - 1; index >= 0; index--) left.push(node.childNodes[index]!);
    }
  }
  return texts.join('');
}

/** The class of a code block is the language, such as `Python`; that of `pre` begins with `language-`. */
function languageOf(element: Element): string {
  const name = attributeOf(element, 'class');
  const pattern = element.tagName === 'codeblock' ? /^(?:language-)?([\w+#-]{1,50})$/ : /language-([\w+#-]{1,50})/;
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
