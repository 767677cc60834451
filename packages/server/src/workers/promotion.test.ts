import type { StoredEvent } from '@parley/domain';
import { Promotion } from './promotion.js';

describe('Promotion', () => {
  const logger = { info: () => {}, error: () => {} };
  let now: number;
  let runs: number;
  let next: number | null;
  let promotion: Promotion;

  beforeEach(() => {
    jest.useFakeTimers();
    now = Date.now();
    runs = 0;
    next = null;
    const clock = { now: () => Math.floor(Date.now() / 1000), nowMs: () => Date.now() };
    const promote = {
      execute: async () => {
        runs++;
        return next;
      },
    };
    promotion = new Promotion(promote, clock, logger);
  });
  afterEach(async () => {
    await promotion.stop();
    jest.useRealTimers();
  });
  const pass = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1000);
  const created = [{ event: { type: 'user.created' } }] as unknown as readonly StoredEvent[];

  it('looks once at the start, and not again while nobody waits', async () => {
    await pass(10 * 86_400);
    expect(runs).toBe(1);
  });

  it('comes back when the next one is due', async () => {
    next = Math.floor(now / 1000) + 3600;
    await pass(3590);
    expect(runs).toBe(1);
    next = null;
    await pass(20);
    expect(runs).toBe(2);
  });

  it('looks again when somebody joins', async () => {
    await pass(60);
    promotion.onEvents(created);
    await pass(2);
    expect(runs).toBe(2);
  });

  it('stops', async () => {
    await promotion.stop();
    promotion.onEvents(created);
    await pass(60);
    expect(runs).toBe(0);
  });
});
