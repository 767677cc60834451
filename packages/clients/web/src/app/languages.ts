import { type I18n, setupI18n } from '@lingui/core';
import { directionOf } from '@parley/domain/kernel';
import { compiled } from './english.js';
import { messages as english } from './texts/en.po';

const KEY = 'parley-language';
const ENGLISH = 'en';

/** Loads the first listed language with a translation; null without one. Readers of English need none of this. */
const translationOf = (tags: readonly string[]) =>
  import('./translations.js').then(({ loadTranslation }) => loadTranslation(tags));

/** Loads the first listed language with a translation, or English. `dates`: preferred locales for dates. */
export async function loadLanguage(tags: readonly string[], dates: readonly string[] = []): Promise<I18n> {
  const isEnglish = tags[0]?.split('-')[0] === ENGLISH;
  const { language, messages } = (isEnglish ? null : await translationOf(tags)) ?? {
    language: ENGLISH,
    messages: english,
  };
  return setupI18n({
    locale: language,
    locales: [...dates, ...localesOf(language, tags)],
    messages: { [language]: messages },
  }).setMessagesCompiler(compiled);
}

/** Switches to the translation for a language tag, now and for the next start. Other languages change nothing. */
export async function changeLanguage(i18n: I18n, tag: string): Promise<void> {
  const translation = await translationOf([tag]);
  if (translation === null) return;
  const { language, messages } = translation;
  // Storage may be forbidden; the choice then lasts until the page is closed.
  try {
    localStorage.setItem(KEY, language);
  } catch {}
  if (i18n.locale === language) return;
  i18n.load(language, messages);
  i18n.activate(language, timeLocalesOf(language));
  showLanguage(language);
}

/** Declares the page's language and direction to browsers and screen readers. */
export function showLanguage(language: string): void {
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
}

/** Chosen format of times, which a change of language keeps; undefined for the default of the language. */
let hourCycle: 'h12' | 'h23' | undefined;

/** Formats times with 24 hours, with 12, or in the default of the language. */
export function changeHours(i18n: I18n, has24Hours: boolean | null): void {
  hourCycle = has24Hours === null ? undefined : has24Hours ? 'h23' : 'h12';
  i18n.activate(i18n.locale, timeLocalesOf(i18n.locale));
}

const timeLocalesOf = (language: string): string[] =>
  localesOf(language, navigator.languages).map((tag) => {
    const { baseName } = new Intl.Locale(tag);
    return hourCycle ? new Intl.Locale(baseName, { hourCycle }).toString() : baseName;
  });

/** Prefers regional variants of a language, since they determine date formats. */
function localesOf(language: string, wanted: readonly string[]): string[] {
  return [...wanted.filter((tag) => tag.split('-')[0] === language.split('-')[0]), language];
}

/** Omits tags that browsers reject, which would throw wherever a time is formatted. */
export function validTag(tag: string | undefined): string[] {
  try {
    return Intl.getCanonicalLocales(tag);
  } catch {
    return [];
  }
}

/** Browser languages, preceded by the language chosen in this browser. */
export function browserLanguages(): readonly string[] {
  let chosen: string | null = null;
  // Storage may be forbidden.
  try {
    chosen = localStorage.getItem(KEY);
  } catch {}
  return [chosen ?? [], navigator.languages].flat();
}
