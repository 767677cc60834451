import { memoize, TextCache } from './text-cache.js';

const MILLION = 1_000_000;
const textOf = (letter: string, length: number) => letter.repeat(length);

describe('a cache of texts', () => {
  it('holds four million characters, and begins anew with the text that would be beyond', () => {
    const cache = new TextCache<number>();
    const texts = ['a', 'b', 'c', 'd'].map((letter) => textOf(letter, MILLION));
    for (const [n, text] of texts.entries()) cache.put(text, n);
    expect(texts.map((text) => cache.get(text))).toEqual([0, 1, 2, 3]);
    cache.put('e', 4);
    expect([cache.get('e'), cache.get(texts[0]!), cache.get(texts[3]!)]).toEqual([4, undefined, undefined]);
    // What is gone is not counted any more.
    for (const [n, text] of texts.slice(0, 3).entries()) cache.put(text, n);
    expect([cache.get('e'), cache.get(texts[0]!)]).toEqual([4, 0]);
  });
});

describe('a function with a memory', () => {
  it('is asked once for each text', () => {
    const asked: string[] = [];
    const length = memoize((text) => {
      asked.push(text);
      return { length: text.length };
    });
    const first = length('abc');
    expect(first).toEqual({ length: 3 });
    expect(length('abc')).toBe(first);
    expect(length('')).toEqual({ length: 0 });
    expect(asked).toEqual(['abc', '']);
  });
});
