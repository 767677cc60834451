import type { LogFollower, QueueSweep } from '@parley/domain';
import type { Logger } from '@parley/http';

/** How soon events of other processes reach our clients at the latest. */
const CATCH_UP_MS = 1000;
const SWEEP_MS = 60_000;

/** What has to be done from time to time. Its timers keep no process alive. */
export class Housekeeping {
  private readonly timers: NodeJS.Timeout[];
  private running: Promise<void> = Promise.resolve();

  constructor(
    follower: Pick<LogFollower, 'catchUp'>,
    sweep: Pick<QueueSweep, 'run'>,
    private readonly logger: Logger,
  ) {
    this.timers = [
      this.every(CATCH_UP_MS, 'reading what other processes wrote', () => follower.catchUp()),
      this.every(SWEEP_MS, 'tidying event queues', () => sweep.run()),
    ];
  }

  /** Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await this.running;
  }

  /** One after the other, and never twice at once; a failure is logged and tried again the next time. */
  private every(ms: number, name: string, work: () => Promise<void>): NodeJS.Timeout {
    let isDue = false;
    const run = async () => {
      try {
        await work();
      } catch (error) {
        this.logger.error({ err: error }, `${name} failed`);
      }
      isDue = false;
    };
    return setInterval(() => {
      if (isDue) return;
      isDue = true;
      this.running = this.running.then(run);
    }, ms).unref();
  }
}
