/** Korean particles and endings of verbs made from nouns, after at least two syllables. */
const KOREAN_ENDING = new RegExp(
  `(?<=[가-힣]{2})(?:들?(?:${[
    '[은는이가을를의에도만와과로들]|으로|에서|에게|께서|한테|까지|부터|처럼|보다|마다|이나|이랑|랑|하고|이다|입니다|이에요|예요',
    '(?:에|에서|에게|으?로|까지|부터)(?:는|도|의)',
  ].join('|')})|${[
    '(?:하|되)(?:다|고|는|기|면|지|며|여|려고|세요|었다|였다|었습니다|였습니다|지만|는데)?',
    '(?:해|돼)(?:요|서|야|도|주세요)?|(?:했|됐)(?:다|고|어요|습니다|는데|던|지만)?|[한할함된될됨]|합니다|됩니다',
  ].join('|')})$`,
  'u',
);

/** Letters before る in verbs that lose it in all other forms. */
const ICHIDAN = 'いきしちにびみりぎじえけせてねべめれげぜで';

/** Japanese particles, forms of する, and る of such verbs. */
const JAPANESE_ENDING = new RegExp(
  `(?<=${'[\\p{sc=Han}\\p{scx=Kana}]'.repeat(2)})(?:${[
    '[はがをにでともへのやなだ]|から|まで|より|です|でした',
    '(?:する|した|して|します|しました|しない|せず|され)(?:た|て|る)?',
  ].join('|')})$|(?<=.[${ICHIDAN}])る$`,
  'u',
);
/** Final long vowel of Katakana words, which is optional in technical terms. */
const LONG_VOWEL = /(?<=\p{scx=Kana}{3})ー$/u;

/** Letters that replace the last letter of a Japanese verb or adjective in other forms. */
const INFLECTIONS: Readonly<Record<string, string>> = {
  う: 'わいえおっ',
  く: 'かきけこい',
  ぐ: 'がぎげごい',
  す: 'さしせそ',
  つ: 'たちてとっ',
  ぬ: 'なにねのん',
  ぶ: 'ばびべぼん',
  む: 'まみめもん',
  る: 'らりれろったてまなよ',
  い: 'くかけさ',
};

/** Returns the letters of a query's run without a Korean or Japanese ending. */
export function withoutEnding(letters: readonly string[]): readonly string[] {
  const text = letters.join('');
  const [ending = ''] = KOREAN_ENDING.exec(text) ?? JAPANESE_ENDING.exec(text) ?? [];
  const rest = text.slice(0, text.length - ending.length);
  return letters.slice(0, letters.length - [...ending].length - (LONG_VOWEL.test(rest) ? 1 : 0));
}

/** Returns other forms of the last letter of a Japanese verb or adjective; empty for other letters. */
export const inflectionsOf = (letter: string): readonly string[] => [...(INFLECTIONS[letter] ?? '')];

/** Hebrew article, prepositions and conjunctions, which are written together with the next word. */
const HEBREW_PREFIXES = ['', ...'הבלושמכ', 'וה', 'וב', 'ול', 'ומ', 'וש', 'שה', 'מה', 'כש'];
const HEBREW = /^\p{sc=Hebr}{3,}$/u;
/** Prefixes of unfinished words. Each beginning needs a look-up. */
const FREQUENT_PREFIXES = [...'הבלושמ', 'וה'];

/** Returns a normalized Hebrew word with and without its article, with each prefix; empty for other words. */
export function hebrewForms(word: string): readonly string[] {
  if (!HEBREW.test(word)) return [];
  const words = word[0] === 'ה' && word.length > 3 ? [word, word.slice(1)] : [word];
  return words.flatMap((each) => HEBREW_PREFIXES.map((prefix) => prefix + each));
}

/** Returns an unfinished normalized Hebrew word with frequent prefixes, which also finds its plural; empty for other words. */
export const hebrewBeginnings = (word: string): readonly string[] =>
  HEBREW.test(word) ? FREQUENT_PREFIXES.map((prefix) => prefix + word) : [];

/** Pairs of endings of singulars and plurals by language, without diacritics. */
const NUMBER_PAIRS: Readonly<Record<string, string>> = {
  es: 'z/ces',
  pt: 'ao/oes ao/aes al/ais el/eis ol/ois ul/uis il/is il/eis',
};

/** Minimum length of the common beginning of both forms. */
const MIN_COMMON = 2;

function withOtherEnding(text: string, pairs: string): readonly string[] {
  const others = pairs.split(' ').flatMap((pair) => {
    const [one, other] = pair.split('/') as [string, string];
    return [...replaceEnd(text, one, other), ...replaceEnd(text, other, one)];
  });
  return [...new Set(others)];
}

function replaceEnd(text: string, end: string, other: string): readonly string[] {
  const common = text.length - end.length;
  return text.endsWith(end) && common >= MIN_COMMON ? [text.slice(0, common) + other] : [];
}

/** Returns the other number of a noun or adjective, for a word without diacritics. */
export const otherNumbers = (code: string, plain: string): readonly string[] =>
  code in NUMBER_PAIRS ? withOtherEnding(plain, NUMBER_PAIRS[code]!) : [];
