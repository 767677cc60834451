import { SystemClock } from './system.js';

describe('SystemClock', () => {
  it('reads seconds and milliseconds from the same clock', () => {
    const clock = new SystemClock();
    const before = Date.now();
    const seconds = clock.now();
    const ms = clock.nowMs();
    expect(Number.isInteger(seconds)).toBe(true);
    expect(seconds).toBeGreaterThanOrEqual(Math.floor(before / 1000));
    expect(ms).toBeGreaterThanOrEqual(before);
    expect(ms).toBeLessThanOrEqual(Date.now());
    expect(seconds * 1000).toBeLessThanOrEqual(ms);
  });
});
