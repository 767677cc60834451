/** Languages of the web client, pages, emails and push notifications, by Zulip's codes. */
export const TEXT_LANGUAGES = [
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
] as const;

export type TextLanguage = (typeof TEXT_LANGUAGES)[number];

/** Writing direction of a language. */
export const directionOf = (language: string): 'ltr' | 'rtl' => (/^(ar|fa|he)$/.test(language) ? 'rtl' : 'ltr');

/** Returns the language of the first tag with texts; English if there is none. */
export function textLanguageOf(tags: readonly string[]): TextLanguage {
  for (const tag of tags) {
    const found = textLanguageFor(tag);
    if (found) return found;
  }
  return 'en';
}

/** Returns the language for readers of a language tag: `pt-br` for `pt-PT`, none for `zh-TW`. */
export function textLanguageFor(tag: string): TextLanguage | undefined {
  const wanted = localeOf(tag);
  return TEXT_LANGUAGES.find((language) => {
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
