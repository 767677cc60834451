import { DrivenTime, fakeEventLoop } from '@parley/testkit';
import { YieldingWork } from './yielding.js';

describe('YieldingWork', () => {
  it.each([
    ['for as long as the work took', 1, [5], 5],
    ['for three times as long as the work took', 3, [5], 15],
    ['after several short pieces for as long as all of them took', 1, [0.4, 0.4, 0.4], 1.2],
    ['for at most 20 ms after a piece delayed by the disk', 1, [500], 20],
    ['for one event loop turn after a piece that took no time', 1, [0.5], 0],
  ])('rests %s', async (_what, restFactor, pieces, expected) => {
    const time = new DrivenTime();
    const work = new YieldingWork(time, fakeEventLoop, restFactor);
    for (const piece of pieces.slice(0, -1)) {
      await time.advance(piece / 1000);
      await work.rest();
    }
    await time.advance(pieces.at(-1)! / 1000);
    const startedAt = time.elapsedMs();
    let restedMs: number | null = null;
    void work.rest().then(() => {
      restedMs = time.elapsedMs() - startedAt;
    });
    await time.advance(0);
    for (let ms = 0; restedMs === null && ms < 100; ms++) await time.advance(expected / 1000);
    expect(restedMs).toBeCloseTo(expected);
  });

  it('measures the next piece from the end of the rest', async () => {
    const time = new DrivenTime();
    const work = new YieldingWork(time, fakeEventLoop, 1);
    await time.advance(0.01);
    const rested = work.rest();
    await time.advance(0.01);
    await rested;
    void work.rest();
    expect(time.pending).toBe(0);
  });
});
