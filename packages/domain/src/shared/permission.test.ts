import { answer } from '@parley/testkit';
import { all, allowed, denied, denyIf, enforce } from './permission.js';

const first = denied('NOT_PERMITTED', 'First');
const second = denied('INVALID_INPUT', 'Second');

describe('decisions together', () => {
  it.each([
    [[], 'yes'],
    [[allowed, allowed], 'yes'],
    [[allowed, first], 'NOT_PERMITTED: First'],
    [[first, second], 'NOT_PERMITTED: First'],
    [[second, allowed, first], 'INVALID_INPUT: Second'],
  ])('%j: %s', (decisions, expected) => expect(answer(all(...decisions))).toBe(expected));
});

describe('a decision', () => {
  it('refuses where its condition holds', () => {
    expect(answer(denyIf(false, 'NOT_PERMITTED', 'No'))).toBe('yes');
    expect(answer(denyIf(true, 'NOT_PERMITTED', 'No'))).toBe('NOT_PERMITTED: No');
  });

  it('lets on, or throws what it says', () => {
    expect(() => enforce(allowed)).not.toThrow();
    const details = { settingName: 'x' };
    expect(() => enforce(denied('SYSTEM_GROUP_REQUIRED', 'No', details))).toThrow(
      expect.objectContaining({ code: 'SYSTEM_GROUP_REQUIRED', message: 'No', details }),
    );
  });
});
