import { workMsOf } from '@parley/testkit/process-usage';
import fc from 'fast-check';
import {
  compareCodePoints,
  isLongerThan,
  isShorterThan,
  pieceOf,
  sortByCodePoints,
  takeCodePoints,
  trim,
  trimEnd,
  utf8Length,
} from './text.js';

describe('trim', () => {
  const around = '\t\n\r \u001c\u0085\u00a0\u2003\u2028\u3000';

  it('trims every kind of white space from both ends', () => {
    expect(trim(`${around}a ${around} b${around}`)).toBe(`a ${around} b`);
    expect(trimEnd(`${around}a${around}`)).toBe(`${around}a`);
    expect(trim(around)).toBe('');
    expect(trim('')).toBe('');
  });

  it('does not trim characters that only look like white space', () => {
    for (const text of ['\ufeff', '\u200b', '\u0000']) expect(trim(` ${text} `)).toBe(text);
  });
});

describe('pieceOf', () => {
  it('returns the same text as slice for any characters', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '字', '\ud83d', '\ude00'), maxLength: 3000 });
    fc.assert(
      fc.property(text, fc.nat(3000), fc.nat(3000), (whole, start, end) => {
        expect(pieceOf(whole, start, end)).toBe(whole.slice(start, end));
        expect(pieceOf(whole, start)).toBe(whole.slice(start));
      }),
    );
  });
});

describe('length in code points', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'é', '字', '😀', '\ud800') });

  it('compares lengths in code points', () => {
    fc.assert(
      fc.property(texts, fc.nat(12), (text, limit) => {
        expect(isLongerThan(text, limit)).toBe([...text].length > limit);
        expect(isShorterThan(text, limit)).toBe([...text].length < limit);
      }),
    );
  });

  it('truncates without splitting surrogate pairs', () => {
    fc.assert(
      fc.property(texts, fc.nat(12), (text, length) => {
        expect(takeCodePoints(text, length)).toBe([...text].slice(0, length).join(''));
      }),
    );
  });

  it('does not count if the UTF-16 length is conclusive', async () => {
    const text = '😀'.repeat(5_000_000);
    const work = () => {
      for (let time = 0; time < 1000; time++) {
        isLongerThan(text, 60);
        isShorterThan(text, 60);
        takeCodePoints(text, 60);
      }
    };
    expect(await workMsOf(work, 200)).toBeLessThan(200);
  });
});

describe('utf8Length', () => {
  it('matches the encoded length, including lone surrogates', () => {
    const units = fc.constantFrom(
      'a',
      '\u007f',
      '\u0080',
      'é',
      '\u07ff',
      '\u0800',
      '字',
      '😀',
      '\ud800',
      '\udc00',
      '\uffff',
    );
    fc.assert(
      fc.property(fc.string({ unit: units }), (text) => {
        expect(utf8Length(text)).toBe(Buffer.byteLength(text));
      }),
    );
  });
});

describe('compareCodePoints and sortByCodePoints', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '字', '\uffee', '😀', '🙂') });

  it('orders texts by code points', () => {
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const [one, other] = [a, b].map((text) => Array.from(text, (it) => it.codePointAt(0)!));
        const at = one!.findIndex((it, index) => it !== other![index]);
        const expected = at === -1 ? one!.length - other!.length : one![at]! - (other![at] ?? -1);
        expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(expected));
      }),
    );
  });

  it('sorts lists by code points', () => {
    const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '字', '\uff01', '\ue000', '😀') }));
    fc.assert(
      fc.property(texts, (list) => {
        expect(sortByCodePoints([...list], (text) => text)).toEqual([...list].sort(compareCodePoints));
      }),
    );
  });
});
