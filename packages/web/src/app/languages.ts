import { type I18n, setupI18n } from '@lingui/core';

const CATALOGS = {
  en: () => import('./texts/en.po'),
  de: () => import('./texts/de.po'),
} as const;

type Language = keyof typeof CATALOGS;

const isLanguage = (name: string): name is Language => name in CATALOGS;

/** Loads the first language of the list that has a translation; English otherwise. */
export async function loadLanguage(wanted: readonly string[]): Promise<I18n> {
  const language = wanted.map((tag) => tag.split('-')[0]!).find(isLanguage) ?? 'en';
  const { messages } = await CATALOGS[language]();
  return setupI18n({ locale: language, locales: [...wanted], messages: { [language]: messages } });
}
