import { setupI18n } from '@lingui/core';
import { sizeText } from './size-text.js';

const i18n = setupI18n({ locale: 'en', messages: { en: {} } });

it.each([
  [1, '1 byte'],
  [14, '14 bytes'],
  [999, '999 bytes'],
  [1000, '1 kB'],
  [2500, '2.5 kB'],
  [3_140_000, '3.1 MB'],
])('shows %d bytes as “%s”', (bytes, expected) => {
  expect(sizeText(i18n, bytes)).toBe(expected);
});
