import { readTokens } from './html-tokens.js';
import { findWords } from './search-words.js';

const ENTITY = /&(?:#\w+|\w+);/g;

/** The HTML with every word searched for marked; tags, attributes and formulas stay as they are. */
export function highlightContent(html: string, operands: readonly string[]): string {
  const terms = termsOf(operands);
  if (terms.size === 0) return html;
  let result = '';
  for (const token of readTokens(html)) {
    result += token.kind === 'text' ? mark(token.html, maskEntities(token.html), terms, (text) => text) : token.html;
  }
  return result;
}

/** The topic in HTML, with every word searched for marked. */
export function highlightTopic(topic: string, operands: readonly string[]): string {
  return mark(topic, topic, termsOf(operands), escapeTopic);
}

/** Each once. */
export const searchTerms = (text: string): readonly string[] => [...new Set(findWords(text).map(({ term }) => term))];

/** Pages are marked for the same operands, message by message. */
const termsOfOperands = new WeakMap<readonly string[], ReadonlySet<string>>();

function termsOf(operands: readonly string[]): ReadonlySet<string> {
  const known = termsOfOperands.get(operands);
  if (known) return known;
  const terms = new Set(operands.flatMap(searchTerms));
  termsOfOperands.set(operands, terms);
  return terms;
}

/** Words are looked for in `searched`, which has the length of `text`. */
function mark(text: string, searched: string, terms: ReadonlySet<string>, toHtml: (text: string) => string): string {
  let result = '';
  let done = 0;
  for (const { start, end } of joinOverlapping(findWords(searched).filter(({ term }) => terms.has(term)))) {
    result += `${toHtml(text.slice(done, start))}<span class="highlight">${toHtml(text.slice(start, end))}</span>`;
    done = end;
  }
  return result + toHtml(text.slice(done));
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function joinOverlapping(ranges: readonly Range[]): Range[] {
  const joined: Range[] = [];
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last && start < last.end) joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, end) };
    else joined.push({ start, end });
  }
  return joined;
}

const maskEntities = (html: string) =>
  !html.includes('&') ? html : html.replace(ENTITY, (entity) => ' '.repeat(entity.length));

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
};

const escapeTopic = (text: string) => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
