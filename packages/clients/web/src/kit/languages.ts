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
