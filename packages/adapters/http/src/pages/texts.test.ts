import { languageOf } from './texts.js';

describe('page texts', () => {
  it.each([
    ['fr-CA, de;q=0.5', 'fr'],
    ['sv, pt-PT;q=0.8', 'pt-br'],
    ['zh-TW', 'en'],
    ['zh-CN,zh;q=0.9', 'zh-hans'],
    ['iw', 'he'],
    ['*, en', 'en'],
    [undefined, 'en'],
  ])('are chosen by language and script: %s → %s', (header, language) => {
    expect(languageOf(header)).toBe(language);
  });

  it("fall back to the organization's language", () => {
    expect(languageOf('sv', 'uk')).toBe('uk');
  });
});
