import { type Content, Html } from './html.js';
import type { TEXTS } from './texts/de.js';

/** English text of pages, by which translations are found. */
export type Text = keyof typeof TEXTS;

/** Page texts in one language; texts that are missing remain English. */
export type Translations = Readonly<Partial<Record<Text, string>>>;

/** Translations of page texts by Zulip's language codes, loaded when a page first needs them. */
const TRANSLATIONS = {
  en: async () => ({ TEXTS: {} }),
  cs: () => import('./texts/cs.js'),
  de: () => import('./texts/de.js'),
  es: () => import('./texts/es.js'),
  fr: () => import('./texts/fr.js'),
  he: () => import('./texts/he.js'),
  it: () => import('./texts/it.js'),
  ja: () => import('./texts/ja.js'),
  nl: () => import('./texts/nl.js'),
  pl: () => import('./texts/pl.js'),
  'pt-br': () => import('./texts/pt-br.js'),
  tr: () => import('./texts/tr.js'),
  uk: () => import('./texts/uk.js'),
  'zh-hans': () => import('./texts/zh-hans.js'),
} satisfies Readonly<Record<string, () => Promise<{ readonly TEXTS: Translations }>>>;

export type Language = keyof typeof TRANSLATIONS;
export const LANGUAGES = Object.keys(TRANSLATIONS) as readonly Language[];

/** Writing direction of a language. */
export const directionOf = (language: Language): 'ltr' | 'rtl' => (language === 'he' ? 'rtl' : 'ltr');

/** Returns a page text in the reader's language; values replace the words in braces. */
export type Translate = (text: Text, values?: Readonly<Record<string, Content>>) => Html;

const inWords = (text: string, values: Readonly<Record<string, Content>>): Html =>
  Html.join(text.split(/\{(\w+)\}/).map((piece, index) => (index % 2 === 0 ? piece : (values[piece] ?? ''))));

/** Texts of pages in one language. */
export interface Words {
  readonly language: Language;
  readonly t: Translate;
  /** Translates an error message; messages without a translation remain English. */
  readonly message: (message: string) => string;
}

const wordsIn = (language: Language, translations: Readonly<Record<string, string>>): Words => {
  const message = (text: string) => translations[text] ?? text;
  return { language, message, t: (text, values = {}) => inWords(message(text), values) };
};

export const loadWords = async (language: Language): Promise<Words> =>
  wordsIn(language, (await TRANSLATIONS[language]()).TEXTS);

/** Returns the reader's preferred supported language, else the organization's language, else English. */
export function languageOf(acceptLanguage: string | undefined, realmLanguage = 'en'): Language {
  const wanted = (acceptLanguage ?? '')
    .slice(0, 200)
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';');
      const quality = parameters.map((it) => /^\s*q=([\d.]+)$/.exec(it)?.[1]).find((it) => it !== undefined);
      return { tag, quality: Number(quality ?? 1) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  for (const tag of [...wanted.map(({ tag }) => tag), realmLanguage]) {
    const found = translationFor(tag);
    if (found) return found;
  }
  return 'en';
}

/** Returns the translation for readers of a language tag: `pt-br` for `pt-PT`, none for `zh-TW`. */
function translationFor(tag: string): Language | undefined {
  const wanted = localeOf(tag);
  return LANGUAGES.find((language) => {
    const offered = localeOf(language);
    return offered?.language === wanted?.language && offered?.script === wanted?.script;
  });
}

/** Adds the usual script of a language, such as Traditional Chinese for Taiwan; undefined for invalid tags. */
function localeOf(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag).maximize();
  } catch {
    return undefined;
  }
}
