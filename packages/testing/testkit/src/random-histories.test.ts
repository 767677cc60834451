import type { Transaction } from '@parley/domain/kernel';
import type { OpenStorage } from './contracts/storage-under-test.js';
import { MemoryStorage } from './memory-storage.js';
import { agreeOnRandomHistories } from './random-histories.js';
import { intercepting } from './troubled-units.js';

const memory: OpenStorage = (clock) => {
  const { uow, damage } = new MemoryStorage(clock);
  return { uow, damage, close: async () => {} };
};

/** Memory storage with one defect. */
const memoryBut =
  (spoil: (tx: Transaction) => void): OpenStorage =>
  (clock) => {
    const { uow, damage } = new MemoryStorage(clock);
    return {
      damage,
      uow: intercepting(uow, {
        write: (work, run) =>
          run((tx) => {
            spoil(tx);
            return work(tx);
          }),
      }),
      close: async () => {},
    };
  };

describe('agreeOnRandomHistories', () => {
  it('finds no difference between two storages of the same kind', async () => {
    await agreeOnRandomHistories(memory, memory, { runs: 10, seed: 1 });
  });

  it.each<[string, RegExp, (tx: Transaction) => void]>([
    ['muting without effect', /mutes/, ({ personal }) => Object.assign(personal, { muteSender: async () => {} })],
    [
      'spans that never close',
      /leaves|deactivated/,
      ({ personal }) => Object.assign(personal, { closeSpans: async () => {} }),
    ],
    [
      'moves that always protect history',
      /move to (open|other)/,
      ({ moves }) => {
        const move = moves.move.bind(moves);
        const spoilt: typeof move = (realmId, ids, target) =>
          move(realmId, ids, { ...target, isHistoryProtected: true });
        Object.assign(moves, { move: spoilt });
      },
    ],
  ])('detects %s and reports the shortest history', async (_, culprit, spoil) => {
    const failure = await agreeOnRandomHistories(memory, memoryBut(spoil), {
      runs: 200,
      seed: 1,
      stepsOfChapter: 8,
    }).catch((e) => e);
    expect(failure).toBeInstanceOf(Error);
    const { message } = failure as Error;
    expect(message).toMatch(culprit);
    expect(message).toMatch(/expected .*\n +returned /);
    expect(message.match(/^ +\d+\. /gm)!.length).toBeLessThan(6);
  });
});
