import { type Block, paragraph, plain } from './rich-text.js';

/** Node of parsed HTML, independent of the parser. */
export type HtmlNode = string | HtmlElement;

export interface HtmlElement {
  /** Name in lower case. */
  readonly tag: string;
  /** Returns an empty text for a missing attribute. */
  attribute(name: string): string;
  readonly children: readonly HtmlNode[];
}

export const isElement = (node: HtmlNode): node is HtmlElement => typeof node !== 'string';
export const styleOf = (element: HtmlElement): string => element.attribute('style');

/** Code of an editor; white space is not collapsed. */
export const CODE_STYLE = /white-space:\s*pre\s*(?:;|$)/i;

export const code = (text: string, language: string): Block => ({
  type: 'code',
  text: text.replaceAll('\u00a0', ' '),
  language,
});

/** Lines of an editor are elements in its box. A part of a line is text. */
export function codeOfEditor(element: HtmlElement): readonly Block[] {
  const lines = element.children.map((child) => (isElement(child) ? htmlTextOf(child).replace(/\n$/, '') : child));
  const text = lines.join(element.children.some((child) => isElement(child) && child.tag === 'div') ? '\n' : '');
  if (text.includes('\n')) return [code(text, '')];
  return text === '' ? [] : [paragraph([plain(text.replaceAll('\u00a0', ' '))])];
}

/** Text of a tree of any depth, with line breaks. */
export function htmlTextOf(element: HtmlElement): string {
  const texts: string[] = [];
  for (const node of nodesIn(element)) {
    if (!isElement(node)) texts.push(node);
    else if (node.tag === 'br') texts.push('\n');
    else if (node.tag === 'div' && /[^\n]$/.test(texts.at(-1) ?? '')) texts.push('\n');
  }
  return texts.join('');
}

/** Nodes of a tree of any depth in document order. */
function* nodesIn(element: HtmlElement): Generator<HtmlNode> {
  const left: HtmlNode[] = [element];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    yield node;
    if (!isElement(node)) continue;
    for (let index = node.children.length - 1; index >= 0; index--) left.push(node.children[index]!);
  }
}

/** Code of a block, without the caption and the buttons that programs add. */
export function codeElement(block: HtmlElement): HtmlElement {
  const [only, ...others] = [...nodesIn(block)].filter((node) => isElement(node) && node.tag === 'code');
  return only !== undefined && others.length === 0 && isElement(only) ? only : block;
}

/** The class of a code block is the language, such as `Python`; that of `pre` begins with `language-`. */
export function languageOf(element: HtmlElement): string {
  const name = `${element.attribute('class')} ${codeElement(element).attribute('class')}`.trim();
  const pattern =
    element.tag === 'codeblock'
      ? /^(?:language-)?([\w+#-]{1,50})(?= |$)/
      : /(?:lang(?:uage)?-|brush: *)([\w+#-]{1,50})/;
  return (pattern.exec(name)?.[1] ?? LANGUAGE.exec(element.attribute('data-language'))?.[0] ?? '').toLowerCase();
}

const LANGUAGE = /^[\w+#-]{1,50}$/;

/** Adds the language that GitHub writes around a code block. */
export function withLanguage(blocks: readonly Block[], element: HtmlElement): readonly Block[] {
  const [, language] = /highlight-(?:source|text)-([\w+#]{1,50})/.exec(element.attribute('class')) ?? [];
  return language === undefined
    ? blocks
    : blocks.map((block) => (block.type === 'code' && block.language === '' ? { ...block, language } : block));
}
