import type { Element } from '../html/element.js';
import { attributeOf, decodeEntities, readTokens } from './html-tokens.js';
import { FORMULA_TAG, readHtml, sourceOf } from './read-html.js';

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
  if (hasClass(element, 'spoiler-block')) return writeSpoiler(element, depth);
  const inside = element.children.map((child) => write(child, depth)).join('');
  if (element.tag === 'blockquote') return quoted(inside) + element.tail;
  return ownText(element) + inside + element.tail;
}

function ownText(element: Element): string {
  const code = hasClass(element, 'emoji') ? EMOJI_CODE.exec(element.attributes.class!)?.[1] : undefined;
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

const hasClass = (element: Element, name: string) => (element.attributes.class ?? '').split(' ').includes(name);
