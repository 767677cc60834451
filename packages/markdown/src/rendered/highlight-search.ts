import { isPassedOver } from '@parley/domain/messages';
import { lazily } from '../characters.js';
import { readTokens } from './rendered-html.js';

/** Word, number or address in a text, with its search term. */
export interface Word {
  readonly start: number;
  readonly end: number;
  readonly term: string;
}

interface Stemmer {
  stem(word: string): string;
}

const stemmer = lazily((require) =>
  (require('snowball-stemmers') as { newStemmer(language: string): Stemmer }).newStemmer('english'),
);

/**
 * Cache of search terms by word; empty for ignored words. Stemming takes microseconds, and texts repeat the same
 * words.
 */
const terms = new Map<string, string>();
const MAX_TERMS = 20_000;
/** Longer than any word of a language. Stemming time grows with the square of the length. */
const MAX_STEMMED_LENGTH = 40;

/** Minimum length of a substring that V8 stores as a reference to the whole text. */
const SLICED = 13;

const NUMBER = /^[0-9]+$/;

function termOf(word: string): string {
  const existing = terms.get(word);
  if (existing !== undefined) return existing;
  // Numbers need no stemming and would evict words from the cache.
  if (NUMBER.test(word)) return isPassedOver(word) ? '' : word;
  const lowered = word.toLowerCase();
  const term = isPassedOver(lowered) ? '' : lowered.length > MAX_STEMMED_LENGTH ? lowered : stemmer().stem(lowered);
  if (word.length <= MAX_STEMMED_LENGTH) {
    if (terms.size >= MAX_TERMS) terms.clear();
    terms.set(word.length < SLICED ? word : word.split('').join(''), term);
  }
  return term;
}

const ASCII = /^[\0-\x7f]*$/;
/** Faster equivalent of `WORDS` for ASCII texts. */
const ASCII_WORDS = /[a-z0-9]+(?:[-.@/_+][a-z0-9]+)*/gi;
const WORDS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[-.@/_+][\p{L}\p{M}\p{N}]+)*/gu;
const PLAIN = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;

/** Characters that join words and addresses. */
const JOINING = /[-.@/_+:]/;
const SPACE = /\s/;

/** Requires a following character, which excludes the end of a sentence. */
const isJoinedAt = (text: string, end: number): boolean =>
  end + 1 < text.length && JOINING.test(text[end]!) && !SPACE.test(text[end + 1]!);

/**
 * Returns the words of a text without the most common ones. Words may overlap: an address is one word, and a
 * hyphenated word is returned as a whole and in parts.
 */
export function findWords(text: string): Word[] {
  const words: Word[] = [];
  const addresses = new AddressFinder(text);
  const pattern = ASCII.test(text) ? ASCII_WORDS : WORDS;
  for (let match = next(pattern, text, 0); match; ) {
    const start = match.index;
    // Fast path for most words.
    const plainEnd = start + match[0].length;
    if (!JOINING.test(match[0]) && !isJoinedAt(text, plainEnd)) {
      addPlain(words, start, match[0]);
      match = next(pattern, text, plainEnd);
      continue;
    }
    const addressEnd = addresses.endFrom(start);
    const end = Math.max(start + match[0].length, addressEnd);
    if (addressEnd !== -1) addAddress(words, start, text.slice(start, addressEnd));
    // Deleted atoms by the new atom that follows or replaces them; null for deletions at the beginning.
    else if (!text.startsWith('://', end)) addCompound(words, start, match[0]);
    match = next(pattern, text, end);
  }
  return words;
}

const MAIL_NAME = /[\p{L}\p{N}._+-]+/uy;
const HOST = /[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*/uy;
const PATH = /\/[^\s"'<>)\]]*/y;

/**
 * Finds the ends of addresses such as `name@host.example` or `host.example/path`. Results are shared by all words of
 * the same run of characters, so positions must ascend.
 */
class AddressFinder {
  private name = { end: -1, addressEnd: -1 };
  private host = { end: -1, lastDot: -1 };

  constructor(private readonly text: string) {}

  /** Returns -1 if no address starts here. */
  endFrom(start: number): number {
    const mailEnd = this.mailEnd(start);
    if (mailEnd !== -1) return mailEnd;
    const { end, lastDot } = this.hostFrom(start);
    if (lastDot <= start) return -1;
    return this.text[end] === '/' ? endOf(PATH, this.text, end) : end;
  }

  private mailEnd(start: number): number {
    if (start >= this.name.end) {
      const end = endOf(MAIL_NAME, this.text, start);
      const hostEnd = this.text[end] === '@' ? endOf(HOST, this.text, end + 1) : -1;
      const hasDot = hostEnd !== -1 && this.text.slice(end, hostEnd).includes('.');
      this.name = { end, addressEnd: hasDot ? hostEnd : -1 };
    }
    return this.name.addressEnd;
  }

  private hostFrom(start: number): { readonly end: number; readonly lastDot: number } {
    if (start >= this.host.end) {
      const end = endOf(HOST, this.text, start);
      const dot = this.text.slice(start, end).lastIndexOf('.');
      this.host = { end, lastDot: dot === -1 ? -1 : start + dot };
    }
    return this.host;
  }
}

/** Returns the end of a match exactly at this position; -1 if there is none. */
function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

function addAddress(words: Word[], start: number, address: string): void {
  words.push({ start, end: start + address.length, term: address.toLowerCase() });
  const slash = address.indexOf('/');
  if (slash === -1) return;
  words.push({ start, end: start + slash, term: address.slice(0, slash).toLowerCase() });
  words.push({ start: start + slash, end: start + address.length, term: address.slice(slash).toLowerCase() });
}

function addCompound(words: Word[], start: number, compound: string): void {
  if (/^[^-]+(?:-[^-]+)+$/.test(compound)) {
    words.push({ start, end: start + compound.length, term: compound.toLowerCase() });
  }
  for (const { 0: word, index } of compound.matchAll(PLAIN)) addPlain(words, start + index, word);
}

function addPlain(words: Word[], start: number, word: string): void {
  const term = termOf(word);
  if (term !== '') words.push({ start, end: start + word.length, term });
}

function next(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}

const ENTITY = /&(?:#\w+|\w+);/g;

/** Marks every matching word in HTML; tags, attributes and formulas stay unchanged. */
export function highlightContent(html: string, operands: readonly string[]): string {
  const terms = termsOf(operands);
  if (terms.size === 0) return html;
  let result = '';
  for (const token of readTokens(html)) {
    result += token.kind === 'text' ? mark(token.html, maskEntities(token.html), terms, (text) => text) : token.html;
  }
  return result;
}

/** Returns the topic as HTML with every matching word marked. */
export function highlightTopic(topic: string, operands: readonly string[]): string {
  return mark(topic, topic, termsOf(operands), escapeTopic);
}

/** Without duplicates. */
export const searchTerms = (text: string): readonly string[] => [...new Set(findWords(text).map(({ term }) => term))];

/** Cached, because all messages of a page use the same operands. */
const termsOfOperands = new WeakMap<readonly string[], ReadonlySet<string>>();

function termsOf(operands: readonly string[]): ReadonlySet<string> {
  const existing = termsOfOperands.get(operands);
  if (existing) return existing;
  const terms = new Set(operands.flatMap(searchTerms));
  termsOfOperands.set(operands, terms);
  return terms;
}

/** Searches in `searched`, which has the length of `text`. */
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
