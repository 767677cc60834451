import { setupI18n } from '@lingui/core';
import { ParleyError } from '@parley/client';
import { reasonOf } from './reasons.js';
import { refusalText } from './refusals.js';

const messages = {
  'This search is not possible: {reason}': ['Nicht möglich: ', ['reason']],
  'unknown channel {operand}': ['Kein Kanal ', ['operand'], '.'],
};
const i18n = setupI18n({ locale: 'de', messages: { de: messages as never } });

it.each([
  ['unknown channel lost', 'Nicht möglich: Kein Kanal lost.'],
  ['something new', 'Nicht möglich: something new'],
])('translates the reason of a rejected search: %s', (desc, text) => {
  const error = { code: 'BAD_NARROW', message: `Invalid narrow operator: ${desc}`, details: { desc } };
  expect(reasonOf(error, i18n, (message) => refusalText(message, i18n))).toBe(text);
});

it('names the size as the reason of a response 413 of a proxy', () => {
  const error = new ParleyError('Answered with status 413, but not by Parley', 'TOO_LARGE', 413);
  expect(reasonOf(error, i18n, () => null)).toBe('This is larger than the server or its proxy accepts.');
});
