import { plan, run } from './simulate.js';

const DAY = { seed: 7, days: 1, people: 3, faults: 0 };

describe('simulation', () => {
  it('keeps every invariant for a day, and repeats the same trace for the same seed', async () => {
    const runDay = () => run({ ...DAY, steps: plan(DAY) });
    const outcome = await runDay();
    expect(outcome.violation).toBeNull();
    expect(outcome.messages).toBeGreaterThan(10);
    expect(await runDay()).toEqual(outcome);
  });

  it('plays another trace for another seed', async () => {
    const digests = new Set<string>();
    for (const seed of [1, 2]) {
      const { digest } = await run({ seed, people: DAY.people, steps: plan({ ...DAY, seed }), until: 5 });
      digests.add(digest);
    }
    expect(digests.size).toBe(2);
  });
});
