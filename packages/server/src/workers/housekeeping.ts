import type { LogFollower, QueueSweep } from '@parley/domain';
import type { Logger } from '@parley/http';

/** How soon events of other processes reach our clients at the latest. */
const CATCH_UP_MS = 1000;
const SWEEP_MS = 60_000;
/** How soon it is noticed that somebody has taken the files away. */
const VERIFY_MS = 1000;
/** The same failure is logged again after that. */
const REPEAT_MS = 60_000;

/** What has to be done from time to time. Its timers keep no process alive. */
export class Housekeeping {
  private readonly timers: NodeJS.Timeout[];
  private running: Promise<void> = Promise.resolve();

  constructor(
    follower: Pick<LogFollower, 'catchUp'>,
    sweep: Pick<QueueSweep, 'run'>,
    private readonly logger: Logger,
    verifyStorage: () => void = () => {},
  ) {
    this.timers = [
      // Beside the rest, which may be waiting for the very storage.
      setInterval(() => tryTo(verifyStorage), VERIFY_MS).unref(),
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
    let logged = { message: '', atMs: 0 };
    const run = async () => {
      try {
        await work();
        logged = { message: '', atMs: 0 };
      } catch (error) {
        const { message } = error as Error;
        if (message !== logged.message || performance.now() - logged.atMs >= REPEAT_MS) {
          logged = { message, atMs: performance.now() };
          this.logger.error({ err: error }, `${name} failed`);
        }
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

/** What is wrong is told by the storage itself, once. */
function tryTo(work: () => void): void {
  try {
    work();
  } catch {
    // The next look, and every request, comes to the same.
  }
}
