import { alertSegment, alertSegments } from './render-message.js';

it.each([
  ['Tea', 'tea'],
  ['high tea', 'high'],
  ["don't", 'don'],
  ['c++', 'c++'],
  [':)', ''],
  ['(tea)', '(tea'],
])('looks %j up by %j', (word, segment) => {
  expect(alertSegment(word)).toBe(segment);
});

it.each([
  ['more tea, please', ['more', 'tea', 'please']],
  ['(tea)', ['(tea', 'tea']],
  ['xtea', ['xtea', 'tea']],
  ["i don't", ['i', 'don', 't']],
])('finds in %j the segments of all words that may be said there', (text, segments) => {
  expect([...alertSegments(text)]).toEqual(expect.arrayContaining(['', ...segments]));
});

it('takes a time that does not grow with the length of what may be a word', () => {
  expect(alertSegments('('.repeat(100_000)).size).toBeLessThan(300);
});
