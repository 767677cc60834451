import type { StoredUpload } from '@parley/domain/markdown';
import { trim } from '../characters.js';
import { type Attributes, Element, HtmlStash, writeHtml } from '../html/html.js';
import { uploadPath } from '../links/url.js';
import { attributesOfUpload, LOADING } from '../previews.js';

/** A piece of rendered HTML: what messages hold is well formed, and of few shapes. */
export type HtmlToken =
  | { readonly kind: 'open' | 'close' | 'void'; readonly tag: string; readonly html: string }
  | { readonly kind: 'text'; readonly html: string }
  /** As a whole, since it may be thousands of tags that nobody but a browser looks at. */
  | { readonly kind: 'formula'; readonly html: string };

const TOKEN = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)[^>"']*(?:(?:"[^"]*"|'[^']*')[^>"']*)*>|[^<]+|</g;
const VOID_TAGS = new Set(['br', 'hr', 'img', 'input', 'meta', 'link', 'wbr']);
const FORMULA = '<span class="katex">';
const SPAN = /<(\/?)span[\s>]/g;
const ATTRIBUTE = /\s([^\s=>"'/]+)=(?:"([^"]*)"|'([^']*)')/g;

export function* readTokens(html: string): Generator<HtmlToken> {
  for (let at = 0; at < html.length; ) {
    // Whoever reads the tokens may read those of another text in between.
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(html);
    if (!match) return;
    const [piece, slash, name] = match;
    at = TOKEN.lastIndex;
    if (name === undefined) {
      yield { kind: 'text', html: piece };
    } else if (piece === FORMULA) {
      const end = endOfSpan(html, match.index);
      yield { kind: 'formula', html: html.slice(match.index, end) };
      at = end;
    } else {
      const tag = name.toLowerCase();
      const isVoid = VOID_TAGS.has(tag) || piece.endsWith('/>');
      yield { kind: isVoid ? 'void' : slash === '/' ? 'close' : 'open', tag, html: piece };
    }
  }
}

function endOfSpan(html: string, start: number): number {
  const pattern = new RegExp(SPAN);
  pattern.lastIndex = start;
  let depth = 0;
  for (let match = pattern.exec(html); match; match = pattern.exec(html)) {
    depth += match[1] === '/' ? -1 : 1;
    if (depth === 0) return pattern.lastIndex;
  }
  return html.length;
}

/** The attributes of an opening tag that have a value, in their order, decoded. */
export function* attributesOf(tag: string): Generator<readonly [name: string, value: string]> {
  if (!tag.includes('=')) return;
  for (const [, name, value, other] of tag.matchAll(ATTRIBUTE)) yield [name!, decodeEntities(value ?? other ?? '')];
}

/** Null when it is not there. */
export function attributeOf(tag: string, wanted: string): string | null {
  if (!tag.includes(wanted)) return null;
  for (const [name, value] of attributesOf(tag)) if (name === wanted) return value;
  return null;
}

export function hasClass(tag: string, name: string): boolean {
  return tag.includes(name) && (attributeOf(tag, 'class') ?? '').split(' ').includes(name);
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  euro: '€',
};

/** Those that rendering makes, numbers, and the few that people type; any other stays as it is. */
export function decodeEntities(html: string): string {
  if (!html.includes('&')) return html;
  return html.replace(/&(?:#(\d+)|#[xX]([0-9a-fA-F]+)|([a-zA-Z]+));/g, (entity, decimal, hexadecimal, name) => {
    if (name !== undefined) return NAMED[name] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) ? String.fromCodePoint(code) : entity;
  });
}

/** The tag of an element that stands for a formula, with its source for a text. */
export const FORMULA_TAG = 'formula';

/** Rendered HTML as a tree again. */
export function readHtml(html: string): Element {
  const root = new Element('div');
  const open = [root];
  for (const token of readTokens(html)) {
    const parent = open.at(-1)!;
    if (token.kind === 'text') addText(parent, decodeEntities(token.html));
    else if (token.kind === 'formula') addFormula(parent, token.html);
    else if (token.kind === 'close') {
      const at = open.findLastIndex(({ tag }) => tag === token.tag);
      if (at > 0) open.length = at;
    } else {
      const child = parent.append(token.tag, meaningfulAttributes(token.html));
      if (token.kind === 'open') open.push(child);
    }
  }
  return root;
}

function addText(parent: Element, text: string): void {
  const last = parent.lastChild;
  if (last) last.tail += text;
  else parent.text += text;
}

/** What is left of it is its source. */
function addFormula(parent: Element, html: string): void {
  const formula = parent.append(FORMULA_TAG);
  formula.text = sourceOf(html);
}

const SOURCE = /<annotation[^>]*>([^<]*)/;

/** Of a formula, as it was typed. */
export const sourceOf = (formula: string): string => decodeEntities(SOURCE.exec(formula)?.[1] ?? '');

/** Of all attributes only these say anything about the text. */
const MEANINGFUL = new Set(['class', 'alt', 'start', 'encoding']);

function meaningfulAttributes(tag: string): Readonly<Record<string, string>> | undefined {
  let attributes: Record<string, string> | undefined;
  for (const [name, value] of attributesOf(tag)) {
    if (!MEANINGFUL.has(name)) continue;
    attributes ??= {};
    attributes[name] ??= value;
  }
  return attributes;
}

const EMOJI_CODE = /(?:^| )emoji-(\S+)/;

/** What a notification says. Spoilers stay closed. */
export function plainText(html: string): string {
  return write(readHtml(html), 0);
}

/** Everything there is to find in a message, spoilers included. */
export function searchableText(html: string): string {
  let text = '';
  for (const token of readTokens(html)) {
    if (token.kind === 'text') text += decodeEntities(token.html);
    else if (token.kind === 'formula') text += sourceOf(token.html);
    else if (token.tag === 'img' && token.kind !== 'close') text += ` ${attributeOf(token.html, 'alt') ?? ''} `;
  }
  return text;
}

/** An element and what follows it; lists of numbers and spoilers take the place of what follows. */
function write(element: Element, depth: number): string {
  if (element.tag === 'ol') return writeNumbers(element, depth);
  if (hasClassPlainText(element, 'spoiler-block')) return writeSpoiler(element, depth);
  const inside = element.children.map((child) => write(child, depth)).join('');
  if (element.tag === 'blockquote') return quoted(inside) + element.tail;
  return ownText(element) + inside + element.tail;
}

function ownText(element: Element): string {
  const code = hasClassPlainText(element, 'emoji') ? EMOJI_CODE.exec(element.attributes.class!)?.[1] : undefined;
  if (code) return String.fromCodePoint(...code.split('-').map((point) => Number.parseInt(point, 16)));
  if (element.tag === FORMULA_TAG) return `$$${element.text}$$`;
  return element.tag === 'img' ? (element.attributes.alt ?? '') : element.text;
}

function writeNumbers(list: Element, depth: number): string {
  const start = Number(list.attributes.start ?? 1);
  const indent = depth === 0 ? '' : `\n${'  '.repeat(depth)}`;
  return list.children.map((item, i) => `${indent}${start + i}. ${write(item, depth + 1).trim()}`).join('\n');
}

function writeSpoiler(spoiler: Element, depth: number): string {
  const header = spoiler.children[0] ? write(spoiler.children[0], depth).trim() : '';
  return header === '' ? '(…)\n' : `${header} (…)\n`;
}

function quoted(text: string): string {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `> ${line}\n`)
    .join('');
}

const hasClassPlainText = (element: Element, name: string) =>
  (element.attributes.class ?? '').split(' ').includes(name);

/**
 * As `writeHtml` writes them: with the preview around one that stands behind a link, or where it was written. Nothing that somebody typed
 * looks like that, as its angle brackets and quotation marks are escaped.
 */
const PLACEHOLDER = new RegExp(
  `<div class="message_inline_image"><a href="([^"]*)"[^>]*><img class="${LOADING}"[^>]*></a></div>|` +
    `<img alt="([^"]*)" class="inline-image ${LOADING}"[^>]* data-original-src="([^"]*)"[^>]*>`,
  'g',
);

/**
 * Shows images in the place of their placeholders; those that cannot be shown are left out. `uploadOf`: by path as typed; null: its
 * placeholder stays.
 */
export function showThumbnails(html: string, uploadOf: (path: string) => StoredUpload | null): string {
  if (!html.includes(LOADING)) return html;
  const shown = html.replace(PLACEHOLDER, (placeholder: string, href?: string, alt = '', source = '') => {
    const address = decodeEntities(href ?? source);
    const path = uploadPath(address, '');
    const upload = path === null ? null : uploadOf(path);
    if (path === null || !upload?.image || upload.image.thumbnail === 'pending') return placeholder;
    const attributes = attributesOfUpload(upload.contentType, upload.image, path, address);
    if (!attributes) return '';
    if (href !== undefined) return placeholder.replace(/<img[^>]*>/, () => image(attributes));
    const about = { alt: decodeEntities(alt), class: 'inline-image', 'data-original-src': address };
    return image({ ...attributes, ...about });
  });
  // What was left out may have been the last of it.
  return trim(shown);
}

function image(attributes: Attributes): string {
  const root = new Element('div');
  root.append('img', attributes);
  return writeHtml(root, new HtmlStash());
}
