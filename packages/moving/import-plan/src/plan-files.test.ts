import { startsLikePicture } from './plan-files.js';

it.each([
  [true, 'PNG', '89504e470d0a1a0a'],
  [true, 'JPEG', 'ffd8ffe000104a46'],
  [true, 'GIF', '474946383961'],
  [true, 'WebP', '524946460a00000057454250'],
  [false, 'a WAV recording', '524946460a00000057415645'],
  [false, 'an AVI video', '5249464624000000415649204c495354'],
  [false, 'a text', '47494620'],
  [false, 'an empty file', ''],
])('startsLikePicture returns %s for %s', (expected, _, start) => {
  expect(startsLikePicture(Buffer.from(start, 'hex'))).toBe(expected);
});
