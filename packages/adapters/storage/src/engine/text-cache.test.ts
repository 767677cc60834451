import { memoize, newSharedSets } from './text-cache.js';

describe('memoize', () => {
  it('evicts the least recently used texts beyond four million characters', () => {
    const asked: string[] = [];
    const firstOf = memoize((text) => {
      asked.push(text[0]!);
      return { first: text[0] };
    });
    const texts = ['a', 'b', 'c', 'd', 'e'].map((email) => email.repeat(900_000));
    for (const text of texts) firstOf(text);
    firstOf(texts[4]!);
    firstOf(texts[0]!);
    expect(asked.join('')).toBe('abcdea');
  });

  it('calls the function once per text', () => {
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

describe('newSharedSets', () => {
  it('evicts the least recently used sets beyond a hundred thousand elements', () => {
    const sets = newSharedSets<number>();
    const large = () => new Set(Array.from({ length: 40_000 }, (_, n) => n));
    for (const text of ['a', 'b', 'c']) sets.set(text, large());
    expect([sets.has('a'), sets.has('b'), sets.has('c')]).toEqual([false, true, true]);
  });
});
