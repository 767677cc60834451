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

const STOP_WORDS = new Set(
  `i me my myself we our ours ourselves you your yours yourself yourselves he him himself she her hers herself it its
   itself they them their theirs themselves what which who whom this that these those am is are was were be been have
   had having do did doing a an the and but if or because as until while of at by for with about against between into
   through during before above below to from up down in out on off over again further then once here there when where
   why how all any both each few more most other some such no nor not only own same so than too very s t can will just
   don should now b c d e f g h j k l m n o p q r u v w x y z`.split(/\s+/),
);

const ADDRESS =
  /[\p{L}\p{N}._+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+|[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+(?:\/[^\s"'<>)\]]*)?/uy;
const WORDS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[-.@/_+][\p{L}\p{M}\p{N}]+)*/gu;
const PLAIN = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;

/**
 * The words of a text. Addresses are one word and hyphenated words are one and their parts, so words may overlap. The
 * commonest words are left out.
 */
export function findWords(text: string): Word[] {
  const words: Word[] = [];
  for (let match = next(WORDS, text, 0); match; ) {
    const start = match.index;
    ADDRESS.lastIndex = start;
    const address = ADDRESS.exec(text)?.[0];
    const end = start + Math.max(match[0].length, address?.length ?? 0);
    if (address) addAddress(words, start, address);
    // The scheme of an address is not part of it.
    else if (!text.startsWith('://', end)) addCompound(words, start, match[0]);
    match = next(WORDS, text, end);
  }
  return words;
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
  for (const { 0: word, index } of compound.matchAll(PLAIN)) {
    const lowered = word.toLowerCase();
    if (STOP_WORDS.has(lowered)) continue;
    words.push({ start: start + index, end: start + index + word.length, term: stemmer().stem(lowered) });
  }
}

function next(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}
