import { isPassedOver } from '@parley/domain/messages';
import { lazily } from '../characters.js';
import { readTokens } from './rendered-html.js';

/** A word, a number or an address in a text, and what it is searched by. */
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
 * What words that were met before, as they were written, are searched by; empty: they are passed over. Stemming one takes some
 * microseconds, and texts say the same again and again.
 */
const terms = new Map<string, string>();
const MAX_TERMS = 20_000;
/** No word of a language is longer, and stemming what is takes time that grows with the square of its length. */
const MAX_STEMMED_LENGTH = 40;

/** V8 keeps a part of a text that is as long, or longer, as a reference to the whole text. */
const SLICED = 13;

const NUMBER = /^[0-9]+$/;

function termOf(word: string): string {
  const known = terms.get(word);
  if (known !== undefined) return known;
  // Numbers have no endings, and each would take the place of a word in the cache.
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
/** The same as below of such texts, in a fraction of the time. */
const ASCII_WORDS = /[a-z0-9]+(?:[-.@/_+][a-z0-9]+)*/gi;
const WORDS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[-.@/_+][\p{L}\p{M}\p{N}]+)*/gu;
const PLAIN = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;

/** What words and addresses are put together with. */
const JOINING = /[-.@/_+:]/;
const SPACE = /\s/;

/** Not where a sentence ends: what is joined has something behind it. */
const isJoinedAt = (text: string, end: number): boolean =>
  end + 1 < text.length && JOINING.test(text[end]!) && !SPACE.test(text[end + 1]!);

/**
 * The words of a text. Addresses are one word and hyphenated words are one and their parts, so words may overlap. The
 * commonest words are left out.
 */
export function findWords(text: string): Word[] {
  const words: Word[] = [];
  const addresses = new AddressFinder(text);
  const pattern = ASCII.test(text) ? ASCII_WORDS : WORDS;
  for (let match = next(pattern, text, 0); match; ) {
    const start = match.index;
    // Most words are nothing else.
    const plainEnd = start + match[0].length;
    if (!JOINING.test(match[0]) && !isJoinedAt(text, plainEnd)) {
      addPlain(words, start, match[0]);
      match = next(pattern, text, plainEnd);
      continue;
    }
    const addressEnd = addresses.endFrom(start);
    const end = Math.max(start + match[0].length, addressEnd);
    if (addressEnd !== -1) addAddress(words, start, text.slice(start, addressEnd));
    // The scheme of an address is not part of it.
    else if (!text.startsWith('://', end)) addCompound(words, start, match[0]);
    match = next(pattern, text, end);
  }
  return words;
}

const MAIL_NAME = /[\p{L}\p{N}._+-]+/uy;
const HOST = /[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*/uy;
const PATH = /\/[^\s"'<>)\]]*/y;

/**
 * Where addresses end: `name@host.example`, `host.example/path`. Asked for one word after the other; what a run of
 * characters is followed by is the same for all words in it, and found out once.
 */
class AddressFinder {
  private name = { end: -1, addressEnd: -1 };
  private host = { end: -1, lastDot: -1 };

  constructor(private readonly text: string) {}

  /** -1 where no address begins. */
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

/** Where a match that begins right here ends; -1 when there is none. */
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
