import { keepsTooMuchText, MAX_KEPT_TEXT_BYTES } from './text.js';

it('keepsTooMuchText detects text one byte over the limit', () => {
  expect(keepsTooMuchText(MAX_KEPT_TEXT_BYTES - 4, ['ab', 'é'])).toBe(false);
  expect(keepsTooMuchText(MAX_KEPT_TEXT_BYTES - 4, ['abc', 'é'])).toBe(true);
  expect(keepsTooMuchText(MAX_KEPT_TEXT_BYTES, ['abc'], ['ab'])).toBe(true);
});

it('keepsTooMuchText allows changes without growth even over the limit', () => {
  expect(keepsTooMuchText(2 * MAX_KEPT_TEXT_BYTES, ['abc'], ['abc'])).toBe(false);
  expect(keepsTooMuchText(2 * MAX_KEPT_TEXT_BYTES, ['ab'], ['abc'])).toBe(false);
  expect(keepsTooMuchText(2 * MAX_KEPT_TEXT_BYTES, ['abc'], ['ab'])).toBe(true);
});
