import { directionOf, textLanguageFor, textLanguageOf } from './languages.js';

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

describe('textLanguageFor', () => {
  it.each([
    ['de-AT', 'de'],
    ['en-GB', 'en'],
    ['pt-PT', 'pt-br'],
    ['zh-CN', 'zh-hans'],
    ['zh-Hans-SG', 'zh-hans'],
    ['fa-IR', 'fa'],
    ['ar-EG', 'ar'],
    ['iw', 'he'],
    ['zh-TW', undefined],
    ['zh-hant', undefined],
    ['sv', undefined],
    ['not a tag', undefined],
  ])('returns the language of the same script: %s → %s', (tag, language) => {
    expect(textLanguageFor(tag)).toBe(language);
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
