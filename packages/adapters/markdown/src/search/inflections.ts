/** Regular inflections of a language, which its stemmer leaves, or which replace a stemmer. */
interface Inflections {
  /** Endings of words, which are removed as often as they follow each other, or at most once. */
  readonly endings?: readonly string[];
  readonly hasSeveralEndings?: boolean;
  /** Patterns at the end of a stem and their replacements, in this order. */
  readonly changes: readonly (readonly [RegExp, string])[];
}

/** Minimum length of a word without its endings. */
const MIN_LENGTH = 3;

/** Returns all concatenations of one part of each list. An empty part is `-`. */
const endingsOf = (...lists: readonly string[]): readonly string[] =>
  lists
    .map((list) => list.split(' ').map((part) => (part === '-' ? '' : part)))
    .reduce((all, parts) => all.flatMap((first) => parts.map((part) => first + part)));

/** `nyckel` and `nycklar`, `finger` and `fingrar`, `öppen` and `öppna`, `avtal` and `avtalet`. */
const NORDIC: Inflections = {
  changes: [
    [/(?<=.{3})(?:et)+$/, ''],
    [/(?<=.[^aeiouyåäöæø])e(?=[ln]$)/, ''],
    [/(?<=.[^aeiouyåäöæø])r$/, ''],
    [/(.)\1n$/, '$1'],
    [/(.)\1(?=l?$)/, '$1'],
  ],
};

/** Inflections by language. Stems need no meaning: forms of a word only must have the same one. */
const INFLECTIONS: Readonly<Record<string, Inflections>> = {
  ar: {
    changes: [
      [/^وال(?=.{3})/, ''],
      [/(?<=.{3})(?:ات|ا|ت)$/, ''],
    ],
  },
  // `kniha` and `knize`, `moucha` and `mouše`, `objednávka` and `objednávek`, `stůl` and `stolu`.
  cs: {
    changes: [
      [/(?<=.{3})ům$/, ''],
      [/c$/, 'k'],
      [/z$/, 'h'],
      [/š$/, 'ch'],
      [/(?<=.[^aeiouyáéěíóúůý])e(?=[klmnr]$)/, ''],
      [/(?<=^[^aeiouyáéěíóúůý]+)ů(?=.$)/, 'o'],
    ],
  },
  da: NORDIC,
  // `asiakas` and `asiakkaat`, `nainen` and `naiset`, `katu` and `kadulla`, `kauppa` and `kaupan`.
  fi: {
    changes: [
      [/ks$/, 's'],
      [/im$/, 'in'],
      [/(?<=.{3})(?:[ns]e|[aeiouyäö]?[ns]?)$/, ''],
      [/d$/, 't'],
      [/v$/, 'p'],
      [/(?<=[lnr])[tlnr]$/, ''],
      [/mp$/, 'm'],
      [/ng$/, 'nk'],
      [/(.)\1$/, '$1'],
    ],
  },
  // `alma` and `almát`, `bokor` and `bokrok`, `jelszó` and `jelszavak`.
  hu: {
    endings: [
      ...'a á e é k ok ek ök ak t ot et öt at n on en ön ba be ig ért hoz hez höz ja je i jai jei'.split(' '),
      ...endingsOf('ban ben nak nek val vel ról ről tól től ból ből nál nél unk ünk juk jük'),
    ],
    hasSeveralEndings: true,
    changes: [
      [/av$/, 'ó'],
      [/(?<=..[^aáeéiíoóöőuúüű])[oeöé](?=[lmr]$)/, ''],
    ],
  },
  nl: {
    changes: [
      [/z$/, 's'],
      [/v$/, 'f'],
    ],
  },
  no: NORDIC,
  // `książka` and `książce`, `noga` and `nodze`, `faktura` and `fakturze`, `wniosek` and `wniosku`.
  pl: {
    endings: [
      ...endingsOf('- i', 'ami ach owi owie om em ego emu ej ymi imi ych ich ym im a ą e ę o u'),
      ...'ów i y'.split(' '),
    ],
    changes: [
      [/ę/g, 'ą'],
      [/(?<=k)c$/, 't'],
      [/(?<=n)c$/, 't'],
      [/rz$/, 'r'],
      [/dz$/, 'g'],
      [/c$/, 'k'],
      [/(?<=..)i?e(?=[kl]$)/, ''],
    ],
  },
  ru: { changes: [[/(?<=.[^аеёиоуыэюя])[ое](?=[кц]$)/, '']] },
  sv: NORDIC,
  // `toplantı` and `toplantılar`, `kitap` and `kitabı`, `renk` and `rengi`.
  tr: {
    endings: [
      ...'lar ler ı i u ü a e la le yla yle'.split(' '),
      ...endingsOf('ı i u ü', 'm n'),
      ...endingsOf('s y n', 'ı i u ü'),
      ...endingsOf('y n', 'a e'),
      ...endingsOf('n', 'ı i u ü', 'n'),
      ...endingsOf('d t nd', 'a e', '- n'),
      ...endingsOf('ı i u ü', 'm n', 'ı i u ü', 'z'),
    ],
    hasSeveralEndings: true,
    changes: [
      [/b$/, 'p'],
      [/d$/, 't'],
      [/ğ$/, 'k'],
      [/c$/, 'ç'],
      [/(?<=n)g$/, 'k'],
    ],
  },
  // `рука` and `руці`, `книга` and `книзі`, `муха` and `мусі`, `стіл` and `стола`, `рахунок` and `рахунки`.
  uk: {
    endings: [
      ...endingsOf('а я', 'ми х м'),
      ...endingsOf('о е є', 'ві м ю'),
      ...'ів їв ію ією ими іми ого ому ої ий ій их іх им ім ія ії ію а я о е є и і ї у ю й ь'.split(' '),
    ],
    changes: [
      [/нн$/, 'н'],
      [/ц$/, 'к'],
      [/з$/, 'г'],
      [/с$/, 'х'],
      [/(?<=.)і(?=[^аеєиіїоуюя]+$)/, 'о'],
      [/(?<=..[^аеєиіїоуюя])[еоє](?=[клнр]$)/, ''],
    ],
  },
};

/** Maximum length of all endings of a word, which bounds the time to find them. */
const MAX_ENDINGS = 12;

/** Returns the shortest beginning of a word before its endings. */
function withoutEndings(word: string, endings: readonly string[], isRepeated: boolean): string {
  const least = Math.max(MIN_LENGTH, word.length - MAX_ENDINGS);
  let shortest = word.length;
  const isEnd = new Set([word.length]);
  // Shorter beginnings are added during the iteration.
  for (const end of isEnd) {
    for (const ending of endings) {
      const start = end - ending.length;
      if (start < least || !word.endsWith(ending, end)) continue;
      shortest = Math.min(shortest, start);
      if (isRepeated) isEnd.add(start);
    }
  }
  return word.slice(0, shortest);
}

/**
 * Returns the form that regular inflections of a word have in common.
 * @param stem lower-case word, or its stem if the language has a stemmer
 */
export function uninflected(code: string, stem: string): string {
  const { endings = [], hasSeveralEndings = false, changes = [] } = INFLECTIONS[code] ?? {};
  const beginning = withoutEndings(stem, endings, hasSeveralEndings);
  return changes.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), beginning);
}
