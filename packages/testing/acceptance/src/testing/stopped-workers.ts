import type { JobWorkers } from '@parley/server/testing';
import type { DrivenTime } from '@parley/testkit';

/** Stops all workers in the list after each test; each has its own time. */
export function stoppedAfterEach(): [JobWorkers, DrivenTime][] {
  const started: [JobWorkers, DrivenTime][] = [];
  afterEach(async () => {
    for (const [workers, time] of started.splice(0)) {
      const stopped = workers.stop();
      await time.advance(5);
      await stopped;
    }
  });
  return started;
}
