import type { SearchedTerm } from '@parley/domain/markdown';

/** Minimum length of both parts of a compound. */
const MIN_PART = 4;

/** Letters that a stem lacks if the stemmer takes the last part for an ending, as in `Sommerfest`. */
const MIN_LOST = 3;

/** German and Dutch prefixes, which do not count as the first part of a compound. */
const PREFIXES =
  /^(?:nach|uber|unter|durch|wieder|wider|zuruck|zusammen|hinter|gegen|voll|fort|nieder|zwischen|over|onder|door|terug|samen|tegen|achter|voor)/;
/** German and Dutch suffixes, which do not count as the last part of a compound. */
const SUFFIXES = /(?:schaft|heit|keit|lich|isch|haft|itat|ismus|ierung|schap|heid|lijk|achtig|atie|iteit)$/;

const reversed = (text: string): string => [...text].reverse().join('');
const lengthIn = (stem: string, pattern: RegExp): number => pattern.exec(stem)?.[0].length ?? 0;

/**
 * Returns the index terms of a compound: `>kundenk` and `<otnokne` for `kundenkonto`. Each omits the shortest possible
 * other part, so that searches match only if at least that much of the word remains.
 * @param word lower-case word without diacritics
 */
export function compoundTerms(stem: string, word: string): readonly string[] {
  if (word.length - stem.length >= MIN_LOST) return [...compoundTerms(stem, stem), ...lastPart(word)];
  if (stem.length < 2 * MIN_PART) return [];
  const first = stem.slice(0, -Math.max(MIN_PART, lengthIn(stem, SUFFIXES) + 1));
  return [...(first.length < MIN_PART ? [] : [`>${first}`]), ...lastPart(stem)];
}

function lastPart(text: string): readonly string[] {
  const last = reversed(text.slice(Math.max(MIN_PART, lengthIn(text, PREFIXES) + 1)));
  return last.length < MIN_PART ? [] : [`<${last}`];
}

/** Word such as `daten` that is a usual part of compounds although its stem is shorter. */
const SHORT_STEM = /^[^aeiou].{4}/;

/** Returns the beginnings of index terms of compounds with this first or last part, a word with this stem. */
export function partTerms(stem: string, word: string): readonly SearchedTerm[] {
  const isPart = stem.length >= MIN_PART && lengthIn(stem, PREFIXES) < stem.length;
  if (isPart) return [{ beginning: `>${stem}` }, { beginning: `<${reversed(stem)}` }];
  const isWhole = stem.length === MIN_PART - 1 && word.length === MIN_PART;
  if (isWhole) return [{ beginning: `>${word}` }, { beginning: `<${reversed(word)}` }];
  const isShort = stem.length === MIN_PART - 1 && SHORT_STEM.test(word);
  return isShort ? [{ beginning: `>${word}` }, { beginning: `<${reversed(stem)}` }] : [];
}
