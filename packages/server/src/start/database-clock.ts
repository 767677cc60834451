import type { Clock, Timers, UnixSeconds } from '@parley/domain/kernel';
import { type Logger, warn } from '@parley/http';

/** Offset from which the database's time is used; leases and expiry tolerate less. */
const WRONG_MS = 1000;
/** Offset below which the machine's clock is trusted again. */
const RIGHT_MS = WRONG_MS / 2;
/** Longer comparisons are too imprecise. */
const MAX_COMPARISON_MS = 500;

/** Clock of a server that shares a database. Servers with a wrong clock switch to the database's time. */
export class DatabaseClock implements Clock {
  private offsetMs = 0;

  constructor(
    private readonly machine: Clock,
    private readonly timers: Pick<Timers, 'elapsedMs'>,
    private readonly logger: Logger,
  ) {}

  now(): UnixSeconds {
    return Math.floor(this.nowMs() / 1000);
  }

  nowMs(): number {
    return this.machine.nowMs() + this.offsetMs;
  }

  /** Compares the machine's clock with the database's and logs each switch between them. */
  async compare(readDatabaseMs: () => Promise<number>): Promise<void> {
    const startedAtMs = this.timers.elapsedMs();
    const databaseMs = await readDatabaseMs();
    const tookMs = this.timers.elapsedMs() - startedAtMs;
    if (tookMs > MAX_COMPARISON_MS) return;
    const foundMs = Math.round(databaseMs + tookMs / 2 - this.machine.nowMs());
    const offsetMs = Math.abs(foundMs) < (this.offsetMs === 0 ? WRONG_MS : RIGHT_MS) ? 0 : foundMs;
    if (offsetMs !== 0 && Math.abs(offsetMs - this.offsetMs) < RIGHT_MS) return;
    if (offsetMs === 0 && this.offsetMs === 0) return;
    this.offsetMs = offsetMs;
    if (offsetMs === 0) warn(this.logger, {}, 'the clock of this machine is right again');
    else {
      const aheadSeconds = -offsetMs / 1000;
      warn(this.logger, { aheadSeconds }, "the clock of this machine is wrong; the database's time is used instead");
    }
  }
}
