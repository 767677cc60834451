import { simplify } from './simplified-chinese.js';

const ASCII = /^[\0-\x7f]*$/;

/** Vowel points of Hebrew and Arabic, and the Arabic letter extender. Texts may have any of them or none. */
const OPTIONAL_MARKS =
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/g;

/** Letters that are written in either way. */
const EQUAL_LETTERS: Readonly<Record<string, string>> = { ß: 'ss', ё: 'е', ς: 'σ' };
const EQUAL_LETTER = anyOf(EQUAL_LETTERS);

/** Returns a lower-case word in the only spelling that search distinguishes from others. */
export const normalize = (word: string): string =>
  ASCII.test(word)
    ? word.toLowerCase()
    : word
        .normalize('NFKC')
        .toLowerCase()
        .replace(OPTIONAL_MARKS, '')
        .replace(EQUAL_LETTER, (letter) => EQUAL_LETTERS[letter]!);

/** Returns a letter of a script without spaces in the only form that search distinguishes from others. */
export const normalizeCharacter = (character: string): string =>
  simplify(isNormalized(character) ? character : character.normalize('NFKC'));

/** Fast path for nearly all Chinese characters and Hangul syllables. */
const isNormalized = (character: string): boolean =>
  character.length === 1 && character >= '\u4e00' && character <= '\ud7a3';

/** Latin or Greek letter with diacritics, hamza or madda of an Arabic letter, or Indic nukta, in decomposed text. */
const DIACRITICS = /([\p{sc=Latin}\p{sc=Greek}])[\u0300-\u036f]+|[\u0653-\u0655\u093c\u09bc\u0a3c]/gu;

/** Letters that Unicode does not decompose. */
const OTHER_LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ı: 'i',
  þ: 'th',
  ى: 'ي',
  ة: 'ه',
};
const OTHER_LETTER = anyOf(OTHER_LETTERS);

/** Spellings with two letters. */
const DIGRAPHS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' };
const DIGRAPH = anyOf(DIGRAPHS);

function anyOf(letters: Readonly<Record<string, string>>): RegExp {
  return new RegExp(`[${Object.keys(letters).join('')}]`, 'g');
}

/** Returns a normalized word in plain letters. */
export const withoutDiacritics = (word: string): string =>
  word
    .replace(OTHER_LETTER, (letter) => OTHER_LETTERS[letter]!)
    .normalize('NFD')
    .replace(DIACRITICS, '$1')
    .normalize('NFC');

/** Returns the spellings of a normalized word with plain letters; empty if it has no others. */
export function plainSpellings(word: string): readonly string[] {
  if (ASCII.test(word)) return [];
  const spelled = new Set([
    withoutDiacritics(word),
    withoutDiacritics(word.replace(DIGRAPH, (letter) => DIGRAPHS[letter]!)),
  ]);
  spelled.delete(word);
  return [...spelled];
}
