import { TEXT_LANGUAGES } from '@parley/domain/kernel';
import { TEXTS } from './texts/de.js';
import { languageOf, loadWords } from './texts.js';

const placeholdersOf = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

describe('page texts', () => {
  it.each(TEXT_LANGUAGES)('have the same placeholders as in English: %s', async (language) => {
    const { message } = await loadWords(language);
    for (const text of Object.keys(TEXTS)) expect(placeholdersOf(message(text))).toEqual(placeholdersOf(text));
  });

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
