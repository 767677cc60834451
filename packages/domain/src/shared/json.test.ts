import fc from 'fast-check';
import { parseJson, replaceNumbers } from './json.js';

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

  it('may have its numbers replaced, and nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        expect(replaceNumbers(json, (number) => number)).toBe(json);
        expect(replaceNumbers(json, () => 'null')).toBe(
          JSON.stringify(value, (_key, each) => (typeof each === 'number' ? null : each)),
        );
      }),
    );
    expect(replaceNumbers('[-1.5e+3,"2",{"3":4}]', (number) => `"${number}"`)).toBe('["-1.5e+3","2",{"3":"4"}]');
  });

  it('is refused when it is none', () => {
    for (const text of ['', '[', `"${'x'.repeat(600)}`, `[${'"x",'.repeat(200)}`]) {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
  });
});
