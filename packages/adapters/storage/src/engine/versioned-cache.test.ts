import { workMsOf } from '@parley/testkit/process-usage';
import { VersionedCache } from './versioned-cache.js';

const anywhere = { isCacheable: true };

describe('VersionedCache', () => {
  it('evicts the oldest entities beyond its capacity', () => {
    const cache = new VersionedCache<number, string>(3);
    for (let id = 1; id <= 5; id++) cache.put(anywhere, id, 1, `entity ${id}`);
    cache.put(anywhere, 4, 2, 'entity 4 again');
    cache.put(anywhere, 6, 1, 'entity 6');
    expect([1, 2, 3, 4, 5, 6].map((id) => cache.peek(id))).toEqual([
      ...[undefined, undefined, undefined],
      ...['entity 4 again', 'entity 5', 'entity 6'],
    ]);
    expect(cache.get(4, 1)).toBeUndefined();
  });

  it('evicts entities in constant time', async () => {
    const cache = new VersionedCache<number, number>(20_000);
    let next = 0;
    const put = (count: number) => {
      for (const end = next + count; next < end; next++) cache.put(anywhere, next, 1, next);
    };
    put(20_000);
    // Skipping deleted entries takes seconds.
    expect(await workMsOf(() => put(100_000), 1000)).toBeLessThan(1000);
  });
});
