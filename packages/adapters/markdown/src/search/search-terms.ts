import type { SearchedTerm, SearchedWord, SimilarWords, TypedWord } from '@parley/domain/markdown';
import { isPassedOver, MAX_SEARCHED_WORDS, plainHyphens } from '@parley/domain/messages';
import { codeOf, unicodeEmoji } from '../emoji/unicode-emoji.js';
import { compoundTerms, partTerms } from './compounds.js';
import { normalize, normalizeCharacter, plainSpellings, withoutDiacritics } from './letters.js';
import { spellingsNear, spellingsWithTwoSlips } from './misspellings.js';
import { hebrewBeginnings, hebrewForms, inflectionsOf, otherNumbers, withoutEnding } from './other-forms.js';
import { APOSTROPHE, ASCII, CHARACTER, FILLER, isDense, LETTER, NOTHING, PLAIN, visit } from './text-parts.js';
import { hasVietnameseWords, isVietnamese, isVietnameseSyllable } from './vietnamese.js';
import { WordCache } from './word-cache.js';
import { DETECTED_LANGUAGES, type Language, languagesWriting, MAX_STEMMED_LENGTH, stemEnglish } from './word-forms.js';

/** Cache of `indexedForms` by word. Stemming takes microseconds, and texts repeat the same words. */
const forms = new WordCache<readonly string[]>(20_000);

/** Minimum length of a substring that V8 stores as a reference to the whole text. */
const SLICED = 13;

const NUMBER = /^[0-9]+$/;

/** Returns the terms of a text that contains the word; empty for ignored words. */
function indexedForms(word: string): readonly string[] {
  const existing = forms.get(word);
  if (existing !== undefined) return existing;
  // Numbers need no stemming and would evict words from the cache.
  if (NUMBER.test(word)) return isPassedOver(word) ? [] : [word];
  const made = makeIndexedForms(word);
  if (word.length <= MAX_STEMMED_LENGTH) {
    forms.set(word.length < SLICED ? word : word.split('').join(''), made);
  }
  return made;
}

/**
 * A word with diacritics finds the same word and its plain spellings; a plain one finds all of them. A plain spelling
 * of a text's word is therefore marked, which the term of a plain word is not.
 */
function makeIndexedForms(word: string): readonly string[] {
  const lowered = word.toLowerCase();
  if (isPassedOver(lowered)) return [];
  const normalized = normalize(lowered);
  const plain = plainSpellings(normalized).flatMap(withBeginnings).map(asPlainSpelling);
  const parts = partsOf(word);
  const sequences = sequencesOf(parts).flatMap((each) => withBeginnings(each.toLowerCase()));
  return [...new Set([...withBeginnings(normalized), ...plain, ...parts.flatMap(indexedForms), ...sequences])];
}

/**
 * Returns the terms of a text that a search for the word finds; empty for ignored words. Not cached, because only
 * queries need them, and stemming in all languages takes as long as for ten words of a text.
 * @param isUnfinished adds the beginnings of terms
 */
function searchedForms(word: string, isUnfinished: boolean): readonly SearchedTerm[] {
  if (NUMBER.test(word)) return isPassedOver(word) ? [] : [word];
  const lowered = word.toLowerCase();
  if (isPassedOver(lowered)) return [];
  const normalized = normalize(lowered);
  const own = stemEnglish(normalized);
  const plain = plainSpellings(normalized).map(stemEnglish);
  const terms = new Set<SearchedTerm>([
    own,
    ...(plain.length === 0 ? [asPlainSpelling(own)] : plain),
    stemEnglish(lowered),
    ...hebrewForms(normalized),
    ...searchedTermsIn(languagesWriting(lowered), lowered),
  ]);
  if (!isUnfinished) return [...terms];
  const hebrew = hebrewBeginnings(normalized).map((beginning) => ({ beginning }));
  return [...terms, ...beginningsOf(normalized, plain.length === 0), ...hebrew];
}

/**
 * Returns the stem of a normalized word, and the word itself unless all its beginnings are beginnings of the stem. The
 * word without its last letter is the longest beginning, because the whole word is found by its stem.
 */
function withBeginnings(word: string): readonly string[] {
  const stem = stemEnglish(word);
  return stem.startsWith(word.slice(0, -1)) ? [stem] : [stem, word];
}

/** Length of the shortest beginning that finds words. Shorter ones begin too many words. */
const MIN_BEGINNING = 3;
/** Numbers and versions are typed as a whole. */
const ENDS_WITH_DIGIT = /\p{N}$/u;
const HAS_DIGIT = /\p{N}/u;
/** Abbreviated commit or checksum, which unlike numbers and versions is typed in part. */
const HASH = /^(?=.*[a-f])(?=.*[0-9])[0-9a-f]{7,}$/;

/** Name such as `CVE-2024` or `web-03`, but no version. */
const NUMBERED = /\p{L}{2}.*\p{N}$/u;

/** Returns the beginnings of names with further parts, such as `CVE-2024-3094` and `web-03.example.com`. */
const beginningsBeforeParts = (name: string): readonly SearchedTerm[] =>
  name.length <= MAX_STEMMED_LENGTH && NUMBERED.test(name)
    ? [{ beginning: `${name}.` }, { beginning: `${name}-` }]
    : [];

function beginningsOf(beginning: string, isPlain: boolean): readonly SearchedTerm[] {
  const isNumber = ENDS_WITH_DIGIT.test(beginning) && !HASH.test(beginning);
  const isWhole = beginning.length < MIN_BEGINNING || isNumber;
  if (isWhole || beginning.length > MAX_STEMMED_LENGTH) return [];
  return [{ beginning }, ...(isPlain ? [{ beginning: asPlainSpelling(beginning) }] : [])];
}

/** Parts of an identifier such as `HTTPServer`, `fooBar` or `ERR404`. */
const PARTS = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;
const HAS_PARTS = /^(?=.*(?:[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]{2}[0-9]{2}|[0-9]{2}[A-Za-z]{2}))[A-Za-z0-9]+$/;

const partsOf = (word: string): readonly string[] =>
  word.length <= MAX_STEMMED_LENGTH && HAS_PARTS.test(word) ? word.match(PARTS)! : [];

/** Identifiers with more parts are hashes rather than names. */
const MAX_PARTS = 6;

/** Returns the first and the last parts of an identifier, such as `parseHTML` and `HTMLString` of `parseHTMLString`. */
const sequencesOf = (parts: readonly string[]): readonly string[] =>
  parts.length < 3 || parts.length > MAX_PARTS
    ? []
    : parts.slice(2).flatMap((_, index) => [parts.slice(0, index + 2).join(''), parts.slice(index + 1).join('')]);

const SKIN_TONE = /\p{EMod}/gu;

const asPlainSpelling = (term: string): string => `~${term}`;

/** Hyphenated word that is also written without its hyphen, such as `e-mail` or `utf-8`. */
const OPTIONAL_HYPHEN = /^(\p{L}+)-([\p{L}\p{N}]+)$/u;

/** Returns the stem that a hyphenated word has without its hyphen; empty for others. */
function withoutHyphen(exact: string): readonly string[] {
  const [, first, last] = OPTIONAL_HYPHEN.exec(exact) ?? [];
  // The first form is the stem.
  return first === undefined ? [] : indexedForms((first + last).toLowerCase()).slice(0, 1);
}

/** Name such as `api.example.com` or `db-replica-2`. */
const THREE_PARTS = /^[^-.@/]+[-.][^-.@/]+[-.][^@/]+$/;

/** Returns the ends of a name with at least three parts, such as `example.com`. */
function endsOf(name: string): readonly string[] {
  if (name.length > MAX_STEMMED_LENGTH || !THREE_PARTS.test(name)) return [];
  const separators = [...name.matchAll(/[-.]/g)].slice(0, -1);
  return separators.map(({ index }) => name.slice(index + 1));
}

/** Returns the terms of a hyphenated word of a text. */
const hyphenatedForms = (word: string): readonly string[] => [
  ...indexedExactForms(word),
  ...withoutHyphen(word),
  ...singularOf(word),
];

/** Returns a hyphenated word without plural endings, such as `compte-rendu` of `comptes-rendus`; empty for others. */
function singularOf(word: string): readonly string[] {
  return HYPHENATED_WORD.test(word) ? [withoutDiacritics(normalize(word)).replace(PLURAL_ENDING, '')] : [];
}

/** Returns the term of an emoji or its name. */
function emojiTerm(emoji: string): string {
  const { codesByName, namesByCode } = unicodeEmoji();
  if (emoji.startsWith(':')) {
    const name = emoji.slice(1, -1).toLowerCase();
    return `:${codesByName.get(name) ?? name}:`;
  }
  const code = codeOf(emoji);
  const plain = codeOf(emoji.replace(SKIN_TONE, ''));
  return `:${namesByCode.has(code) ? code : plain}:`;
}

/** Returns the terms of a file name, address or hyphenated word of a text. */
function indexedExactForms(exact: string): readonly string[] {
  const normalized = normalize(exact.replaceAll(FILLER, ''));
  return [normalized, ...plainSpellings(normalized).map(asPlainSpelling)];
}

/** Returns the terms of a text that a search for the file name, address or hyphenated word finds. */
function searchedExactForms(exact: string, isUnfinished: boolean): readonly SearchedTerm[] {
  const normalized = normalize(exact);
  const plain = plainSpellings(normalized);
  const isPlain = plain.length === 0;
  // Former releases indexed the lower-case text.
  const terms = new Set([normalized, ...(isPlain ? [asPlainSpelling(normalized)] : plain), exact.toLowerCase()]);
  return [...terms, ...beginningsBeforeParts(normalized), ...(isUnfinished ? beginningsOf(normalized, isPlain) : [])];
}

/** Length of the beginning of a query to look up in the terms of former releases, which bounds the time it takes. */
const MAX_FORMER = 200;

/** Words, and words with joining characters, that former releases indexed although they have letters of dense scripts. */
const FORMER_WORDS = [/[\p{L}\p{N}][\p{L}\p{M}\p{N}\u200b]*/gu, /[\p{L}\p{N}][\p{L}\p{M}\p{N}\u200b\-.@/_+]*/gu];

interface FormerWord {
  readonly start: number;
  readonly end: number;
  readonly terms: readonly string[];
}

/** Returns the words of a query that former releases indexed instead of their parts and pairs. */
function formerWordsIn(text: string): readonly FormerWord[] {
  if (!isDense(text)) return [];
  return FORMER_WORDS.flatMap((pattern) =>
    [...text.slice(0, MAX_FORMER).matchAll(pattern)].map(({ 0: word, index: start }) => {
      const lowered = word.toLowerCase();
      return { start, end: start + word.length, terms: isDense(word) ? [stemEnglish(lowered), lowered] : [] };
    }),
  );
}

/** Common term of all forms of a word in a language other than English. */
const stemIn = (language: Language, word: string): string => `*${language.stem(word)}`;

/** Terms of a text's word in a language. */
function termsIn(language: Language, word: string): readonly string[] {
  const compounds =
    language.hasCompounds && !HAS_DIGIT.test(word) ? compoundTerms(language.stem(word), plainOf(word)) : [];
  return [stemIn(language, word), ...compounds];
}

/** Minimum length of a stem that lacks several letters of the word, or a letter of a word with diacritics. */
const MIN_STEM = 3;

/** Arabic article. Snowball takes some nouns without it for verbs. */
const ARTICLE = '\u0627\u0644';

/** Common terms of all forms of a query's word; several if Snowball does not unite them. */
function searchedStems(language: Language, word: string): readonly string[] {
  if (language.code === 'ar') return [word, ARTICLE + word].map((each) => stemIn(language, each));
  return [stemIn(language, word), ...termsOfOtherNumber(language, word)];
}

/** Terms of the other number of a word in a text, which may have diacritics. */
const termsOfOtherNumber = ({ code }: Language, word: string): readonly string[] =>
  otherNumbers(code, plainOf(word)).flatMap((form) => [stemEnglish(form), asPlainSpelling(stemEnglish(form))]);

/** Terms for a query, which may be in any of these languages. */
function searchedTermsIn(languages: readonly Language[], word: string): readonly SearchedTerm[] {
  // The Czech stem `ha` of `haus` would find other words, and so would `ba` of the Vietnamese `bán`.
  const stemmed = languages.filter((language) => {
    const { length } = language.stem(word);
    return length >= MIN_STEM || word.length - length <= (ASCII.test(word) ? 1 : 0);
  });
  const withCompounds = HAS_DIGIT.test(word) ? [] : stemmed.filter(({ hasCompounds }) => hasCompounds);
  // Each beginning is looked up in the index, and most German and Dutch stems are equal.
  const parts = new Set(withCompounds.map((language) => language.stem(word)));
  return [
    ...stemmed.flatMap((language) => searchedStems(language, word)),
    ...[...parts].flatMap((stem) => partTerms(stem, word)),
  ];
}

/** Host, file name or hyphenated word in a path. */
const SEGMENT = /[\p{L}\p{M}\p{N}_]+(?:[-.][\p{L}\p{M}\p{N}_]+)+/gu;
const HYPHENATED_WORD = /^\p{L}{3,}(?:-\p{L}{3,})+$/u;
const PLURAL_ENDING = /[sx](?=-|$)/g;
const NAME_SEPARATOR = /[-_]/;
const HYPHENATED = /[\p{L}\p{M}\p{N}]+(?:-[\p{L}\p{M}\p{N}]+)+/gu;
/** Name of an email address before its host, or the letter before the number of a version. */
const ADDRESS_START = /^([^@/]+@|v(?=\d))(.+)$/i;

/** Maximum number of distinct words of a text with stems in its languages. Further words have the terms of English. */
const MAX_STEMMED_WORDS = 400;

interface TermOptions {
  /** Languages of the whole message, if the text is a part of one. */
  readonly languages?: readonly Language[];
  /** Skips words that have no term of these. */
  readonly wanted?: WantedTerms | undefined;
}

type UseTerm = (start: number, end: number, term: string, isIndexed?: boolean) => void;

/** Maps positions in a text without soft hyphens to positions in the text. */
function inText(typed: string, use: UseTerm): UseTerm {
  const kept = [...typed.matchAll(/[^\u00ad]/g)].map(({ index }) => index);
  return (start, end, ...term) => use(kept[start]!, kept[end - 1]! + 1, ...term);
}

/**
 * Calls `use` with each term of a text, except those of ignored words, and with its position. The index omits letters that
 * begin a pair, since beginnings of terms find them.
 */
export function forEachTerm(
  typed: string,
  useTerm: UseTerm,
  { languages = DETECTED_LANGUAGES.of(typed), wanted }: TermOptions = {},
): void {
  const text = plainHyphens(typed);
  const use = text.length === typed.length ? useTerm : inText(typed, useTerm);
  const stemmed = new Set<string>();
  const isStemmed = (word: string) =>
    stemmed.size < MAX_STEMMED_WORDS ? stemmed.add(word) !== null : stemmed.has(word);
  const hasCompounds = languages.some((language) => language.hasCompounds);
  const mayBeVietnamese = hasVietnameseWords(text);
  const useAll = (start: number, text: string, terms: Iterable<string>) => {
    for (const term of terms) use(start, start + text.length, term);
  };
  const word = (start: number, word: string) => {
    if (wanted && !hasCompounds && !wanted.mayBeTermsOf(word)) return;
    const indexed = indexedForms(word);
    if (indexed.length === 0) {
      if (mayBeVietnamese && isVietnameseSyllable(word)) use(start, start + word.length, word.toLowerCase());
      return;
    }
    useAll(start, word, indexed);
    if (languages.length === 0 || !isStemmed(word)) return;
    for (const language of languages) {
      if (language.script.test(word)) useAll(start, word, termsIn(language, word));
    }
  };
  /** Uses the terms of names within a name, such as `compte-rendu` and `mai.pdf` of `compte-rendu_mai.pdf`. */
  const namesIn = (start: number, name: string) => {
    // Fast path for most addresses.
    if (!NAME_SEPARATOR.test(name)) return;
    for (const { 0: part, index } of name.matchAll(HYPHENATED)) useAll(start + index, part, hyphenatedForms(part));
    const last = name.lastIndexOf('_') + 1;
    const rest = name.slice(last);
    if (last > 0 && rest.includes('.')) useAll(start + last, rest, indexedExactForms(rest));
  };
  visit(text, {
    word,
    run(start, run) {
      let previous: { readonly start: number; readonly letter: string } | null = null;
      for (const { 0: character, index } of run.matchAll(CHARACTER)) {
        const letter = normalizeCharacter(character);
        const at = start + index;
        const end = at + character.length;
        use(at, end, letter, index + character.length === run.length);
        if (previous) use(previous.start, end, previous.letter + letter);
        previous = { start: at, letter };
      }
    },
    exact(start, exact) {
      useAll(start, exact, [...indexedExactForms(exact), ...endsOf(exact).flatMap(indexedExactForms)]);
      namesIn(start, exact);
    },
    contraction(start, text) {
      useAll(start, text, indexedForms(text.replace(APOSTROPHE, '')));
    },
    emoji(start, emoji) {
      use(start, start + emoji.length, emojiTerm(emoji));
    },
    compound(start, compound) {
      // Searches look for its beginning.
      use(start, start + compound.length, normalize(compound).slice(0, MAX_STEMMED_LENGTH));
      namesIn(start, compound);
    },
    address(start, address) {
      for (const { 0: part, index } of address.matchAll(PLAIN)) word(start + index, part);
      for (const { 0: segment, index } of address.matchAll(SEGMENT)) {
        useAll(start + index, segment, indexedExactForms(segment));
      }
      const [, before = '', rest] = ADDRESS_START.exec(address) ?? [];
      if (rest) useAll(start + before.length, rest, indexedExactForms(rest));
    },
  });
}

/** Returns the distinct terms of a text, for indexing messages. With `wanted`, omits words that have none of these terms. */
export function searchTerms(
  text: string,
  languages = DETECTED_LANGUAGES,
  wanted?: readonly SearchedTerm[],
): readonly string[] {
  const terms = new Set<string>();
  const use = (_start: number, _end: number, term: string, isIndexed = true) => {
    if (isIndexed) terms.add(term);
  };
  const options = { languages: languages.of(text), wanted: wanted && new WantedTerms(wanted) };
  // Positions in the text are not needed.
  forEachTerm(plainHyphens(text), use, options);
  return [...terms];
}

const ASCII_LETTER = /^[a-z0-9]/i;
const ARABIC = /^\p{sc=Arabic}/u;

/** Tells quickly whether a word may have one of some terms, by its first letter, which all its terms have. */
export class WantedTerms {
  private readonly letters: ReadonlySet<string | undefined>;
  /** Answers for letters with diacritics and for other scripts. */
  private readonly others = new Map<string, boolean>();

  constructor(terms: readonly SearchedTerm[]) {
    this.letters = new Set(
      terms.map((term) => (typeof term === 'string' ? term : term.beginning).replace(/^[~*]/, '').slice(0, 1)),
    );
  }

  mayBeTermsOf(word: string): boolean {
    // Its parts begin with other letters.
    if (partsOf(word).length > 0) return true;
    const letter = word[0]!;
    if (ASCII_LETTER.test(letter)) return this.letters.has(letter.toLowerCase());
    const existing = this.others.get(letter);
    if (existing !== undefined) return existing;
    const normalized = normalize(letter);
    // Stems of Arabic words lack their prefixes.
    const may =
      ARABIC.test(letter) || [normalized, withoutDiacritics(normalized)].some((each) => this.letters.has(each[0]));
    this.others.set(letter, may);
    return may;
  }
}

/** Maximum pairs of a run to search for. More pairs hardly exclude further messages, and each needs a look-up. */
const MAX_PAIRS = 8;

/**
 * Returns the words of a query, at most one more than may be searched for; see `SearchedWord`. A word that ends the text may be unfinished and also finds the words
 * that begin with it; a space or a quote finishes it.
 */
export function searchedWords(typed: string): readonly SearchedWord[] {
  const text = plainHyphens(typed);
  const words = new Map<string, SearchedWord>();
  const add = (...terms: SearchedWord) => words.set(JSON.stringify(terms), terms);
  const visited = new Set<string>();
  /** True for a word that was visited before, which needs no second look at its forms. */
  const isRepeated = (word: string, isUnfinished: boolean) =>
    !isUnfinished && (visited.has(word) || visited.add(word) === null);
  const isLast = (start: number, part: string) => start + part.length === text.length;
  /** Beginnings of the compound that ends the text, since its last part may be too short for a beginning. */
  let unfinished: readonly SearchedTerm[] = [];
  /** Hyphenated word or contraction that was visited last. Its forms without hyphen or apostrophe replace each part. */
  let joinedWord: { readonly end: number; readonly terms: readonly SearchedTerm[] } = { end: 0, terms: [] };
  const formerWords = formerWordsIn(text);
  const inVietnamese = isVietnamese(text);
  const formerTerms = (at: number) =>
    formerWords.filter(({ start, end }) => start <= at && at < end).flatMap(({ terms }) => terms);
  visit(text, {
    // More words are refused.
    isDone: () => words.size > MAX_SEARCHED_WORDS,
    word(start, word) {
      const isUnfinished = isLast(start, word);
      if (words.size > MAX_SEARCHED_WORDS || (start >= joinedWord.end && isRepeated(word, isUnfinished))) return;
      const searched = searchedForms(word, isUnfinished);
      const inCompound = isUnfinished && word.length < MIN_BEGINNING ? unfinished : [];
      const joined = start < joinedWord.end ? joinedWord.terms : [];
      if (searched.length > 0) add([...searched, ...inCompound, ...joined, ...formerTerms(start)]);
      else if (inVietnamese && isVietnameseSyllable(word)) add([word.toLowerCase()]);
    },
    run(start, run) {
      const letters = withoutEnding([...run.matchAll(CHARACTER)].map(([character]) => normalizeCharacter(character)));
      const former = formerTerms(start);
      if (letters.length === 1) add([letters[0]!, { beginning: letters[0]! }, ...former]);
      else add(...some(searchedPairs(letters)).map((terms) => [...new Set([...terms, ...former])]));
    },
    exact(start, exact) {
      if (words.size > MAX_SEARCHED_WORDS) return;
      joinedWord = { end: start + exact.length, terms: [...withoutHyphen(exact), ...singularOf(exact)] };
      add([...searchedExactForms(exact, isLast(start, exact)), ...joinedWord.terms, ...formerTerms(start)]);
    },
    contraction(start, text) {
      const terms = searchedForms(text.replace(APOSTROPHE, ''), isLast(start, text));
      joinedWord = { end: start + text.length, terms };
      // The parts of `don't` have no terms.
      if ([...text.matchAll(PLAIN)].every(([part]) => isPassedOver(part.toLowerCase()))) add(terms);
    },
    emoji(_, emoji) {
      // Names are found as words, too.
      if (!emoji.startsWith(':') || !LETTER.test(emoji)) add([emojiTerm(emoji)]);
    },
    compound(start, compound) {
      if (isLast(start, compound)) unfinished = beginningsOf(normalize(compound), false);
    },
    address: () => {},
  });
  return [...words.values()];
}

/** Returns each pair of neighboring letters, the last one with its Japanese inflections. */
function searchedPairs(letters: readonly string[]): readonly (readonly string[])[] {
  return letters.slice(1).map((letter, index) => {
    const others = index === letters.length - 2 ? inflectionsOf(letter) : [];
    return [letter, ...others].map((second) => letters[index]! + second);
  });
}

const plainOf = (word: string): string => withoutDiacritics(normalize(word.toLowerCase()));

/** Returns the words of a query that may be misspelled; see `TypedWord`. */
export function typedWords(text: string): readonly TypedWord[] {
  const words: TypedWord[] = [];
  visit(text, {
    ...NOTHING,
    word(start, word) {
      const searched = searchedForms(word, start + word.length === text.length);
      const plain = plainOf(word);
      const near = spellingsNear(plain);
      if (searched.length === 0 || near.size === 0) return;
      words.push({ start, word, searched: [searched], similar: similarWords(plain, near) });
    },
  });
  return words;
}

/** Starts with words of plain letters within one edit, since a search with few terms takes little time. */
function similarWords(word: string, near: ReadonlySet<string>): readonly SimilarWords[] {
  const stemsOf = (spellings: Iterable<string>) => [...new Set([...spellings].map(stemEnglish))];
  return [
    { searched: () => [stemsOf(near)], wordsIn: (text) => wordsAmong(near, text) },
    {
      searched() {
        const further = stemsOf(spellingsWithTwoSlips(word));
        return [[...further, ...[...stemsOf(near), ...further].map(asPlainSpelling)]];
      },
      wordsIn: (text) => wordsAmong(new Set([...near, ...spellingsWithTwoSlips(word)]), text),
    },
  ];
}

/** Returns the distinct words of a text with one of these plain spellings, in lower case. */
function wordsAmong(spellings: ReadonlySet<string>, text: string): readonly string[] {
  const found = new Set<string>();
  const add = (word: string) => {
    if (spellings.has(plainOf(word))) found.add(word.toLowerCase());
  };
  visit(plainHyphens(text), { ...NOTHING, word: (_, word) => add(word) });
  return [...found];
}

/** Returns at most `MAX_PAIRS` pairs, spread evenly. */
function some<T>(pairs: readonly T[]): readonly T[] {
  if (pairs.length <= MAX_PAIRS) return pairs;
  const step = (pairs.length - 1) / (MAX_PAIRS - 1);
  return Array.from({ length: MAX_PAIRS }, (_, index) => pairs[Math.round(index * step)]!);
}
