import {
  type Block,
  type HtmlDialect,
  type HtmlElement,
  type HtmlNode,
  htmlTextOf,
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

const EMOJI = /^(?::[\w+-]+:|(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|[\d#*]\ufe0f?\u20e3).{0,12})$/u;
/** Pictures of formulas that are also there as text, and links to edit. */
const LEFT_OUT = /(?:^|\s)(?:katex-html|mw-editsection)(?:\s|$)/;

const CLIPBOARD: HtmlDialect = {
  underline: null,
  inline(element) {
    const { tag, attribute, children } = element;
    // Formulas of messages.
    if (attribute('role') === 'math') return formula(attribute('aria-label'));
    if (LEFT_OUT.test(attribute('class'))) return null;
    switch (tag) {
      case 'math':
        return formula(children.flatMap(annotations).join('') || attribute('alttext'));
      case 'sup':
      case 'sub':
        // Notes of Wikipedia.
        return /\breference\b/.test(attribute('class')) ? null : script(tag, element);
      case 'a':
        return isAddress(htmlTextOf(element).trim(), attribute('href')) ? plain(htmlTextOf(element)) : undefined;
      case 'img':
        return picture(attribute);
      default:
        return attribute('data-stringify-type') === 'paragraph-break' ? plain('\n\n') : raised(element);
    }
  },
};

/** Slack and web mail show emoji as images, Wikipedia formulas. */
function picture(attribute: (name: string) => string): Inline | null {
  const name = attribute('alt');
  if (EMOJI.test(name)) return plain(name);
  if (attribute('class').includes('mwe-math')) return formula(name) ?? null;
  const url = attribute('src');
  return /^https?:/.test(url) ? { type: 'link', url, children: [plain(name || url)] } : null;
}

/** TeX that annotates the MathML of a formula. */
const annotations = (node: HtmlNode): readonly string[] => {
  if (typeof node === 'string') return [];
  return node.tag === 'annotation'
    ? [htmlTextOf(node)]
    : node.tag === 'semantics'
      ? node.children.flatMap(annotations)
      : [];
};

const formula = (tex: string): Inline | undefined =>
  tex.trim() === '' ? undefined : plain(`$$${tex.trim().replace(/^\{\\displaystyle (.*)\}$/s, '$1')}$$`);

const SCRIPTS = { sup: '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾', sub: '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎' } as const;

/** Markdown has no raised and lowered digits. Other text stays as it is. */
function script(kind: keyof typeof SCRIPTS, element: HtmlElement): Inline | undefined {
  const shown = htmlTextOf(element).trim().replace('−', '-');
  return /^[\d+\-=()]+$/.test(shown)
    ? plain([...shown].map((digit) => SCRIPTS[kind]['0123456789+-=()'.indexOf(digit)]).join(''))
    : undefined;
}

/** Google Docs raises and lowers text by styles. */
function raised(element: HtmlElement): Inline | undefined {
  const [, kind] = /vertical-align:\s*(sub|super)\b/.exec(element.attribute('style')) ?? [];
  return kind === undefined ? undefined : script(kind === 'sub' ? 'sub' : 'sup', element);
}

/** Addresses become links without formatting. */
const isAddress = (text: string, url: string): boolean => [text, `${text}/`, `mailto:${text}`].includes(url);

const isFormatted = (block: Block): boolean => block.type !== 'paragraph' || block.children.some(isFormattedInline);

const isFormattedInline = (inline: Inline): boolean =>
  inline.type === 'link'
    ? plainText([inline]) !== inline.url
    : inline.type !== 'text' || /\$\$|[⁰¹²³⁴-⁾₀-₎]/.test(inline.text);

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
        attribute: (name) => attributeOf(node, name === 'style' ? STYLE : name),
        get children() {
          children ??= nodesOf(node);
          return children;
        },
      },
    ];
  });

/** Returns the value; the name for a boolean attribute such as `checked`. */
const attributeOf = (element: Element, name: string): string =>
  element.getAttribute(name) || (name === 'checked' && element.hasAttribute(name) ? name : '');
