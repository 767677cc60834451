import { DrivenTime } from '@parley/testkit';
import { type Recurrence, RecurringWorker, together } from './recurring-worker.js';

describe('RecurringWorker', () => {
  let time: DrivenTime;
  let runs: number[];
  const reports: [string, unknown][] = [];
  const workerOf = (run: Recurrence['run'], more: Partial<Recurrence> = {}) => {
    time = new DrivenTime();
    runs = [];
    reports.length = 0;
    const worker = new RecurringWorker(
      {
        name: 'counting',
        firstDelayMs: 1000,
        run: () => {
          runs.push(time.elapsedMs() / 1000);
          return run();
        },
        ...more,
      },
      time,
      (message, fields) => void reports.push([message, fields.err]),
    );
    worker.start();
    return worker;
  };

  it('runs after the initial delay, then after the returned delays', async () => {
    let delay = 0;
    workerOf(async () => (delay += 1000));
    await time.advance(10);
    expect(runs).toEqual([1, 2, 4, 7]);
    expect(time.pending).toBe(1);
  });

  it('waits for a wake-up if the work returns null', async () => {
    const worker = workerOf(() => null);
    await time.advance(100);
    expect([runs, time.pending]).toEqual([[1], 0]);
    worker.wakeIn(5000);
    worker.wakeIn(9000);
    worker.wakeIn(2000);
    await time.advance(100);
    expect(runs).toEqual([1, 102]);
  });

  it('runs one at a time and keeps wake-ups that arrive during a run', async () => {
    const ends: (() => void)[] = [];
    const worker = workerOf(() => new Promise<null>((resolve) => ends.push(() => resolve(null))));
    await time.advance(10);
    worker.wakeIn(0);
    await time.advance(10);
    expect(runs).toEqual([1]);
    ends[0]!();
    await time.advance(1);
    expect(runs).toEqual([1, 20]);
  });

  it('continues after a failure and logs a repeated one once a minute', async () => {
    let error = new Error('disk full');
    workerOf(() => Promise.reject(error), { retryDelayMs: 1000 });
    await time.advance(30);
    expect(runs).toHaveLength(30);
    expect(reports).toEqual([['counting failed', error]]);
    error = new Error('another one');
    await time.advance(1);
    expect(reports.at(-1)).toEqual(['counting failed', error]);
    await time.advance(60);
    expect(reports).toHaveLength(3);
  });

  it('logs synchronous exceptions', async () => {
    workerOf(() => {
      throw new Error('no');
    });
    await time.advance(7);
    expect(runs).toEqual([1, 6]);
    expect(reports).toHaveLength(1);
  });

  it('waits for the current run when stopped', async () => {
    let end = () => {};
    const worker = workerOf(() => new Promise<number>((resolve) => (end = () => resolve(0))));
    await time.advance(1);
    let hasStopped = false;
    const stopped = worker.stop().then(() => (hasStopped = true));
    worker.wakeIn(0);
    await time.advance(10);
    expect(hasStopped).toBe(false);
    end();
    await stopped;
    await time.advance(100);
    expect([runs, time.pending]).toEqual([[1], 0]);
  });
});

it.each([
  [0, 1000, 1000],
  [0, 30_000, 30_000],
  [14_000, 60_000, 46_000],
  [16_000, 60_000, 74_000],
])(
  'together ends delays of half a minute and more at the same times (at %d ms: %d ms become %d ms)',
  (now, ms, delay) => {
    expect(together({ elapsedMs: () => now }, ms)).toBe(delay);
  },
);
