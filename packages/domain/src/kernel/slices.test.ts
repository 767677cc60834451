import { slicesOf } from './work.js';

it.each([
  [[], 3, []],
  [[1, 2, 3], 3, [[1, 2, 3]]],
  [[1, 2, 3, 4], 3, [[1, 2, 3], [4]]],
  [[1, 2], 1, [[1], [2]]],
])('slicesOf splits %j into slices of %i', (list, size, expected) => {
  expect([...slicesOf<number>(list, size)]).toEqual(expected);
});
