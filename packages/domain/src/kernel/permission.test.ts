import { formatDecision } from '@parley/testkit';
import { all, allowed, denied, denyIf, enforce } from './permission.js';

const first = denied('NOT_PERMITTED', 'First');
const second = denied('UNKNOWN_USER', 'Second');

describe('all', () => {
  it.each([
    [[], 'yes'],
    [[allowed, allowed], 'yes'],
    [[allowed, first], 'NOT_PERMITTED: First'],
    [[first, second], 'NOT_PERMITTED: First'],
    [[second, allowed, first], 'UNKNOWN_USER: Second'],
  ])('combines %j to %s', (decisions, expected) => expect(formatDecision(all(...decisions))).toBe(expected));
});

describe('denyIf and enforce', () => {
  it('denies if the condition holds', () => {
    expect(formatDecision(denyIf(false, 'NOT_PERMITTED', 'No'))).toBe('yes');
    expect(formatDecision(denyIf(true, 'NOT_PERMITTED', 'No'))).toBe('NOT_PERMITTED: No');
  });

  it('throws only for a denied decision', () => {
    expect(() => enforce(allowed)).not.toThrow();
    const details = { permission: 'x' };
    expect(() => enforce(denied('SYSTEM_GROUP_REQUIRED', 'No', details))).toThrow(
      expect.objectContaining({ code: 'SYSTEM_GROUP_REQUIRED', message: 'No', details }),
    );
  });
});
