import { keepsTooMuchText, MAX_KEPT_TEXT_BYTES } from './text.js';

it('is too much with one byte more than there may be', () => {
  expect(keepsTooMuchText(MAX_KEPT_TEXT_BYTES - 4, ['ab', 'é'])).toBe(false);
  expect(keepsTooMuchText(MAX_KEPT_TEXT_BYTES - 4, ['abc', 'é'])).toBe(true);
  expect(keepsTooMuchText(MAX_KEPT_TEXT_BYTES, ['abc'], ['ab'])).toBe(true);
});

it('is not too much where it does not grow, however much there is', () => {
  expect(keepsTooMuchText(2 * MAX_KEPT_TEXT_BYTES, ['abc'], ['abc'])).toBe(false);
  expect(keepsTooMuchText(2 * MAX_KEPT_TEXT_BYTES, ['ab'], ['abc'])).toBe(false);
  expect(keepsTooMuchText(2 * MAX_KEPT_TEXT_BYTES, ['abc'], ['ab'])).toBe(true);
});
