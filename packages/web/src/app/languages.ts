import { type I18n, setupI18n } from '@lingui/core';

const CATALOGS = {
  en: () => import('./texts/en.po'),
  de: () => import('./texts/de.po'),
} as const;
const KEY = 'parley-language';

type Language = keyof typeof CATALOGS;

export const isLanguage = (name: string): name is Language => name in CATALOGS;

/** Loads the first listed language with a translation, or English. `dates`: date format. */
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

/** Switches the language, now and for the next start. */
export async function changeLanguage(i18n: I18n, language: Language): Promise<void> {
  // Storage may be forbidden; the choice then lasts until the page is closed.
  try {
    localStorage.setItem(KEY, language);
  } catch {}
  if (i18n.locale === language) return;
  const { messages } = await CATALOGS[language]();
  i18n.load(language, messages);
  i18n.activate(language, localesOf(language, navigator.languages));
  document.documentElement.lang = language;
}

/** Formats times with 24 hours, with 12, or in the default of the language. */
export function changeHours(i18n: I18n, has24Hours: boolean | null): void {
  const hourCycle = has24Hours === null ? undefined : has24Hours ? 'h23' : 'h12';
  const locales = localesOf(i18n.locale, navigator.languages).map((tag) => {
    const { baseName } = new Intl.Locale(tag);
    return hourCycle ? new Intl.Locale(baseName, { hourCycle }).toString() : baseName;
  });
  i18n.activate(i18n.locale, locales);
}

/** Prefers regional variants of a language, since they determine date formats. */
function localesOf(language: string, wanted: readonly string[]): string[] {
  return [...wanted.filter((tag) => tag.split('-')[0] === language), language];
}

/** Omits tags that browsers reject, which would throw wherever a time is formatted. */
function validTag(tag: string | undefined): string[] {
  try {
    return Intl.getCanonicalLocales(tag);
  } catch {
    return [];
  }
}

/** Browser languages, preceded by the language chosen in this browser. */
export function browserLanguages(): readonly string[] {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {}
  return [chosen ?? [], navigator.languages].flat();
}
