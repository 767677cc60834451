import { type TextLanguage, textLanguageOf } from '../kernel/languages.js';
import type { TEXTS } from './email-texts/de.js';

/** English text of emails, by which translations are found. */
export type EmailText = keyof typeof TEXTS;

/** Email texts in one language; texts that are missing remain English. */
type Translations = Readonly<Partial<Record<EmailText, string>>>;

/** Translations of email texts, loaded when an email first needs them. */
const TRANSLATIONS: Readonly<Record<TextLanguage, () => Promise<{ readonly TEXTS: Translations }>>> = {
  en: async () => ({ TEXTS: {} }),
  ar: () => import('./email-texts/ar.js'),
  cs: () => import('./email-texts/cs.js'),
  de: () => import('./email-texts/de.js'),
  es: () => import('./email-texts/es.js'),
  fa: () => import('./email-texts/fa.js'),
  fr: () => import('./email-texts/fr.js'),
  he: () => import('./email-texts/he.js'),
  it: () => import('./email-texts/it.js'),
  ja: () => import('./email-texts/ja.js'),
  nl: () => import('./email-texts/nl.js'),
  pl: () => import('./email-texts/pl.js'),
  'pt-br': () => import('./email-texts/pt-br.js'),
  tr: () => import('./email-texts/tr.js'),
  uk: () => import('./email-texts/uk.js'),
  'zh-hans': () => import('./email-texts/zh-hans.js'),
};

/** Email texts in the recipient's language. */
export interface EmailWords {
  readonly language: TextLanguage;
  /** Values replace the words in braces. */
  readonly t: (text: EmailText, values?: Readonly<Record<string, string | number>>) => string;
}

interface HasLanguage {
  readonly settings: { readonly defaultLanguage: string };
}

/** Language of emails: the user's, else the organization's. `user`: null for people without an account. */
export const emailLanguageOf = (user: HasLanguage | null, realm: HasLanguage): TextLanguage =>
  textLanguageOf([...(user === null ? [] : [user]), realm].map(({ settings }) => settings.defaultLanguage));

/** Loads the texts of emails to a user. */
export async function loadEmailWords(user: HasLanguage | null, realm: HasLanguage): Promise<EmailWords> {
  const language = emailLanguageOf(user, realm);
  const translations: Translations = (await TRANSLATIONS[language]()).TEXTS;
  return {
    language,
    t: (text, values = {}) =>
      (translations[text] ?? text).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '')),
  };
}
