import { flag, flagOrNull, integer, integerOrNull, isSettingValue, oneOf, text, textOrNull } from './settings.js';

it.each([
  ['flag', flag(true), [true, false], [0, 'true', null, undefined]],
  ['flagOrNull', flagOrNull(null), [true, null], ['x', 1]],
  ['integer', integer(3), [0, -1], [1.5, '3', null, Number.NaN]],
  ['integerOrNull', integerOrNull(3), [0, null], ['', {}]],
  ['text', text(''), ['', 'x'], [0, null, []]],
  ['textOrNull', textOrNull(null), ['x', null], [true]],
  ['oneOf numbers', oneOf(1, [1, 2]), [1, 2], [3, '1', null]],
  ['oneOf words', oneOf('a', ['a', 'b']), ['a', 'b'], ['c', 0]],
])('%s tells its values from others', (_, definition, good, bad) => {
  for (const value of good) expect([value, isSettingValue(definition as never, value)]).toEqual([value, true]);
  for (const value of bad) expect([value, isSettingValue(definition as never, value)]).toEqual([value, false]);
});
