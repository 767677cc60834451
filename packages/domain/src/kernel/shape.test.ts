import { moment, time } from './shape.js';

it('moment and time accept displayable times with or without fractions', () => {
  expect([0, 1700000000.75, 253_402_300_799].map((value) => time(value, 'here'))).toEqual([
    0, 1700000000, 253_402_300_799,
  ]);
  expect(moment(1700000000.75, 'here')).toBe(1700000000.75);
});

it.each([-1, 253_402_300_800, 1e13, -1e300, '1', null])('moment and time reject %p', (value) => {
  expect(() => time(value, 'here')).toThrow(/^here is /);
});
