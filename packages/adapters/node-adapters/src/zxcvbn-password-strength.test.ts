import { workMsOf } from '@parley/testkit/process-usage';
import { ZxcvbnPasswordStrength } from './passwords.js';

const strength = new ZxcvbnPasswordStrength();

describe('ZxcvbnPasswordStrength', () => {
  it.each`
    password                                       | isEnough
    ${'password1'}                                 | ${false}
    ${'aaaaaaaaaaaa'}                              | ${false}
    ${'qwertyuiop'}                                | ${false}
    ${'cordelia'}                                  | ${false}
    ${'kangaroo fence 7 wombat'}                   | ${true}
    ${'a'.repeat(100)}                             | ${false}
    ${'password'.repeat(12)}                       | ${false}
    ${'p4$$w0rd'}                                  | ${false}
    ${`${'a'.repeat(60)} kangaroo fence 7 wombat`} | ${true}
  `('estimates whether $password takes ten thousand guesses: $isEnough', ({ password, isEnough }) => {
    expect(strength.leastGuesses(password, ['cordelia@zulip.com', 'Cordelia']) >= 10_000).toBe(isEnough);
  });

  it('recognizes the parts of known words', () => {
    const known = ['desdemona.of.venice@example.com'];
    expect(strength.leastGuesses('desdemona', known)).toBeLessThan(strength.leastGuesses('desdemona', []));
  });

  it('recognizes a long email address at any position', () => {
    const address = `${'kangaroo.fence.wombat.'.repeat(3)}@zulip.com`;
    for (const password of [address, address.toUpperCase(), `1${address}`, `${address}12`]) {
      expect(strength.leastGuesses(password, [address])).toBeLessThan(10_000);
    }
  });

  it.each([
    ...[
      '4@8({[<69!1|7$5+%20',
      '1!|7$5+%',
      '$@$$w0rd|1!4@',
      '0123456789!|$+',
      '1234567890',
      '1/1/1999',
      'p@55w0rd',
      '!|$1',
    ],
    'x',
    'abcabcabd',
  ])('estimates a password of repeated %s without blocking other requests', async (pattern) => {
    const password = pattern.repeat(100).slice(0, 100);
    expect(await workMsOf(() => strength.leastGuesses(password, ['cordelia@zulip.com', 'Cordelia']), 50)).toBeLessThan(
      50,
    );
  });

  it('estimates a password of mixed characters without blocking other requests', async () => {
    const printable = Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + ((n * 37) % 94))).join('');
    expect(await workMsOf(() => strength.leastGuesses(printable, []), 50)).toBeLessThan(50);
  });
});
