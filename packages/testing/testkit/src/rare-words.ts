/** Letters of random words, and frequent words that make the text one of several languages. */
interface RareWords {
  readonly frequent: string;
  readonly letters: string;
}

/** A frequent word of each language in Latin letters. */
const FREQUENT = 've bir ja és hogy nem der und le la el que na som og w z je s';

/** Scripts and languages of texts whose words occur once, which are the slowest ones to stem. */
export const RARE_WORDS: Readonly<Record<string, RareWords>> = {
  Latin: { frequent: FREQUENT, letters: 'abcdefghijklmnopqrstuvwxyz' },
  Turkish: { frequent: FREQUENT, letters: 'abcçdefgğhıijklmnoöprsştuüvyzâ' },
  Hungarian: { frequent: 'és hogy nem', letters: 'aábcdeéfghiíjklmnoóöőpqrstuúüűvwxyz' },
  German: { frequent: 'der die und', letters: 'abcdefghijklmnopqrstuvwxyzäöüß' },
  Finnish: { frequent: 'ja on ei', letters: 'abcdefghijklmnopqrstuvwxyzäö' },
  Romanian: { frequent: 'și în la', letters: 'abcdefghijklmnopqrstuvwxyzăâîșț' },
  Polish: { frequent: 'nie się jest', letters: 'aąbcćdeęfghijklłmnńoóprsśtuwyzźż' },
  Czech: { frequent: 'je se na', letters: 'aábcčdďeéěfghiíjklmnňoóprřsštťuúůvyýzž' },
  Cyrillic: { frequent: '', letters: 'абвгдежзийклмнопрстуфхцчшщъыьэюя' },
  Ukrainian: { frequent: '', letters: 'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя' },
  Arabic: { frequent: '', letters: 'ابتثجحخدذرزسشصضطظعغفقكلمنهوي' },
  Hebrew: { frequent: '', letters: 'אבגדהוזחטיכלמנסעפצקרשת' },
  Greek: { frequent: '', letters: 'αβγδεζηθικλμνξοπρστυφχψωάέήίόύώ' },
  identifiers: { frequent: FREQUENT, letters: 'abcdefghABCDEFGH0123' },
  'identifiers with underscores': { frequent: FREQUENT, letters: 'abcdefghijkl_' },
  'hyphenated words': { frequent: FREQUENT, letters: 'abcdefghijkl-' },
  addresses: { frequent: FREQUENT, letters: 'abcdefghijkl.@/' },
  'several scripts': { frequent: FREQUENT, letters: 'abcçğışабвіїابتث' },
};

/** Returns deterministic random words. */
export function randomWords(letters: string, count: number, seed = 1): readonly string[] {
  let state = seed;
  const below = (limit: number) => {
    state = (state * 48_271) % 0x7fffffff;
    return state % limit;
  };
  const alphabet = [...letters];
  const randomWord = () => Array.from({ length: 4 + below(6) }, () => alphabet[below(alphabet.length)]).join('');
  return Array.from({ length: count }, randomWord);
}

/** Returns a message of maximum length. */
export const rareWordsText = ({ frequent, letters }: RareWords, seed = 1): string =>
  `${frequent} ${randomWords(letters, 2500, seed).join(' ')}`.slice(0, 10_000);
