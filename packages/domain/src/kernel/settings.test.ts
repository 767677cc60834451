import type { DomainError } from './errors.js';
import {
  changed,
  channelOrNull,
  checkSettingValues,
  flag,
  flagOrNull,
  integer,
  isSettingValue,
  limitOrNull,
  oneOf,
  settingChanges,
  settingValues,
  text,
  textOrNull,
} from './settings.js';

it.each([
  ['flag', flag(true), [true, false], [0, 'true', null, undefined]],
  ['flagOrNull', flagOrNull(null), [true, null], ['x', 1]],
  ['integer', integer(3), [0, -1], [1.5, '3', null, Number.NaN]],
  ['integer within bounds', integer(3, { min: 1, max: 7 }), [1, 7], [0, 8]],
  ['text', text('', { max: 3 }), ['', 'xyz', '🐙🐙🐙'], [0, null, [], 'wxyz']],
  ['text with a format', text('', { max: 9, isValid: (x) => x === 'tea' }), ['tea'], ['', 'coffee']],
  ['textOrNull', textOrNull(null, { max: 3 }), ['x', null], [true]],
  ['oneOf numbers', oneOf(1, [1, 2]), [1, 2], [3, '1', null]],
  ['oneOf strings', oneOf('a', ['a', 'b']), ['a', 'b'], ['c', 0]],
  ['limit', limitOrNull(5), [1, null], [0, -1, 1.5, 'unlimited']],
  ['channel', channelOrNull(), [7, null], [0, -1, 'general']],
])('isSettingValue validates values of kind %s', (_, definition, good, bad) => {
  for (const value of good) expect([value, isSettingValue(definition as never, value)]).toEqual([value, true]);
  for (const value of bad) expect([value, isSettingValue(definition as never, value)]).toEqual([value, false]);
});

describe('changes of settings', () => {
  const registry = { loud: flag(false), size: integer(3, { min: 1 }), color: oneOf('red', ['red', 'blue']) };
  const current = settingValues(registry, { size: 4, gone: true });
  const refusalOf = (attempt: () => unknown) => {
    try {
      attempt();
      return null;
    } catch (error) {
      return (error as DomainError).details;
    }
  };

  it('returns changed settings in registry order', () => {
    const changes = settingChanges(registry, current, { color: 'blue', size: 4, loud: true });
    expect(changes).toEqual([
      { name: 'loud', value: true },
      { name: 'color', value: 'blue' },
    ]);
    expect(changed(current, changes)).toEqual({ loud: true, size: 4, color: 'blue' });
    expect(settingChanges(registry, current, {})).toEqual([]);
  });

  it('rejects the first invalid value among the named settings', () => {
    const wanted = { loud: 1, size: 0, color: 'green' } as never;
    expect(refusalOf(() => checkSettingValues('user', registry, wanted))).toEqual({
      of: 'user',
      setting: 'loud',
      value: 1,
    });
    expect(refusalOf(() => checkSettingValues('realm', registry, wanted, ['color', 'loud']))).toEqual({
      of: 'realm',
      setting: 'color',
      value: 'green',
    });
    expect(refusalOf(() => checkSettingValues('user', registry, wanted, ['size']))).toMatchObject({ setting: 'size' });
    expect(refusalOf(() => checkSettingValues('user', registry, { loud: 1 } as never, ['size']))).toBeNull();
  });
});
