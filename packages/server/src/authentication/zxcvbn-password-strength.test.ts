import { ZxcvbnPasswordStrength } from './zxcvbn-password-strength.js';

const strength = new ZxcvbnPasswordStrength();

describe('ZxcvbnPasswordStrength', () => {
  it.each`
    password                     | isEnough
    ${'password1'}               | ${false}
    ${'aaaaaaaaaaaa'}            | ${false}
    ${'qwertyuiop'}              | ${false}
    ${'cordelia'}                | ${false}
    ${'kangaroo fence 7 wombat'} | ${true}
  `('finds that $password takes ten thousand guesses: $isEnough', ({ password, isEnough }) => {
    expect(strength.leastGuesses(password, ['cordelia@zulip.com', 'Cordelia']) >= 10_000).toBe(isEnough);
  });

  it('knows the parts of what is known', () => {
    const known = ['desdemona.of.venice@example.com'];
    expect(strength.leastGuesses('desdemona', known)).toBeLessThan(strength.leastGuesses('desdemona', []));
  });
});
