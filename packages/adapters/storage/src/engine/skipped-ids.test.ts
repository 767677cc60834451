import { idsToSkip } from './skipped-ids.js';

it.each([
  ['no lost time', 0, 4096],
  ['a second', 1, 4146],
  ['part of a second', 0.1, 4146],
  ['a day', 86_400, 4_324_096],
  ['a clock that was ahead', -3600, 4096],
  ['many years', 2 ** 40, 2 ** 27],
  ['unbounded time', Number.POSITIVE_INFINITY, 2 ** 27],
])('skips ids after a loss of %s', (_, secondsLost, expected) => {
  expect(idsToSkip(secondsLost)).toBe(expected);
});

it('fits five hundred restored backups of years ago into the 2^36 event numbers of an organization', () => {
  expect(500 * idsToSkip(Number.POSITIVE_INFINITY)).toBeLessThan(2 ** 36);
});
