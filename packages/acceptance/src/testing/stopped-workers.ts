import type { JobWorkers } from '@parley/server/testing';
import type { DrivenTime } from '@parley/testkit';

/** Whatever a test adds to the list is stopped when the test is over, in the time that drives it. */
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
