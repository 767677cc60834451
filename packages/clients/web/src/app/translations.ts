import { textLanguageFor } from '@parley/domain/kernel';

/** Loads the first listed language with a translation; null if there is none. */
export async function loadTranslation(tags: readonly string[]) {
  const language = tags.map(textLanguageFor).find((found) => found !== undefined);
  return language === undefined
    ? null
    : { language, ...((await import(`./texts/${language}.po`)) as typeof import('./texts/en.po')) };
}
