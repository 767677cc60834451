import type { SearchedTerm } from '@parley/domain/markdown';

/** Minimum length of both parts of a compound. */
const MIN_PART = 4;

/** Beginnings of German and Dutch words that are no parts of a compound. */
const PREFIXES =
  /^(?:nach|uber|unter|durch|wieder|wider|zuruck|zusammen|hinter|gegen|voll|fort|nieder|zwischen|over|onder|door|terug|samen|tegen|achter|voor)/;
/** Ends of stems that are no parts of a compound. */
const SUFFIXES = /(?:schaft|heit|keit|lich|isch|haft|itat|ismus|ierung|schap|heid|lijk|achtig|atie|iteit)$/;

const reversed = (text: string): string => [...text].reverse().join('');
const lengthIn = (stem: string, pattern: RegExp): number => pattern.exec(stem)?.[0].length ?? 0;

/**
 * Returns terms of a compound, such as `kundenkonto`, that begin with those of its first and last part. They lack so
 * many letters that a part which leaves no other part finds nothing.
 */
export function compoundTerms(stem: string): readonly string[] {
  if (stem.length < 2 * MIN_PART) return [];
  const first = stem.slice(0, -Math.max(MIN_PART, lengthIn(stem, SUFFIXES) + 1));
  const last = reversed(stem.slice(Math.max(MIN_PART, lengthIn(stem, PREFIXES) + 1)));
  return [...(first.length < MIN_PART ? [] : [`>${first}`]), ...(last.length < MIN_PART ? [] : [`<${last}`])];
}

/** Returns the beginnings of terms of compounds with this part. */
export function partTerms(stem: string): readonly SearchedTerm[] {
  const isPart = stem.length >= MIN_PART && lengthIn(stem, PREFIXES) < stem.length;
  return isPart ? [{ beginning: `>${stem}` }, { beginning: `<${reversed(stem)}` }] : [];
}
