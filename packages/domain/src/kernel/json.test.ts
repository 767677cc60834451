import { workMsOf } from '@parley/testkit/process-usage';
import fc from 'fast-check';
import { endOfString, parseJson, replaceFractionals } from './json.js';

const nested = (depth: number, inside = '') => '['.repeat(depth) + inside + ']'.repeat(depth);

describe('parseJson', () => {
  it('parses well-formed JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value, null, 90);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('accepts long text and rejects deep nesting', () => {
    const flat = JSON.stringify(Array(2000).fill(['a']));
    expect(parseJson(flat)).toHaveLength(2000);
    expect(() => parseJson(nested(500))).not.toThrow();
    expect(() => parseJson(nested(501))).toThrow(SyntaxError);
    expect(() => parseJson(nested(200_000))).toThrow(SyntaxError);
  });

  it('does not count brackets inside strings as nesting', () => {
    const brackets = '['.repeat(900);
    expect(parseJson(JSON.stringify(brackets))).toBe(brackets);
    const tricky = `${brackets}\\"${brackets}\\\\`;
    expect(parseJson(JSON.stringify({ [tricky]: tricky }))).toEqual({ [tricky]: tricky });
  });

  it('limits the number of lists, dictionaries and keys but not of plain values', () => {
    expect(parseJson(JSON.stringify(Array(200_000).fill(1)))).toHaveLength(200_000);
    for (const part of ['[]', '{}', '{"a":1}']) {
      expect(() => parseJson(`[${`${part},`.repeat(10_000)}1]`)).not.toThrow();
      expect(() => parseJson(`[${`${part},`.repeat(30_000)}1]`)).toThrow(SyntaxError);
    }
  });

  it('replaces lone surrogates in escapes', () => {
    for (const [json, value] of [
      ['"\\\\ud800"', '\\ud800'],
      ['"\\ud800"', '\ufffd'],
      ['"\\uDC00\\ud800x"', '\ufffd\ufffdx'],
      ['"\\ud83d\\ude00\\ud83d"', '😀\ufffd'],
      ['"\\ud83d\\\\ude00"', '\ufffd\\ude00'],
    ] as const) {
      expect(parseJson(json)).toBe(value);
      expect(parseJson(`{${json}:1}`)).toEqual({ [value]: 1 });
    }
    fc.assert(
      fc.property(fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }), (text) => {
        expect(parseJson(JSON.stringify(text))).toBe(text.toWellFormed());
      }),
    );
  });

  it('replaces fractional numbers only', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        expect(replaceFractionals(json, (number) => number)).toBe(json);
        expect(replaceFractionals(json, () => 'null')).toBe(
          JSON.stringify(value, (_key, each) => (typeof each === 'number' && /[.e]/.test(`${each}`) ? null : each)),
        );
      }),
    );
    expect(replaceFractionals('[-1.5e+3,"2.0",{"3.0":4,"5":1E2},10,-7.0]', (number) => `"${number}"`)).toBe(
      '["-1.5e+3","2.0",{"3.0":4,"5":"1E2"},10,"-7.0"]',
    );
  });

  it('takes time proportional to the length', async () => {
    const hostile = [
      `[${'1'.repeat(500_000)},1.5]`,
      `[${'1.0,'.repeat(200_000)}1]`,
      `["${'\\"'.repeat(300_000)}",1.5]`,
    ];
    for (const json of hostile) {
      expect(await workMsOf(() => replaceFractionals(json, () => '0'), 1000)).toBeLessThan(1000);
    }
  });

  it('rejects invalid JSON', () => {
    for (const text of ['', '[', `"${'x'.repeat(600)}`, `[${'"x",'.repeat(200)}`]) {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
  });
});

describe('endOfString', () => {
  it('finds the end after any sequence of escapes', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('', '\\', 'a', '"'), (text, after) => {
        const json = JSON.stringify(text);
        expect(endOfString(json + after, 0)).toBe(json.length - 1);
      }),
    );
    expect(endOfString('"\\"', 0)).toBe(3);
    expect(endOfString('"\\\\"', 0)).toBe(3);
    expect(endOfString('"\\"\\\\"', 0)).toBe(5);
  });

  it('reads seven million escaped quotes within a turn of the event loop', async () => {
    const json = JSON.stringify('"'.repeat(7_000_000));
    expect(await workMsOf(() => endOfString(json, 0), 100)).toBeLessThan(100);
  });
});
