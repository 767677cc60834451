import fc from 'fast-check';
import { packIds, unpackIds } from './event-queue.js';

const unpacked = (ids: readonly number[]): readonly number[] | null => {
  const packed = packIds(ids);
  return 'steps' in packed ? unpackIds(packed) : packed;
};

describe('packIds', () => {
  it('stays short for a topic interleaved with others', () => {
    const ids = Array.from({ length: 1000 }, (_, n) => 1_000_007 + 20 * n);
    expect(packIds(ids)).toEqual({ steps: [1_000_007, 20, -998] });
    expect(unpacked(ids)).toEqual(ids);
  });

  it('leaves short and unsorted lists unchanged', () => {
    const short = [3, 4, 5];
    const descending = Array.from({ length: 100 }, (_, n) => 100 - n);
    const repeated = Array.from({ length: 100 }, () => 7);
    for (const ids of [[], short, descending, repeated]) expect(packIds(ids)).toBe(ids);
  });

  it.each([null, {}, { steps: 'x' }, { steps: [1, 0.5] }, { steps: [1, -1e12] }].map((value) => [value]))(
    'cannot be unpacked if damaged: %j',
    (damaged) => {
      expect(unpackIds(damaged)).toBeNull();
    },
  );

  it('restores the same ids', () => {
    const ascending = fc
      .array(fc.oneof(fc.constant(1), fc.constant(20), fc.integer({ min: 1, max: 2 ** 31 })), { maxLength: 200 })
      .map((steps) => {
        let id = 0;
        return steps.map((step) => {
          id += step;
          return id;
        });
      });
    fc.assert(fc.property(ascending, (ids) => expect(unpacked(ids)).toEqual(ids)));
  });
});
