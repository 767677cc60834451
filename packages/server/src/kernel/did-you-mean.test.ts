import { hint, nearest } from './did-you-mean.js';

describe('nearest', () => {
  it.each`
    given              | known                             | meant
    ${'prot'}          | ${['port', 'host']}               | ${'port'}
    ${'PARLEY_PROT'}   | ${['PARLEY_HOST', 'PARLEY_PORT']} | ${'PARLEY_PORT'}
    ${'create-user'}   | ${['user create', 'user rename']} | ${'user create'}
    ${'user craete'}   | ${['user create', 'user rename']} | ${'user create'}
    ${'log_level'}     | ${['log-level']}                  | ${'log-level'}
    ${'dance'}         | ${['serve', 'user list']}         | ${null}
    ${'x'}             | ${['serve']}                      | ${null}
    ${'y'.repeat(9e4)} | ${['y'.repeat(9e4 - 1)]}          | ${null}
  `('returns $meant for $given', ({ given, known, meant }) => {
    expect(nearest(given, known)).toBe(meant);
  });

  it('formats a suggestion as the end of a sentence', () => {
    expect(hint('prot', ['port'])).toBe('; did you mean port?');
    expect(hint('dance', ['port'])).toBe('');
  });
});
