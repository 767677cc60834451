import {
  type Block,
  type HtmlDialect,
  type HtmlNode,
  type Inline,
  isReadableHtml,
  plain,
  plainText,
  readHtml,
  writeEditableMarkdown,
} from '@parley/domain/markdown';
import { parseInert, STYLE } from '../content/tree.js';

/**
 * Returns the Markdown of HTML from the clipboard; null if it has no formatting.
 * @param language Language of an editor's code; empty if unknown.
 */
export const pastedMarkdown = (html: string, language: string): string | null =>
  isReadableHtml(html) ? markdownOfNodes(nodesOf(parseInert(withoutStyles(html))), language) : null;

export function markdownOfNodes(nodes: readonly HtmlNode[], language: string): string | null {
  const blocks = readHtml(nodes, CLIPBOARD).map((block) =>
    block.type === 'code' && block.language === '' ? { ...block, language } : block,
  );
  return (blocks.some(isFormatted) && writeEditableMarkdown(blocks)) || null;
}

const EMOJI = /^(?::[\w+-]+:|\p{Extended_Pictographic}.{0,12})$/u;

const CLIPBOARD: HtmlDialect = {
  underline: null,
  inline({ tag, attribute, children }) {
    // Anchors of headings.
    if (tag === 'a' && children.length === 0) return null;
    if (tag !== 'img') return undefined;
    const name = attribute('alt');
    // Slack and web mail show emoji as images.
    if (EMOJI.test(name)) return plain(name);
    const url = attribute('src');
    return /^https?:/.test(url) ? { type: 'link', url, children: [plain(name || url)] } : null;
  },
};

const isFormatted = (block: Block): boolean => block.type !== 'paragraph' || block.children.some(isFormattedInline);

/** Addresses become links without formatting. */
const isFormattedInline = (inline: Inline): boolean =>
  inline.type === 'link' ? plainText([inline]).trim() !== inline.url : inline.type !== 'text';

/** Keeps inline styles and style sheets from the parser, because the content security policy would report them. */
const withoutStyles = (html: string): string =>
  html.replaceAll(/(<[a-z][^<>]*?\s)style(?=\s*=)/gi, `$1${STYLE}`).replaceAll(/(<\/?)style\b/gi, '$1title');

const nodesOf = (parent: Node): readonly HtmlNode[] =>
  [...parent.childNodes].flatMap((node): readonly HtmlNode[] => {
    if (node instanceof Text) return [node.data];
    if (!(node instanceof Element)) return [];
    let children: readonly HtmlNode[] | undefined;
    return [
      {
        tag: node.localName,
        attribute: (name) => node.getAttribute(name === 'style' ? STYLE : name) ?? '',
        get children() {
          children ??= nodesOf(node);
          return children;
        },
      },
    ];
  });
