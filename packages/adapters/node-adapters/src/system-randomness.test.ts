import { SystemRandomness } from './system.js';

const randomness = new SystemRandomness();

describe('SystemRandomness', () => {
  it('generates distinct version 4 UUIDs', () => {
    const first = randomness.uuid();
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(randomness.uuid()).not.toBe(first);
  });

  it('draws uniformly from 0 (inclusive) to 1 (exclusive)', () => {
    const draws = Array.from({ length: 2000 }, () => randomness.fraction());
    expect(Math.min(...draws)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...draws)).toBeLessThan(1);
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
    // The tolerance is ten standard errors.
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.065);
  });
});
