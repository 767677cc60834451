import { SeededRandom } from '@parley/server/testing';
import { SimulatedTime } from './simulated-time.js';

describe('simulated time', () => {
  it.each([
    ['on time while a job is leased, so that its result is stored before the lease ends', true, 20],
    ['late while no job is leased, as on a host that sleeps', false, 600_000],
  ])('fires timers %s', async (_, isLeased, firedAt) => {
    const time = new SimulatedTime(new SeededRandom(1));
    const fired: number[] = [];
    time.after(20, () => fired.push(time.elapsedMs()));
    await time.advanceTo(3_600_000, { isBusy: () => false, hasLeasedJobs: async () => isLeased });
    expect(fired).toEqual([firedAt]);
  });
});
