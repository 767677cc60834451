import { parseRange } from './serve-file.js';

it.each([
  [undefined, 'all'],
  ['bytes=0-', { start: 0, end: 10 }],
  ['bytes=2-4', { start: 2, end: 5 }],
  ['bytes=9-9', { start: 9, end: 10 }],
  ['bytes=5-99', { start: 5, end: 10 }],
  ['bytes=-3', { start: 7, end: 10 }],
  ['bytes=-99', { start: 0, end: 10 }],
  ['bytes=-0', 'none'],
  ['bytes=10-', 'none'],
  ['bytes=10-12', 'none'],
  // Malformed and multi-part ranges return the whole file.
  ['bytes=4-2', 'all'],
  ['bytes=-', 'all'],
  ['bytes=0-1,3-4', 'all'],
  ['lines=0-1', 'all'],
  ['bytes=a-b', 'all'],
])('parseRange parses the range %s of ten bytes as %j', (header, expected) =>
  expect(parseRange(header, 10)).toEqual(expected),
);

it('parseRange returns no range for an empty file', () => {
  expect(parseRange('bytes=0-', 0)).toBe('none');
  expect(parseRange('bytes=-5', 0)).toBe('none');
});
