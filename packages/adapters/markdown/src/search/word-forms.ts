import { plainHyphens, STOP_WORDS } from '@parley/domain/messages';
import { lazily } from '../characters.js';
import { uninflected } from './inflections.js';
import { normalize, withoutDiacritics } from './letters.js';
import { WordCache } from './word-cache.js';

type Stem = (word: string) => string;

/** Longer than any word of a language. Stemming time grows with the square of the length. */
export const MAX_STEMMED_LENGTH = 40;
/** Stems to cache per language. Stemming takes microseconds, and texts repeat the same words. */
const MAX_STEMS = 5000;

/** Language with word forms, in addition to English. */
export interface Language {
  /** Code in the setting `searchLanguages`. */
  readonly code: string;
  /** Returns the form that all forms of a lower-case word share. */
  stem(word: string): string;
  readonly script: RegExp;
  /** Letters in addition to those of English. */
  readonly letters: ReadonlySet<string>;
  /** True if compounds are found by their parts. */
  readonly hasCompounds: boolean;
}

/** Loaded on first use. Other languages have tables of endings. */
const STEMMERS: Readonly<Record<string, (require: NodeJS.Require) => Stem>> = {
  arabic: (require) => require('@orama/stemmers/arabic').stemmer,
  czech(require) {
    const stemmer: { readonly stem: Stem } = require('snowball-stemmers').newStemmer('czech');
    return (word) => stemmer.stem(word);
  },
  danish: (require) => require('@orama/stemmers/danish').stemmer,
  dutch: (require) => require('@orama/stemmers/dutch').stemmer,
  english: (require) => require('porter2').stem,
  finnish: (require) => require('@orama/stemmers/finnish').stemmer,
  french: (require) => require('@orama/stemmers/french').stemmer,
  german: (require) => require('@orama/stemmers/german').stemmer,
  italian: (require) => require('@orama/stemmers/italian').stemmer,
  norwegian: (require) => require('@orama/stemmers/norwegian').stemmer,
  portuguese: (require) => require('@orama/stemmers/portuguese').stemmer,
  romanian: (require) => require('@orama/stemmers/romanian').stemmer,
  russian(require) {
    const { stemmer }: { readonly stemmer: Stem } = require('@orama/stemmers/russian');
    return (word) => stemmer(word.replaceAll('\u0451', '\u0435'));
  },
  spanish: (require) => require('@orama/stemmers/spanish').stemmer,
  swedish: (require) => require('@orama/stemmers/swedish').stemmer,
};

function stemmerOf(name: string): Stem {
  const stemmer = STEMMERS[name];
  const stem = stemmer ? lazily(stemmer) : () => (word: string) => word;
  return (word) => (word.length > MAX_STEMMED_LENGTH ? word : stem()(word));
}

/** Stems an English word. */
export const stemEnglish = stemmerOf('english');

const LATIN = /\p{sc=Latin}/u;

/** Languages written in Latin letters by code: name of the stemmer, other letters and frequent words. */
const LATIN_LANGUAGES: Readonly<Record<string, readonly [name: string, letters: string, words: string]>> = {
  de: [
    'german',
    'äöüß',
    'der die das und ist nicht ein eine einen dem den des mit von zu im auf für sich wir ihr sie es ich du hat haben sind war werden wird auch aber oder wenn noch nur bei aus wie kann bitte sehr',
  ],
  nl: [
    'dutch',
    'éëïóöü',
    'de het een en is niet van in op te dat die voor met zijn er maar om ook als aan bij nog we wij ik je jij hij ze naar kan moet heeft hebben wordt worden over deze dit geen wat',
  ],
  fr: [
    'french',
    'àâæçéèêëîïôœùûüÿ',
    'le la les un une des du de et est pas dans pour que qui sur avec au aux ce cette ces il elle nous vous ils elles je tu ne se son sa ses mais ou où par plus sont ont été être avoir fait très',
  ],
  es: [
    'spanish',
    'áéíñóúü',
    'el la los las un una de del y es no me te en que por para con se su sus al lo como más pero está están son fue hay ha han nos muy mi tu yo este esta esto ese esa desde cuando',
  ],
  pt: [
    'portuguese',
    'ãõáâàçéêíóôú',
    'o a os as um uma de do da dos das e é não em no na nos nas que por para com se seu sua ao mais mas como foi são está estão tem muito eu você ele ela nós este esta isso às',
  ],
  it: [
    'italian',
    'àèéìòù',
    'il lo la i gli le un una di del della dei delle e è non in nel nella che per con su al alla si ma come più sono ha hanno io tu lui lei noi questo questa sul dal anche molto',
  ],
  ro: ['romanian', 'ăâîșțşţ', 'și în la cu pe nu este sunt un o de din că pentru mai se am ai are fost care ce lui ei'],
  sv: [
    'swedish',
    'åäö',
    'i och är att det en ett som på finns för med inte av den till jag du vi har han hon de om kan var men så',
  ],
  da: [
    'danish',
    'æøå',
    'i og er at det en et som på for med ikke af den til jeg du vi har han hun de om kan var men der',
  ],
  no: [
    'norwegian',
    'æøå',
    'i og er at det en et som på for med ikke av den til jeg du vi har han hun de om kan var men der',
  ],
  fi: [
    'finnish',
    'äö',
    'ja on ei se että oli hän minä sinä me te he ovat mutta kun niin jos myös kuin tai olen tämä nyt',
  ],
  hu: ['hungarian', 'áéíóöőúüű', 'és az egy nem hogy ez van volt is de ha meg már csak mint még én te ő mi ti ők kell'],
  tr: [
    'turkish',
    'çğıöşüâ',
    've bir bu için ile de da çok mi mı ne ama gibi daha ben sen biz siz var yok değil her olan',
  ],
  cs: [
    'czech',
    'áčďéěíňóřšťúůýž',
    'a je se na že to v z do s i o k ve pro jsem jsme není ale jako už by byl byla jsou si',
  ],
  pl: [
    'polish',
    'ąćęłńóśźż',
    'w z na nie się że jest są po jak ale czy już od za dla przez tym który które też był była o ma mi są przy lub oraz',
  ],
};

const newLanguage = (code: string, name: string, script: RegExp, letters: string): Language => {
  const stem = stemmerOf(name);
  const stems = new WordCache<string>(MAX_STEMS);
  return {
    code,
    script,
    letters: new Set(letters),
    hasCompounds: code === 'de' || code === 'nl',
    stem(word) {
      const existing = stems.get(word);
      if (existing !== undefined) return existing;
      if (word.length > MAX_STEMMED_LENGTH) return withoutDiacritics(normalize(word));
      const stemmed = withoutDiacritics(uninflected(code, stem(normalize(word))));
      stems.set(word, stemmed);
      return stemmed;
    },
  };
};

const latinLanguages = Object.entries(LATIN_LANGUAGES).map(([code, [name, letters]]) =>
  newLanguage(code, name, LATIN, letters),
);
/** Languages of texts that could also be English. */
const withoutCompounds = latinLanguages.map((language) => ({ ...language, hasCompounds: false }));
const russian = newLanguage('ru', 'russian', /\p{sc=Cyrillic}/u, '');
const ukrainian = newLanguage('uk', 'ukrainian', /\p{sc=Cyrillic}/u, '');
const arabic = newLanguage('ar', 'arabic', /\p{sc=Arabic}/u, '');
const languages = [...latinLanguages, russian, ukrainian, arabic];

/** Indexes of the languages in which a word is frequent; English has the index after the last language. */
const frequent = new Map<string, number[]>();
[...Object.values(LATIN_LANGUAGES).map(([, , words]) => words.split(' ')), STOP_WORDS].forEach((words, index) => {
  for (const word of words) frequent.set(word, [...(frequent.get(word) ?? []), index]);
});
const ENGLISH = latinLanguages.length;

const OTHER_LETTER = /[^\0-\x7f]/;
const OTHER_LETTERS = /[^\0-\x7f]/gu;
const ASCII_WORD = /[a-z]+/g;
const WORD = /[\p{L}\p{M}]+/gu;
/** Letters of other languages with Cyrillic letters, for which the Russian stems are wrong. */
const NOT_RUSSIAN = /[\u0456\u0457\u0454\u0491\u045e\u0458\u0459\u045a]/;
const UKRAINIAN = /[\u0456\u0457\u0454\u0491]/;

/** True for a lower-case text that may be in a language without Latin letters. */
function isWrittenIn(language: Language, text: string): boolean {
  if (language === ukrainian) return UKRAINIAN.test(text);
  return language.script !== LATIN && language.script.test(text) && !(language === russian && NOT_RUSSIAN.test(text));
}

/** Maximum number of languages of a text, the likeliest ones, which bounds the time to stem its words. */
const MAX_LANGUAGES = 3;
/** The same if the organization lists languages, and the maximum that it may list. */
const MAX_LISTED_LANGUAGES = 5;
/** Length of the beginning of a text that determines its languages. */
const EXAMINED = 2000;

/** Languages of word forms in the messages of an organization, in addition to English. */
export class SearchLanguages {
  private readonly listed: readonly Language[];
  private readonly limit: number;

  /** @param codes value of the setting `searchLanguages` */
  constructor(codes: string) {
    const listed = new Set(codes.split(','));
    this.listed = languages.filter(({ code }) => listed.has(code));
    this.limit = this.listed.length === 0 ? MAX_LANGUAGES : MAX_LISTED_LANGUAGES;
  }

  /** Returns the listed languages and those of the text. Unclear texts have only listed ones. */
  of(text: string): readonly Language[] {
    const lowered = plainHyphens(text.slice(0, EXAMINED)).toLowerCase();
    const hasOtherLetters = OTHER_LETTER.test(lowered);
    const found = latinOf(lowered, hasOtherLetters);
    const others = hasOtherLetters ? languages.filter((language) => isWrittenIn(language, lowered)) : [];
    const further = [...others, ...found].filter(({ code }) => !this.listed.some((listed) => listed.code === code));
    return [...this.listed, ...further].slice(0, this.limit);
  }
}

/** Returns the languages of a text's Latin letters, the likeliest first. */
function latinOf(lowered: string, hasOtherLetters: boolean): readonly Language[] {
  const counts = countFrequent(lowered, hasOtherLetters);
  const english = counts[ENGLISH]!;
  const most = Math.max(...counts.slice(0, ENGLISH));
  const least = Math.max(english, most / 2, 1);
  // Fast path for most English texts.
  if (most < least) return [];
  return [...latinLanguages.keys()]
    .filter((index) => counts[index]! >= least)
    .sort((a, b) => counts[b]! - counts[a]!)
    .map((index) => (counts[index]! > english ? latinLanguages[index]! : withoutCompounds[index]!));
}

/** Returns the languages that use the script of a word. */
export const languagesWriting = (word: string): readonly Language[] =>
  languages.filter(({ script }) => script.test(word));

/** Counts the frequent words and the letters of each language in a text. */
function countFrequent(lowered: string, hasOtherLetters: boolean): readonly number[] {
  const counts: number[] = new Array(ENGLISH + 1).fill(0);
  for (const word of lowered.match(hasOtherLetters ? WORD : ASCII_WORD) ?? []) {
    for (const index of frequent.get(word) ?? []) counts[index]!++;
  }
  if (!hasOtherLetters) return counts;
  const others = [...new Set(lowered.match(OTHER_LETTERS))].filter((letter) => LATIN.test(letter));
  latinLanguages.forEach(({ letters }, index) => {
    if (others.length > 0 && others.every((letter) => letters.has(letter))) counts[index]!++;
  });
  return counts;
}

/** Languages of organizations without the setting. */
export const DETECTED_LANGUAGES = new SearchLanguages('');
