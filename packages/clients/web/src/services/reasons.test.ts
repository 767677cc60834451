import { setupI18n } from '@lingui/core';
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
