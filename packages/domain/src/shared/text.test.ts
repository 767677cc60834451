import { trim, trimEnd } from './text.js';

describe('white space', () => {
  const around = '\t\n\r \u001c\u0085\u00a0\u2003\u2028\u3000';

  it('goes from the ends, whatever kind it is', () => {
    expect(trim(`${around}a ${around} b${around}`)).toBe(`a ${around} b`);
    expect(trimEnd(`${around}a${around}`)).toBe(`${around}a`);
    expect(trim(around)).toBe('');
    expect(trim('')).toBe('');
  });

  it('is nothing that only looks like it', () => {
    for (const text of ['\ufeff', '\u200b', '\u0000']) expect(trim(` ${text} `)).toBe(text);
  });
});
