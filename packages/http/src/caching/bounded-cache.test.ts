import { BoundedCache } from './bounded-cache.js';

const weighing = (weight: number) => ({ weight });

describe('a bounded cache', () => {
  it('keeps what was put last under a key', () => {
    const cache = new BoundedCache<number, { weight: number }>(100);
    const second = weighing(2);
    cache.put(1, weighing(1));
    cache.put(1, second);
    expect(cache.get(1)).toBe(second);
    expect(cache.get(2)).toBeUndefined();
  });

  it('forgets what nobody used while it filled up twice, and keeps what somebody did', () => {
    const cache = new BoundedCache<number, { weight: number }>(100);
    cache.put(1, weighing(1));
    cache.put(2, weighing(1));
    for (let key = 10; key < 100; key++) {
      cache.put(key, weighing(10));
      cache.get(2);
    }
    expect(cache.get(1)).toBeUndefined();
    expect(cache.get(2)).toBeDefined();
  });

  it('never holds more than its limit and the last thing put', () => {
    const cache = new BoundedCache<number, { weight: number }>(100);
    for (let key = 0; key < 1000; key++) cache.put(key, weighing(7));
    const held = Array.from({ length: 1000 }, (_, key) => key).filter((key) => cache.get(key) !== undefined);
    expect(held.length * 7).toBeLessThanOrEqual(107);
  });

  it('counts a key that is put again once', () => {
    const cache = new BoundedCache<number, { weight: number }>(100);
    cache.put(1, weighing(10));
    for (let again = 0; again < 50; again++) cache.put(2, weighing(20));
    expect(cache.get(1)).toBeDefined();
  });
});
