import type { Clock, ClockWatch, UnitOfWork } from '@parley/domain/kernel';
import type { Recurrence } from './recurring-worker.js';

/** Maximum delay in noticing a step of the clock. */
const INTERVAL_MS = 30_000;

/** Brings stored times back at the start, and after each step of the clock. */
export function followingClock(watch: ClockWatch, uow: UnitOfWork, clock: Clock): Recurrence {
  let steps: number | null = null;
  const run = async () => {
    if (steps === null) watch.compare(await uow.readAcross(({ messages }) => messages.latestSentAt()));
    watch.look();
    const present = watch.steps;
    if (steps !== present) {
      await uow.writeAcross(async ({ jobs, queues }) => {
        await jobs.bringBack(clock.now());
        await queues.bringBack(clock.now());
      });
    }
    steps = present;
    return INTERVAL_MS;
  };
  return { name: 'following the clock', firstDelayMs: 0, run };
}
