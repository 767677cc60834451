import type { StoredEvent } from '@parley/domain/kernel';
import { DrivenTime } from '@parley/testkit';
import { Promotion } from './promotion.js';

describe('Promotion', () => {
  let time: DrivenTime;
  let runs: number;
  let next: number | null;
  let promotion: Promotion;

  beforeEach(() => {
    time = new DrivenTime();
    runs = 0;
    next = null;
    const promote = {
      execute: async () => {
        runs++;
        return next;
      },
    };
    promotion = new Promotion(promote, time, time, () => {});
    promotion.start();
  });
  const created = [{ event: { type: 'user.created' } }] as unknown as readonly StoredEvent[];

  it('checks once at startup and not again while no user is waiting', async () => {
    await time.advance(10 * 86_400);
    expect([runs, time.pending]).toEqual([1, 0]);
  });

  it('checks again when the next user is due', async () => {
    next = time.now() + 3000;
    await time.advance(2999);
    expect(runs).toBe(1);
    next = null;
    await time.advance(1);
    expect(runs).toBe(2);
  });

  it('checks within an hour in case the clock was changed', async () => {
    next = time.now() + 86_400;
    await time.advance(1);
    time.jumpClock(86_400);
    next = null;
    await time.advance(3600);
    expect(runs).toBe(2);
  });

  it('checks again when a user is created', async () => {
    await time.advance(60);
    promotion.onEvents(created);
    await time.advance(2);
    expect(runs).toBe(2);
  });

  it('stops checking after stop', async () => {
    await promotion.stop();
    promotion.onEvents(created);
    await time.advance(60);
    expect(runs).toBe(0);
  });
});
