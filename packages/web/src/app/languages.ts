import { type I18n, setupI18n } from '@lingui/core';

const CATALOGS = {
  en: () => import('./texts/en.po'),
  de: () => import('./texts/de.po'),
} as const;
const KEY = 'parley-language';

type Language = keyof typeof CATALOGS;

export const isLanguage = (name: string): name is Language => name in CATALOGS;

/** Loads the first language of the list that has a translation; else English. `dates`: form of dates. */
export async function loadLanguage(tags: readonly string[], dates?: string): Promise<I18n> {
  const language = tags.map((tag) => tag.split('-')[0]!).find(isLanguage) ?? 'en';
  const { messages } = await CATALOGS[language]();
  return setupI18n({
    locale: language,
    locales: [validTag(dates), localesOf(language, tags)].flat(),
    messages: { [language]: messages },
    // English catalogs leave out texts that equal their ids.
    missing: (_, id) => id,
  });
}

/** Changes to another language, here and on the next start. */
export async function changeLanguage(i18n: I18n, language: Language): Promise<void> {
  // Storage may be forbidden; the choice then lasts until the page is left.
  try {
    localStorage.setItem(KEY, language);
  } catch {}
  if (i18n.locale === language) return;
  const { messages } = await CATALOGS[language]();
  i18n.load(language, messages);
  i18n.activate(language, localesOf(language, navigator.languages));
  document.documentElement.lang = language;
}

/** Formats times with 24 hours, with 12, or as usual in the language. */
export function changeHours(i18n: I18n, has24Hours: boolean | null): void {
  const hourCycle = has24Hours === null ? undefined : has24Hours ? 'h23' : 'h12';
  const locales = localesOf(i18n.locale, navigator.languages).map((tag) => {
    const { baseName } = new Intl.Locale(tag);
    return hourCycle ? new Intl.Locale(baseName, { hourCycle }).toString() : baseName;
  });
  i18n.activate(i18n.locale, locales);
}

/** Regional forms of a language come first, since they decide about dates. */
function localesOf(language: string, wanted: readonly string[]): string[] {
  return [...wanted.filter((tag) => tag.split('-')[0] === language), language];
}

/** Empty unless there is a tag that browsers accept; others throw wherever a time is shown. */
function validTag(tag: string | undefined): string[] {
  try {
    return Intl.getCanonicalLocales(tag);
  } catch {
    return [];
  }
}

/** Languages of the browser, after the one that was chosen in it. */
export function browserLanguages(): readonly string[] {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {}
  return [chosen ?? [], navigator.languages].flat();
}
