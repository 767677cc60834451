import { TimerWheel } from './timer-wheel.js';

describe('the timers of polls', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  function aWheel() {
    const failures: unknown[] = [];
    const wheel = new TimerWheel((error) => failures.push(error));
    const done: string[] = [];
    return {
      wheel,
      failures,
      done,
      after: (seconds: number, name: string) => wheel.after(seconds, () => done.push(name)),
    };
  }

  it('go off at their second, and never before the next one', () => {
    const { done, after } = aWheel();
    after(3, 'late');
    after(1.4, 'early');
    after(0, 'at once');
    after(-5, 'long ago');
    expect(done).toEqual([]);
    jest.advanceTimersByTime(1000);
    expect(done).toEqual(['early', 'at once', 'long ago']);
    jest.advanceTimersByTime(2000);
    expect(done).toEqual(['early', 'at once', 'long ago', 'late']);
    jest.advanceTimersByTime(10_000);
    expect(done).toHaveLength(4);
  });

  it('do not go off once they are called off', () => {
    const { done, after } = aWheel();
    after(2, 'a');
    const callOff = after(2, 'b');
    callOff();
    callOff();
    jest.advanceTimersByTime(5000);
    expect(done).toEqual(['a']);
  });

  it('are reported when they fail, and keep no others from going off', () => {
    const { wheel, failures, done, after } = aWheel();
    wheel.after(1, () => {
      throw new Error('odd');
    });
    after(1, 'beside it');
    after(2, 'after it');
    jest.advanceTimersByTime(2000);
    expect([failures, done]).toEqual([[new Error('odd')], ['beside it', 'after it']]);
  });

  it('are one timer for all of them, and none when there are none', () => {
    const { wheel, after } = aWheel();
    expect(jest.getTimerCount()).toBe(0);
    for (let n = 0; n < 100; n++) after(1 + (n % 3), '');
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(3000);
    expect(jest.getTimerCount()).toBe(0);
    after(1, '');
    expect(jest.getTimerCount()).toBe(1);
    wheel.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('may be set by one that goes off', () => {
    const { wheel, done, after } = aWheel();
    wheel.after(1, () => void after(1, 'next'));
    jest.advanceTimersByTime(1000);
    expect(done).toEqual([]);
    jest.advanceTimersByTime(1000);
    expect(done).toEqual(['next']);
  });
});
