import { BackOff, sleep, watchForWakeUps } from './timing.js';

afterEach(() => jest.useRealTimers());

describe('BackOff', () => {
  it('increases delays up to half a minute with jitter between half and full length', () => {
    const backOff = new BackOff();
    const delays = Array.from({ length: 10 }, () => backOff.next());
    const longest = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000];
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeGreaterThanOrEqual(longest[index]! / 2);
      expect(delay).toBeLessThanOrEqual(longest[index]!);
    }
    backOff.reset();
    expect(backOff.next()).toBeLessThanOrEqual(500);
  });

  it('never returns a delay shorter than the server requests', () => {
    expect(new BackOff().next(7000)).toBeGreaterThanOrEqual(7000);
  });
});

describe('sleep', () => {
  it('ends early when woken and throws when aborted', async () => {
    const wake = new AbortController();
    const asleep = sleep(60_000, undefined, wake.signal);
    wake.abort();
    await asleep;
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(sleep(60_000, signal)).rejects.toThrow('enough');
  });
});

it('watchForWakeUps detects sleep of the machine by the clock', () => {
  jest.useFakeTimers();
  const woken: string[] = [];
  const stop = watchForWakeUps((kind) => woken.push(kind));
  jest.advanceTimersByTime(120_000);
  expect(woken).toEqual([]);
  jest.setSystemTime(Date.now() + 3_600_000);
  jest.advanceTimersByTime(10_000);
  expect(woken).toEqual(['lost']);
  stop();
  expect(jest.getTimerCount()).toBe(0);
});
