import { FixedClock } from '@parley/testkit';
import { ResultCache } from './result-cache.js';

const of = (limits: Partial<{ maxCount: number; maxBytes: number }> = {}) => {
  const clock = new FixedClock();
  const loaded: string[] = [];
  const results = new ResultCache<string>(clock, {
    maxCount: 3,
    maxBytes: 100,
    bytesOf: (text) => text.length,
    secondsOf: () => 10,
    ...limits,
  });
  const get = (key: string, text = key) =>
    results.get(key, async () => {
      loaded.push(key);
      return text;
    });
  return { clock, get, loaded, results };
};

describe('ResultCache', () => {
  it('evicts the least recently used results above the maximum number', async () => {
    const { get, loaded } = of();
    for (const key of ['a', 'b', 'c', 'a', 'd', 'a', 'b']) await get(key);
    expect(loaded).toEqual(['a', 'b', 'c', 'd', 'b']);
  });

  it('evicts results above the maximum size', async () => {
    const { get, loaded } = of({ maxBytes: 10 });
    for (const key of ['a', 'b', 'a', 'b']) await get(key, 'x'.repeat(6));
    expect(loaded).toEqual(['a', 'b', 'a', 'b']);
    await get('c', 'x'.repeat(20));
    await get('c', 'x'.repeat(20));
    expect(loaded.slice(4)).toEqual(['c', 'c']);
  });

  it('shares concurrent loads, and loads again after expiry or an error', async () => {
    const { get, loaded, clock, results } = of();
    await Promise.all([get('a'), get('a')]);
    clock.advance(9);
    await get('a');
    expect(loaded).toEqual(['a']);
    clock.advance(1);
    await get('a');
    expect(loaded).toEqual(['a', 'a']);
    await expect(results.get('e', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await get('e')).toBe('e');
  });
});
