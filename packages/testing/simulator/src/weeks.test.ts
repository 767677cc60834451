import { plan, run } from './simulate.js';

describe('simulated weeks', () => {
  it.each([101])(
    'keep every invariant with crashes, lost answers, failing disks and restored backups (seed %i)',
    async (seed) => {
      const week = { seed, days: 7, people: 4, faults: 2 };
      const { violation, crashes } = await run({ ...week, steps: plan(week) });
      expect(violation).toBeNull();
      expect(crashes).toBeGreaterThan(0);
    },
  );
});
