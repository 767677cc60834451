import type { CancelTimer, ReportProblem, Timers } from '@parley/domain/kernel';

/** Background work from the server's start to its end. */
export interface Worker {
  /** Description for the log, such as `removing expired sessions`. */
  readonly name: string;
  start(): void;
  /** Resolves when all work of the worker has ended. */
  stop(): Promise<void>;
}

/** Interval before the same failure is logged again. */
const REPEAT_MS = 60_000;
const RETRY_MS = 5000;

export interface Recurrence {
  /** Description of the work: `removing expired sessions`. */
  readonly name: string;
  /** Delay of the first run. */
  readonly firstDelayMs: number;
  /** Delay after a failure; default: 5 s. */
  readonly retryDelayMs?: number;
  /** Returns the delay until the next run in milliseconds; null to wait for a wake-up. */
  readonly run: () => Promise<number | null> | number | null;
}

/** Runs work repeatedly, one run at a time. Failures are logged and do not stop it. */
export class RecurringWorker implements Worker {
  private isRunning: Promise<void> | null = null;
  private isStopped = true;
  private cancel: CancelTimer | null = null;
  /** Time of the next timer, or of the run requested during the current one. */
  private plannedAt = Number.POSITIVE_INFINITY;
  private logged = { message: '', atMs: 0 };

  constructor(
    private readonly recurrence: Recurrence,
    private readonly timers: Timers,
    private readonly report: ReportProblem,
  ) {}

  get name(): string {
    return this.recurrence.name;
  }

  start(): void {
    this.isStopped = false;
    this.wakeIn(this.recurrence.firstDelayMs);
  }

  /** Schedules a run unless an earlier one is planned. */
  wakeIn(ms: number): void {
    const at = this.timers.elapsedMs() + ms;
    if (this.isStopped || at >= this.plannedAt) return;
    this.plannedAt = at;
    if (!this.isRunning) this.setTimer();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancel?.();
    await this.isRunning;
  }

  private setTimer(): void {
    this.cancel?.();
    this.cancel = this.timers.after(Math.max(0, this.plannedAt - this.timers.elapsedMs()), () => {
      this.plannedAt = Number.POSITIVE_INFINITY;
      this.isRunning = this.run().finally(() => {
        this.isRunning = null;
        if (!this.isStopped && Number.isFinite(this.plannedAt)) this.setTimer();
      });
    });
  }

  private async run(): Promise<void> {
    const { name, run, retryDelayMs = RETRY_MS } = this.recurrence;
    try {
      const delay = await run();
      this.logged = { message: '', atMs: 0 };
      if (delay !== null) this.wakeIn(delay);
    } catch (error) {
      this.wakeIn(retryDelayMs);
      const { message } = error as Error;
      const now = this.timers.elapsedMs();
      if (message === this.logged.message && now - this.logged.atMs < REPEAT_MS) return;
      this.logged = { message, atMs: now };
      this.report(`${name} failed`, { err: error });
    }
  }
}

/** Beat of long delays, which end on a multiple of it. */
const TOGETHER_MS = 30_000;

/** Rounds a long delay, so that the workers of an idle server wake the process together. */
export function together(timers: Pick<Timers, 'elapsedMs'>, ms: number): number {
  if (ms < TOGETHER_MS) return ms;
  const now = timers.elapsedMs();
  return Math.round((now + ms) / TOGETHER_MS) * TOGETHER_MS - now;
}

/** Recurrence with the same delay after startup and after each run. */
export const periodic = (name: string, ms: number, work: () => Promise<void> | void): Recurrence => ({
  name,
  firstDelayMs: ms,
  retryDelayMs: ms,
  run: async () => {
    await work();
    return ms;
  },
});
