import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { NOTICE_TEXTS } from '@parley/domain/access';
import { TEXT_LANGUAGES } from '@parley/domain/kernel';
import { catalogueOf, noticeTexts } from './catalogues.js';
import { PAGE_TEXTS } from './page-texts.js';

const LANGUAGES = TEXT_LANGUAGES.filter((language) => language !== 'en');
const placeholdersOf = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

describe.each([
  ['pages', PAGE_TEXTS],
  ['notices', NOTICE_TEXTS],
] as const)('catalogues of %s', (folder, texts) => {
  it('exist for the same languages as the list', () => {
    const files = readdirSync(join(__dirname, '../../texts', folder));
    expect(files.sort()).toEqual(LANGUAGES.map((language) => `${language}.po`).sort());
  });

  it.each(LANGUAGES)('translate all English texts, with their placeholders: %s', (language) => {
    const catalogue = new Map(catalogueOf(folder, language));
    catalogue.delete('');
    expect([...catalogue.keys()].sort()).toEqual([...texts].sort());
    for (const [text, translation] of catalogue) {
      expect(translation).not.toBe('');
      expect(placeholdersOf(translation)).toEqual(placeholdersOf(text));
    }
  });
});

describe('noticeTexts', () => {
  it('replaces each placeholder once', () => {
    const values = { person: 'Ann {organization}', organization: '$& {person}' };
    expect(
      noticeTexts('de')('{person} has deactivated your account at {organization}. You can no longer log in.', values),
    ).toBe('Ann {organization} hat Ihr Konto bei $& {person} deaktiviert. Sie können sich nicht mehr anmelden.');
  });

  it('returns English texts without a catalogue', () => {
    expect(noticeTexts('en')('Hello,')).toBe('Hello,');
  });
});
