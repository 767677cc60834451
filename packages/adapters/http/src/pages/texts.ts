import { type TextLanguage, textLanguageOf } from '@parley/domain/kernel';
import { catalogueOf } from './catalogues.js';
import { type Content, Html } from './html.js';
import type { PageText } from './page-texts.js';

/** Returns a page text in the reader's language; values replace the words in braces. */
export type Translate = (text: PageText, values?: Readonly<Record<string, Content>>) => Html;

const inWords = (text: string, values: Readonly<Record<string, Content>>): Html =>
  Html.join(text.split(/\{(\w+)\}/).map((piece, index) => (index % 2 === 0 ? piece : (values[piece] ?? ''))));

/** Texts of pages in one language. */
export interface Words {
  readonly language: TextLanguage;
  readonly t: Translate;
  /** Translates an error message; messages without a translation remain English. */
  readonly message: (message: string) => string;
}

export const wordsIn = (language: TextLanguage): Words => {
  const translations = catalogueOf('pages', language);
  const message = (text: string) => translations.get(text) ?? text;
  return { language, message, t: (text, values = {}) => inWords(message(text), values) };
};

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
