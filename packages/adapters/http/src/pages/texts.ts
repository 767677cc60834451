import { type TextLanguage, textLanguageOf } from '@parley/domain/kernel';
import { type Content, Html } from './html.js';
import type { TEXTS } from './texts/de.js';

/** English text of pages, by which translations are found. */
export type Text = keyof typeof TEXTS;

/** Page texts in one language; texts that are missing remain English. */
export type Translations = Readonly<Partial<Record<Text, string>>>;

/** Translations of page texts, loaded when a page first needs them. */
const TRANSLATIONS: Readonly<Record<TextLanguage, () => Promise<{ readonly TEXTS: Translations }>>> = {
  en: async () => ({ TEXTS: {} }),
  ar: () => import('./texts/ar.js'),
  cs: () => import('./texts/cs.js'),
  de: () => import('./texts/de.js'),
  es: () => import('./texts/es.js'),
  fa: () => import('./texts/fa.js'),
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
};

/** Returns a page text in the reader's language; values replace the words in braces. */
export type Translate = (text: Text, values?: Readonly<Record<string, Content>>) => Html;

const inWords = (text: string, values: Readonly<Record<string, Content>>): Html =>
  Html.join(text.split(/\{(\w+)\}/).map((piece, index) => (index % 2 === 0 ? piece : (values[piece] ?? ''))));

/** Texts of pages in one language. */
export interface Words {
  readonly language: TextLanguage;
  readonly t: Translate;
  /** Translates an error message; messages without a translation remain English. */
  readonly message: (message: string) => string;
}

const wordsIn = (language: TextLanguage, translations: Readonly<Record<string, string>>): Words => {
  const message = (text: string) => translations[text] ?? text;
  return { language, message, t: (text, values = {}) => inWords(message(text), values) };
};

export const loadWords = async (language: TextLanguage): Promise<Words> =>
  wordsIn(language, (await TRANSLATIONS[language]()).TEXTS);

/** Returns the reader's preferred supported language, else the organization's language, else English. */
export function languageOf(acceptLanguage: string | undefined, realmLanguage = 'en'): TextLanguage {
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
  return textLanguageOf([...wanted.map(({ tag }) => tag), realmLanguage]);
}
