import { isPassedOver } from '@parley/domain/messages';
import { lazily } from '../lazy.js';

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

/** Words that were met before: stemming one takes some microseconds, and texts say the same again and again. */
const stems = new Map<string, string>();
const MAX_STEMS = 20_000;
/** No word of a language is longer, and stemming what is takes time that grows with the square of its length. */
const MAX_STEMMED_LENGTH = 40;

const NUMBER = /^[0-9]+$/;

function stemOf(word: string): string {
  // Numbers have no endings, and each would take the place of a word in the cache.
  if (NUMBER.test(word)) return word;
  if (word.length > MAX_STEMMED_LENGTH) return word;
  let stem = stems.get(word);
  if (stem === undefined) {
    stem = stemmer().stem(word);
    if (stems.size >= MAX_STEMS) stems.clear();
    stems.set(word, stem);
  }
  return stem;
}

const ASCII = /^[\0-\x7f]*$/;
/** The same as below of such texts, in a fraction of the time. */
const ASCII_WORDS = /[a-z0-9]+(?:[-.@/_+][a-z0-9]+)*/gi;
const WORDS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[-.@/_+][\p{L}\p{M}\p{N}]+)*/gu;
const PLAIN = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;

/** What words and addresses are put together with. */
const JOINING = /[-.@/_+:]/;

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
    if (!JOINING.test(match[0]) && !JOINING.test(text[plainEnd] ?? '')) {
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
  const lowered = word.toLowerCase();
  if (!isPassedOver(lowered)) words.push({ start, end: start + word.length, term: stemOf(lowered) });
}

function next(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}
