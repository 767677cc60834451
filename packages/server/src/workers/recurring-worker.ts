import type { CancelTimer, ReportProblem, Timers } from '@parley/domain/kernel';

/** Something that goes on in the background from the start of the server to its end. */
export interface Worker {
  /** In the log: what it does, `tidying event queues`. */
  readonly name: string;
  start(): void;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

/** The same failure is logged again after that. */
const REPEAT_MS = 60_000;
const RETRY_MS = 5000;

export interface Recurrence {
  /** What it does: `tidying event queues`. */
  readonly name: string;
  /** How long after the start it runs first. */
  readonly firstDelayMs: number;
  /** How long it waits after a failure; default: 5 s. */
  readonly retryDelayMs?: number;
  /** Answers in how many milliseconds it wants to run again; null: when it is woken. */
  readonly run: () => Promise<number | null> | number | null;
}

/** Runs again and again, never twice at once; a failure is logged and does not end it. */
export class RecurringWorker implements Worker {
  private isRunning: Promise<void> | null = null;
  private isStopped = true;
  private cancel: CancelTimer | null = null;
  /** When the timer fires; while it runs, when somebody wants it to run again. */
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

  /** Makes it run then, unless it does so before. */
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

/** So long after the start, and then each time so long after it has ended. */
export const periodic = (name: string, ms: number, work: () => Promise<void> | void): Recurrence => ({
  name,
  firstDelayMs: ms,
  retryDelayMs: ms,
  run: async () => {
    await work();
    return ms;
  },
});
