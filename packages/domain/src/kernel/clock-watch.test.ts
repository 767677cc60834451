import { DrivenTime } from '@parley/testkit';
import { ClockWatch, isDue } from './clock-watch.js';

const HOUR = 3600;
const DAY = 24 * HOUR;
const STEPS = [HOUR, 2 * DAY, 730 * DAY].flatMap((step) => [step, -step]);

describe('isDue', () => {
  it('holds from the time on', () => {
    expect([99, 100, 101].map((now) => isDue(100, now, 50))).toEqual([false, true, true]);
  });

  it('holds if the time is further away than twice its delay', () => {
    expect([0, 1].map((now) => isDue(100, now, 50))).toEqual([false, false]);
    expect(isDue(100, -1, 50)).toBe(true);
    expect(isDue(100, 99, 0)).toBe(true);
  });

  it.each(STEPS)('lets a delay of seconds end within twice that time after a step of %i seconds', (step) => {
    for (const delay of [1, 5, 120, 600]) {
      const at = 1_000_000_000 + delay;
      const waits = Array.from({ length: 2 * delay + 2 }, (_, passed) =>
        isDue(at, 1_000_000_000 + step + passed, delay),
      );
      expect(waits.includes(true)).toBe(true);
    }
  });
});

function watched(newest: number | null = null) {
  const time = new DrivenTime();
  const lines: [string, number][] = [];
  const watch = new ClockWatch(time, time, (message, { seconds }) => void lines.push([message, seconds]));
  watch.compare(newest === null ? null : time.now() + newest);
  return { time, watch, lines, start: time.now() };
}

describe('ClockWatch', () => {
  it('finds no step while the clock follows the elapsed time, or is adjusted by seconds', async () => {
    const { time, watch, lines, start } = watched(-100);
    for (let day = 0; day < 3; day++) await time.advance(DAY);
    time.jumpClock(30);
    expect([watch.steadySince, watch.steps, watch.deletionsWaitSeconds, lines]).toEqual([start, 0, 0, []]);
  });

  it.each(STEPS)('finds a step of %i seconds when it is next used', async (step) => {
    const { time, watch, lines } = watched();
    await time.advance(100);
    time.jumpClock(step);
    expect(watch.steadySince).toBe(time.now());
    expect(watch.steps).toBe(1);
    expect(lines).toEqual([[expect.stringMatching('^the clock was changed'), step]]);
    expect(watch.deletionsWaitSeconds).toBe(Math.abs(step) > DAY ? HOUR : 0);
    await time.advance(1800);
    expect(watch.deletionsWaitSeconds).toBe(Math.abs(step) > DAY ? 1800 : 0);
    await time.advance(1800);
    expect([watch.deletionsWaitSeconds, watch.steps]).toEqual([0, 1]);
  });

  it('lets deletions wait again when a wrong clock is mended', async () => {
    const { time, watch, lines } = watched();
    time.jumpClock(2 * DAY);
    expect(watch.deletionsWaitSeconds).toBe(HOUR);
    await time.advance(3000);
    time.jumpClock(-2 * DAY);
    expect(watch.deletionsWaitSeconds).toBe(HOUR);
    expect(lines).toHaveLength(2);
  });

  it.each([2 * DAY, -2 * DAY, 730 * DAY, -730 * DAY])(
    'lets deletions wait at a start if the newest data are %i seconds from now',
    async (newest) => {
      const { time, watch, lines } = watched(newest);
      expect(watch.deletionsWaitSeconds).toBe(HOUR);
      const future = 'the newest message is from the future: nothing is deleted because of its age for an hour';
      expect(lines).toEqual(newest > 0 ? [[future, -newest]] : []);
      await time.advance(HOUR);
      expect(watch.deletionsWaitSeconds).toBe(0);
    },
  );

  it('lets deletions wait until the clock has been compared with the data', () => {
    const time = new DrivenTime();
    const watch = new ClockWatch(time, time, () => {});
    expect(watch.deletionsWaitSeconds).toBeGreaterThan(0);
    watch.compare(time.now() - HOUR);
    expect(watch.deletionsWaitSeconds).toBe(0);
  });
});
