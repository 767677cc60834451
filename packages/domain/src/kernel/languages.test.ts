import { directionOf, textLanguageOf } from './languages.js';

describe('textLanguageOf', () => {
  it.each([
    [['pt-PT'], 'pt-br'],
    [['fa-IR'], 'fa'],
    [['ar-EG'], 'ar'],
    [['iw'], 'he'],
    [['zh-TW', 'zh-CN'], 'zh-hans'],
    [['*', '', 'no language'], 'en'],
    [['sv', 'uk', 'de'], 'uk'],
    [[], 'en'],
  ])('chooses by language and script: %j → %s', (tags, language) => {
    expect(textLanguageOf(tags)).toBe(language);
  });
});

describe('directionOf', () => {
  it.each([
    ['ar', 'rtl'],
    ['he', 'rtl'],
    ['en', 'ltr'],
  ] as const)('is that of the writing of the language: %s → %s', (language, direction) => {
    expect(directionOf(language)).toBe(direction);
  });
});
