import { TEXT_LANGUAGES } from '../kernel/languages.js';
import { TEXTS } from './email-texts/de.js';
import { type EmailText, loadEmailWords } from './email-texts.js';

const placeholdersOf = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
const speaking = (defaultLanguage: string) => ({ settings: { defaultLanguage } });

describe('email texts', () => {
  it.each(TEXT_LANGUAGES)('have the same placeholders as in English: %s', async (language) => {
    const { t } = await loadEmailWords(speaking(language), speaking('en'));
    for (const text of Object.keys(TEXTS) as EmailText[]) {
      const names = placeholdersOf(text).map((name) => name.slice(1, -1));
      const translated = t(text, Object.fromEntries(names.map((name) => [name, `{${name}}`])));
      expect(placeholdersOf(translated)).toEqual(placeholdersOf(text));
    }
  });

  it.each([
    ['de', 'fr', 'de'],
    ['en', 'fr', 'en'],
    ['sv', 'fr', 'fr'],
    ['sv', 'vi', 'en'],
    ['pt', 'en', 'pt-br'],
    [null, 'ja', 'ja'],
  ])('are in the language of the user, else of the organization: %s, %s → %s', async (user, realm, language) => {
    expect(await loadEmailWords(user === null ? null : speaking(user), speaking(realm))).toMatchObject({ language });
  });

  it('replace each placeholder once', async () => {
    const { t } = await loadEmailWords(null, speaking('de'));
    const values = { person: 'Ann {organization}', organization: '$& {person}' };
    expect(t('{person} has deactivated your account at {organization}. You can no longer log in.', values)).toBe(
      'Ann {organization} hat Ihr Konto bei $& {person} deaktiviert. Sie können sich nicht mehr anmelden.',
    );
  });
});
