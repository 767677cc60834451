import { alertSegment, alertSegments } from './render-message.js';

it.each([
  ['Tea', 'tea'],
  ['high tea', 'high'],
  ["don't", 'don'],
  ['c++', 'c++'],
  [':)', ''],
  ['(tea)', '(tea'],
])('alertSegment indexes %j by the segment %j', (word, segment) => {
  expect(alertSegment(word)).toBe(segment);
});

it.each([
  ['more tea, please', ['more', 'tea', 'please']],
  ['(tea)', ['(tea', 'tea']],
  ['xtea', ['xtea', 'tea']],
  ["i don't", ['i', 'don', 't']],
])('alertSegments extracts from %j the segments of all possible alert words', (text, segments) => {
  expect([...alertSegments(text)]).toEqual(expect.arrayContaining(['', ...segments]));
});

it('alertSegments limits the number of segments of a text with many possible word starts', () => {
  expect(alertSegments('('.repeat(100_000)).size).toBeLessThan(300);
});
