import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setupI18n } from '@lingui/core';
import { TEXT_LANGUAGES } from '@parley/domain/kernel';
import { REFUSALS, refusalText, valuesIn } from './refusals.js';

const CONTRACT = join(__dirname, '../../../../../docs/contract');

/** Texts in code spans of the contract. */
const inContract = readdirSync(CONTRACT).flatMap((file) => [
  ...readFileSync(join(CONTRACT, file), 'utf8').matchAll(/`([^`\n]+)`/g),
]);

/** Parley-specific limit message, which the contract lacks. */
const OWN = 'Too many {things} (limit: {limit}).';

const catalogue = (locale: string) => readFileSync(join(__dirname, `texts/${locale}.po`), 'utf8');
const translationOf = (text: string, locale: string) =>
  catalogue(locale)
    .split(`msgid ${JSON.stringify(text)}\nmsgstr "`)[1]
    ?.split('"\n')[0];

describe('list of server error texts', () => {
  it.each(REFUSALS.filter((text) => text !== OWN))("uses the contract's wording: %s", (text) => {
    expect(inContract.some(([, shown = '']) => valuesIn(shown, text) !== null)).toBe(true);
  });

  it.each(REFUSALS)('has a translation with the same placeholders in each catalog: %s', (text) => {
    const parts = text.match(/\{\w+\}/g) ?? [];
    for (const locale of TEXT_LANGUAGES) {
      const translation = translationOf(text, locale);
      expect(translation).toBeTruthy();
      expect(parts).toEqual(expect.arrayContaining(translation!.match(/\{\w+\}/g) ?? []));
    }
  });

  it('is searched by wording and extracts the values of a message', () => {
    const i18n = setupI18n({
      locale: 'de',
      messages: {
        de: {
          "User group '{name}' already exists.": ['Es gibt „', ['name'], '“.'],
          'Invalid domain: {reason}': ['Nicht möglich: ', ['reason']],
          "Domain can't be empty.": 'Sie ist leer.',
        },
      },
    });
    expect(refusalText("User group 'it's (a) test' already exists.", i18n)).toBe("Es gibt „it's (a) test“.");
    expect(refusalText("Invalid domain: Domain can't be empty.", i18n)).toBe('Nicht möglich: Sie ist leer.');
    expect(refusalText('Something new', i18n)).toBeNull();
  });
});
