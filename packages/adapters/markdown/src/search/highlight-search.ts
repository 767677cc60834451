import type { SearchedTerm, WordOccurrences } from '@parley/domain/markdown';
import { plainHyphens, uploadTermsIn } from '@parley/domain/messages';
import { readTokens, searchableText } from '../rendered/rendered-html.js';
import { forEachTerm, searchedWords, WantedTerms } from './search-terms.js';
import { FILLER, isDense } from './text-parts.js';
import { DETECTED_LANGUAGES, type Language } from './word-forms.js';

const ENTITY = /&(?:#\w+|\w+);/g;
/** Ampersand with the length of its entity. */
const AMPERSAND = `&${FILLER.repeat(4)}`;

/**
 * Marks every matching word in HTML, and the texts of links to these files; tags, attributes and formulas stay
 * unchanged.
 */
export function highlightContent(
  html: string,
  operands: readonly string[],
  languages = DETECTED_LANGUAGES,
  fileLinks: readonly string[] = [],
): string {
  const wanted = { ...matcherFor(operands), languages: languages.of(searchableText(html)) };
  let result = '';
  let isInFileLink = false;
  for (const token of readTokens(html)) {
    if (token.kind !== 'text') {
      if (fileLinks.length > 0 && token.kind !== 'formula' && token.tag === 'a') {
        isInFileLink = token.kind === 'open' && uploadTermsIn(token.html).some((term) => fileLinks.includes(term));
      }
      result += token.html;
    } else if (isInFileLink) result += highlighted(token.html);
    else result += mark(token.html, maskEntities(token.html), wanted, (text) => text);
  }
  return result;
}

/** Returns the topic as HTML with every matching word marked. */
export function highlightTopic(topic: string, operands: readonly string[], languages = DETECTED_LANGUAGES): string {
  const wanted = { ...matcherFor(operands), languages: languages.of(topic) };
  return mark(topic, topic, wanted, escapeTopic);
}

/** Cached, because all messages of a page use the same operands. */
const matchersOfOperands = new WeakMap<readonly string[], Matcher>();

function matcherFor(operands: readonly string[]): Matcher {
  const existing = matchersOfOperands.get(operands);
  if (existing) return existing;
  const matcher = matcherOf(operands.flatMap((operand) => searchedWords(operand)).flat(2));
  matchersOfOperands.set(operands, matcher);
  return matcher;
}

interface Matcher {
  readonly isWanted: (term: string) => boolean;
  readonly wanted: WantedTerms;
}

function matcherOf(searched: readonly SearchedTerm[]): Matcher {
  const terms = new Set(searched);
  // Single letters of scripts without spaces are terms here; as beginnings they would also mark pairs.
  const beginnings = searched.flatMap((term) =>
    typeof term === 'string' || isDense(term.beginning) ? [] : [term.beginning],
  );
  // Fast path: most terms of messages have another first letter.
  const first = new Set(beginnings.map((beginning) => beginning[0]));
  return {
    isWanted: (term) =>
      terms.has(term) || (first.has(term[0]) && beginnings.some((beginning) => term.startsWith(beginning))),
    wanted: new WantedTerms(searched),
  };
}

/** Positions per word, which bounds the time to compare those of different words. */
const MAX_POSITIONS = 20;
const TYPED_WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;

/** Returns a function that finds the words of a query in a text, in the order of the query. */
export function occurrences(
  query: string,
  languages = DETECTED_LANGUAGES,
): (text: string) => readonly WordOccurrences[] {
  const searched = searchedWords(query);
  const words = searched.map((word) => matcherOf(word.flat()).isWanted);
  const wanted = new WantedTerms(searched.flat(2));
  const typed = new Set(plainHyphens(query).toLowerCase().match(TYPED_WORD));
  return (text) => {
    const found = words.map(() => ({ asTyped: 0, positions: [] as number[] }));
    const note = (start: number, end: number, term: string) => {
      for (const [index, isWanted] of words.entries()) {
        const { positions } = found[index]!;
        // A word has several terms.
        if (positions.length === MAX_POSITIONS || positions.at(-1) === start || !isWanted(term)) continue;
        positions.push(start);
        if (typed.has(plainHyphens(text.slice(start, end)).toLowerCase())) found[index]!.asTyped++;
      }
    };
    forEachTerm(text, note, { languages: languages.of(text), wanted });
    return found;
  };
}

interface Wanted extends Matcher {
  /** Languages of the text, besides English. */
  readonly languages: readonly Language[];
}

/** Searches in `searched`, which has the length of `text`. */
function mark(
  text: string,
  searched: string,
  { isWanted, wanted, languages }: Wanted,
  toHtml: (text: string) => string,
): string {
  const found: Range[] = [];
  const add = (start: number, end: number, term: string) => {
    if (isWanted(term)) found.push({ start, end });
  };
  forEachTerm(searched, add, { languages, wanted });
  let result = '';
  let done = 0;
  for (const { start, end } of joinOverlapping(found)) {
    result += `${toHtml(text.slice(done, start))}${highlighted(toHtml(text.slice(start, end)))}`;
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

const highlighted = (html: string): string => `<span class="highlight">${html}</span>`;

const maskEntities = (html: string) =>
  !html.includes('&')
    ? html
    : html.replace(ENTITY, (entity) => (entity === '&amp;' ? AMPERSAND : ' '.repeat(entity.length)));

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
};

const escapeTopic = (text: string) => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
