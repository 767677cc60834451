import { alertSegment, alertSegments } from './render-message.js';

it.each([
  ['Tea', 'tea'],
  ['high tea', 'high'],
  ["don't", 'don'],
  ['c++', 'c++'],
  [':)', ''],
  ['(tea)', '(tea'],
  ['部署', '部'],
  ['v2部署', 'v2'],
  ['𠀀x', '𠀀'],
])('alertSegment indexes %j by the segment %j', (word, segment) => {
  expect(alertSegment(word)).toBe(segment);
});

it.each([
  ['more tea, please', ['more', 'tea', 'please']],
  ['(tea)', ['(tea', 'tea']],
  ['xtea', ['xtea', 'tea']],
  ['今天部署v2完成', ['部', 'v2', '今天部署v2完成']],
  ["i don't", ['i', 'don', 't']],
])('alertSegments extracts from %j the segments of all possible alert words', (text, segments) => {
  expect([...alertSegments(text)]).toEqual(expect.arrayContaining(['', ...segments]));
});

it('alertSegments limits the number of segments of a text with many possible word starts', () => {
  expect(alertSegments('('.repeat(100_000)).size).toBeLessThan(300);
  expect(alertSegments('部署'.repeat(50_000)).size).toBeLessThan(10);
});
