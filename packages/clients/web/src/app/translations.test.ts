import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TEXT_LANGUAGES } from '@parley/domain/kernel';

const SOURCES = join(__dirname, '..');
/** Folders with a catalog per language. */
const FOLDERS = ['app', 'managing', 'services'];

const catalogOf = (folder: string, language: string): ReadonlyMap<string, string> => {
  const text = readFileSync(join(SOURCES, folder, `texts/${language}.po`), 'utf8');
  const entries = [...text.matchAll(/^msgid (".+")\nmsgstr (".*")$/gm)];
  return new Map(entries.map(([, id, translation]) => [JSON.parse(id!), JSON.parse(translation!)]));
};
const placeholdersOf = (text: string) => [...new Set(text.match(/\{\w+(?=[,}])/g) ?? [])].sort();

it('notifications recognize the attributions of quotes in all languages', () => {
  const source = readFileSync(join(__dirname, '../../../../domain/src/push/notification-text.ts'), 'utf8');
  expect(TEXT_LANGUAGES.filter((language) => !source.includes(`'${catalogOf('app', language).get('said')}'`))).toEqual(
    [],
  );
});

describe.each(FOLDERS)('catalogs of %s', (folder) => {
  it('exist for the same languages as the list', () => {
    const files = readdirSync(join(SOURCES, folder, 'texts')).map((file) => file.replace('.po', ''));
    expect(files.sort()).toEqual([...TEXT_LANGUAGES].sort());
  });

  it.each(TEXT_LANGUAGES)(
    'translate the same texts as the English catalog, with their placeholders: %s',
    (language) => {
      const english = catalogOf(folder, 'en');
      const catalog = catalogOf(folder, language);
      // A missing text with a plural would be shown in message syntax.
      expect([...catalog.keys()].sort()).toEqual([...english.keys()].sort());
      for (const [id, translation] of catalog) {
        // English catalogs name fewer values where one of them does not help the reader.
        if (folder === 'services')
          expect(placeholdersOf(id)).toEqual(expect.arrayContaining(placeholdersOf(translation)));
        else expect(placeholdersOf(translation)).toEqual(placeholdersOf(english.get(id)!));
      }
    },
  );
});
