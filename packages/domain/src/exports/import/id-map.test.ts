import type { MessageId } from '../../shared/ids.js';
import type { Transaction } from '../../shared/unit-of-work.js';
import { MAX_KEPT_ID } from '../copy-repository.js';
import { MessageIds } from './id-map.js';

/** A storage that has given ids up to a number. */
function storageAt(last: number) {
  const state = { last };
  const copies = {
    lastId: async () => state.last,
    raiseIds: async (_: string, least: number) => {
      state.last = Math.max(state.last, least - 1);
    },
  };
  return { tx: { copies } as unknown as Transaction, state };
}

const ids = (...numbers: number[]) => numbers as MessageId[];

describe('ids of imported messages', () => {
  it('are kept on a server that has given none of them', async () => {
    const { tx, state } = storageAt(0);
    const map = new MessageIds();
    expect(await map.take(tx, ids(3, 4, 9))).toEqual([3, 4, 9]);
    expect(await map.take(tx, ids(10, 20))).toEqual([10, 20]);
    expect([map.isIdentity, state.last]).toEqual([true, 20]);
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

  it('are the next ones where theirs are given, and their own again after a gap', async () => {
    const { tx, state } = storageAt(10);
    const map = new MessageIds();
    expect(await map.take(tx, ids(3, 4, 9, 12, 13, 40))).toEqual([11, 12, 13, 14, 15, 40]);
    expect([map.isIdentity, state.last]).toEqual([false, 40]);
    expect(ids(3, 4, 9, 12, 13, 40).map((id) => map.get(id))).toEqual([11, 12, 13, 14, 15, 40]);
    expect(() => map.get(5 as MessageId)).toThrow('It names a message 5 that it does not have.');
  });

  it('are not kept where they are so high that few would be left', async () => {
    const { tx } = storageAt(0);
    expect(await new MessageIds().take(tx, ids(MAX_KEPT_ID, MAX_KEPT_ID + 1, MAX_KEPT_ID + 50))).toEqual([
      MAX_KEPT_ID,
      MAX_KEPT_ID + 1,
      MAX_KEPT_ID + 2,
    ]);
  });

  it('are refused where two are the same, or one comes after a higher one', async () => {
    const { tx } = storageAt(0);
    const map = new MessageIds();
    await map.take(tx, ids(5));
    await expect(map.take(tx, ids(5))).rejects.toThrow('There are two messages 5.');
    await expect(map.take(tx, ids(4))).rejects.toThrow('Message 4 comes after message 5.');
  });
});
