import { plan, run } from './simulate.js';

const DAY = { seed: 7, days: 1, people: 5, faults: 0 };

describe('simulation', () => {
  it('keeps every invariant for a day, and repeats the same trace for the same seed', async () => {
    const runDay = () => run({ ...DAY, steps: plan(DAY) });
    const outcome = await runDay();
    expect(outcome.violation).toBeNull();
    expect(outcome.messages).toBeGreaterThan(10);
    expect(await runDay()).toEqual(outcome);
  });

  it('plays another trace for another seed', async () => {
    const until = 5;
    const digests = [1, 2].map(
      async (seed) => (await run({ seed, people: 3, steps: plan({ ...DAY, seed }), until })).digest,
    );
    expect(await digests[0]).not.toBe(await digests[1]);
  });
});
