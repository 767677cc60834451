import { LANGUAGES } from '../kit/languages.js';

/** Loads the first listed language with a translation; null if there is none. */
export async function loadTranslation(tags: readonly string[]) {
  const language = tags.map(languageOf).find((found) => found !== undefined);
  return language === undefined
    ? null
    : { language, ...((await import(`./texts/${language}.po`)) as typeof import('./texts/en.po')) };
}

/** Returns the translation for readers of a language tag: `pt-br` for `pt-PT`, none for `zh-TW`. */
export function languageOf(tag: string): string | undefined {
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
