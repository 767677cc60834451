import { isUnspacedAt, isUnspacedBefore } from './unspaced-scripts.js';

it.each(['请', 'の', 'カ', '한', 'ก', '，', '（', '】', '𠀀'])('recognizes %s on both sides of a word', (letter) => {
  const text = `${letter}a${letter}`;
  expect(isUnspacedBefore(text, letter.length)).toBe(true);
  expect(isUnspacedAt(text, letter.length + 1)).toBe(true);
});

it.each(['é', 'я', 'ש', 'ا', '😀', ' ', '“'])('recognizes no other letter, such as %s', (letter) => {
  const text = `${letter}a${letter}`;
  expect(isUnspacedBefore(text, letter.length)).toBe(false);
  expect(isUnspacedAt(text, letter.length + 1)).toBe(false);
});

it('recognizes nothing at the ends of a text', () => {
  expect([isUnspacedBefore('', 0), isUnspacedAt('', 0), isUnspacedBefore('请', 0)]).toEqual([false, false, false]);
});
