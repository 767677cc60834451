import fc from 'fast-check';
import { parseJson } from './json.js';

const nested = (depth: number, inside = '') => '['.repeat(depth) + inside + ']'.repeat(depth);

describe('JSON of strangers', () => {
  it('is what it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value, null, 90);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('may be as long as it likes, but not as deep', () => {
    const flat = JSON.stringify(Array(2000).fill(['a']));
    expect(parseJson(flat)).toHaveLength(2000);
    expect(() => parseJson(nested(500))).not.toThrow();
    expect(() => parseJson(nested(501))).toThrow(SyntaxError);
    expect(() => parseJson(nested(200_000))).toThrow(SyntaxError);
  });

  it('may say brackets as often as it likes', () => {
    const brackets = '['.repeat(900);
    expect(parseJson(JSON.stringify(brackets))).toBe(brackets);
    const tricky = `${brackets}\\"${brackets}\\\\`;
    expect(parseJson(JSON.stringify({ [tricky]: tricky }))).toEqual({ [tricky]: tricky });
  });

  it('is refused when it is none', () => {
    for (const text of ['', '[', `"${'x'.repeat(600)}`, `[${'"x",'.repeat(200)}`]) {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
  });
});
