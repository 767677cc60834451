import { DrivenTime } from '@parley/testkit';
import { DatabaseClock } from './database-clock.js';

describe('DatabaseClock', () => {
  function clockWithLog() {
    const time = new DrivenTime();
    const lines: unknown[][] = [];
    const log = (fields: object, message: string) => void lines.push([fields, message]);
    const clock = new DatabaseClock(time, time, { info: log, error: log });
    /** Compares with a database clock that is ahead of the machine's. */
    const compare = (aheadMs: number, tookMs = 0) =>
      clock.compare(async () => {
        const databaseMs = time.nowMs() + aheadMs;
        if (tookMs > 0) await time.advance(tookMs / 1000);
        return databaseMs;
      });
    return { time, clock, lines, compare, offset: () => clock.nowMs() - time.nowMs() };
  }

  it("uses the database's time while the machine's clock is wrong and logs each change once", async () => {
    const { clock, compare, offset, lines, time } = clockWithLog();
    await compare(-600_000);
    await compare(-600_020);
    expect([offset(), clock.now()]).toEqual([-600_000, time.now() - 600]);
    await compare(20);
    await compare(-30);
    expect(offset()).toBe(0);
    expect(lines.map(([fields, message]) => [fields, message])).toEqual([
      [expect.objectContaining({ aheadSeconds: 600 }), expect.stringContaining('clock of this machine is wrong')],
      [expect.anything(), 'the clock of this machine is right again'],
    ]);
  });

  it('ignores differences below a second and does not flap at that limit', async () => {
    const { compare, offset, lines } = clockWithLog();
    await compare(999);
    expect([offset(), lines]).toEqual([0, []]);
    await compare(1001);
    await compare(999);
    await compare(1001);
    expect([offset(), lines.length]).toEqual([1001, 1]);
  });

  it('ignores comparisons that took too long', async () => {
    const { compare, offset } = clockWithLog();
    await compare(5000, 2000);
    expect(offset()).toBe(0);
    await compare(5000, 100);
    expect(offset()).toBe(4950);
  });
});
