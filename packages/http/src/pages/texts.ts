import type { GERMAN } from './german.js';
import { type Content, Html } from './html.js';

export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

export type Text = keyof typeof GERMAN;

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

/** Loads texts of other languages when a page first needs them. */
export const loadWords = async (language: Language): Promise<Words> =>
  wordsIn(language, language === 'de' ? (await import('./german.js')).GERMAN : {});

/** Returns the reader's preferred supported language, else the organization's language, else English. */
export function languageOf(acceptLanguage: string | undefined, realmLanguage = 'en'): Language {
  const wanted = (acceptLanguage ?? '')
    .slice(0, 200)
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';');
      const quality = parameters.map((it) => /^\s*q=([\d.]+)$/.exec(it)?.[1]).find((it) => it !== undefined);
      return { tag: tag.split('-')[0]!, quality: Number(quality ?? 1) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  const found = [...wanted.map(({ tag }) => tag), realmLanguage].find((tag) => LANGUAGES.includes(tag as Language));
  return (found as Language | undefined) ?? 'en';
}
