import { formatDecision } from '@parley/testkit';
import { all, allowed, denied, denyIf, enforce } from './permission.js';

const first = denied('NOT_PERMITTED', 'First');
const second = denied('UNKNOWN_USER', 'Second');

describe('decisions together', () => {
  it.each([
    [[], 'yes'],
    [[allowed, allowed], 'yes'],
    [[allowed, first], 'NOT_PERMITTED: First'],
    [[first, second], 'NOT_PERMITTED: First'],
    [[second, allowed, first], 'UNKNOWN_USER: Second'],
  ])('%j: %s', (decisions, expected) => expect(formatDecision(all(...decisions))).toBe(expected));
});

describe('a decision', () => {
  it('refuses where its condition holds', () => {
    expect(formatDecision(denyIf(false, 'NOT_PERMITTED', 'No'))).toBe('yes');
    expect(formatDecision(denyIf(true, 'NOT_PERMITTED', 'No'))).toBe('NOT_PERMITTED: No');
  });

  it('enforce passes an allowed decision and throws a denied one', () => {
    expect(() => enforce(allowed)).not.toThrow();
    const details = { permission: 'x' };
    expect(() => enforce(denied('SYSTEM_GROUP_REQUIRED', 'No', details))).toThrow(
      expect.objectContaining({ code: 'SYSTEM_GROUP_REQUIRED', message: 'No', details }),
    );
  });
});
