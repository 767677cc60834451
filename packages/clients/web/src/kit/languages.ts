/** Languages with translations, by Zulip's codes. */
export const LANGUAGES = [
  'ar',
  'cs',
  'de',
  'en',
  'es',
  'fa',
  'fr',
  'he',
  'it',
  'ja',
  'nl',
  'pl',
  'pt-br',
  'tr',
  'uk',
  'zh-hans',
];

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
