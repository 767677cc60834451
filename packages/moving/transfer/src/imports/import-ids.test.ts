import { type MessageId, slicesOf, type Transaction, type UnitOfWork } from '@parley/domain/kernel';
import { MAX_KEPT_ID } from '../exports/realm-copy.js';
import { MessageIds } from './import-ids.js';

/** Creates a storage that has assigned ids up to `last`. */
function storageAt(last: number) {
  const state = { last };
  const copies = {
    lastId: async () => state.last,
    raiseIds: async (_: string, least: number) => {
      state.last = Math.max(state.last, least - 1);
    },
  };
  const tx = { copies } as unknown as Transaction;
  const uow = { writeAcross: (work: (unit: Transaction) => Promise<unknown>) => work(tx) } as unknown as UnitOfWork;
  return { uow, state };
}

const ids = (...numbers: number[]) => numbers as MessageId[];

/** Yields two ids at a time. */
function sourceOf(...numbers: number[]) {
  const all = ids(...numbers);
  const reads = { count: 0 };
  const source = {
    messageRange: async () => (all.length === 0 ? null : { first: all[0]!, last: all.at(-1)! }),
    messageIds: async function* () {
      reads.count++;
      for (const slice of slicesOf(all, 2)) yield slice;
    },
  };
  return { source, reads };
}

describe('MessageIds', () => {
  it('keeps all ids on a server without such ids and reads the source only once', async () => {
    const { uow, state } = storageAt(2);
    const map = new MessageIds();
    const { source, reads } = sourceOf(3, 4, 9, 10, 20);
    await map.reserve(uow, source);
    // Messages sent in the meantime receive later ids.
    expect([reads.count, state.last]).toEqual([0, 20]);
    expect(map.take(ids(3, 4, 9))).toEqual([3, 4, 9]);
    expect(map.take(ids(10, 20))).toEqual([10, 20]);
    expect(map.isIdentity).toBe(true);
    expect(ids(2, 3, 4, 5, 9, 10, 11, 20, 21).map((id) => map.find(id))).toEqual([
      undefined,
      3,
      4,
      undefined,
      9,
      10,
      undefined,
      20,
      undefined,
    ]);
  });

  it('continues after ids in use, keeps ids again after a gap, and knows all ids in advance', async () => {
    const { uow, state } = storageAt(10);
    const map = new MessageIds();
    await map.reserve(uow, sourceOf(3, 4, 9, 12, 13, 40).source);
    expect([map.isIdentity, state.last]).toEqual([false, 40]);
    expect(ids(3, 4, 9, 12, 13, 40).map((id) => map.get(id))).toEqual([11, 12, 13, 14, 15, 40]);
    expect(map.take(ids(3, 4))).toEqual([11, 12]);
    expect(map.take(ids(9, 12, 13, 40))).toEqual([13, 14, 15, 40]);
    expect(() => map.get(5 as MessageId)).toThrow('It names a message 5 that it does not have.');
    expect(() => map.take(ids(5))).toThrow('It names a message 5 that it does not have.');
  });

  it('changes ids that are too high to leave enough free ids', async () => {
    const { uow } = storageAt(0);
    const map = new MessageIds();
    const high = [MAX_KEPT_ID, MAX_KEPT_ID + 1, MAX_KEPT_ID + 50] as const;
    await map.reserve(uow, sourceOf(...high).source);
    expect(map.take(ids(...high))).toEqual([MAX_KEPT_ID, MAX_KEPT_ID + 1, MAX_KEPT_ID + 2]);
  });

  it.each([
    ['free', 0],
    ['taken', 9],
  ])('rejects duplicate and descending ids: %s', async (_, last) => {
    const attempt = async (...numbers: number[]) => {
      const map = new MessageIds();
      await map.reserve(storageAt(last).uow, sourceOf(...numbers).source);
      map.take(ids(...numbers));
    };
    await expect(attempt(4, 5, 5)).rejects.toThrow('There are two messages 5.');
    await expect(attempt(4, 6, 5, 7)).rejects.toThrow('Message 5 comes after message 6.');
  });

  it('throws for ids that were not reserved', async () => {
    const map = new MessageIds();
    await map.reserve(storageAt(0).uow, sourceOf(4, 6).source);
    expect(() => map.take(ids(7))).toThrow('Message 7 is not in its place.');
    await new MessageIds().reserve(storageAt(0).uow, sourceOf().source);
  });
});
