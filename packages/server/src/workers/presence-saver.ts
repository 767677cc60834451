import type { ReportProblem, Timers } from '@parley/domain/kernel';
import { PresenceBoard } from '@parley/domain/users';
import { RecurringWorker, type Worker } from './recurring-worker.js';

/** Maximum time of presence that a crash loses. */
const SAVE_MS = 1000;

/** Stores presence at most once a second and at shutdown. */
export class PresenceSaver implements Worker {
  static readonly inject = [PresenceBoard, 'timers', 'report'] as const;

  readonly name = 'storing presence';
  private readonly worker: RecurringWorker;

  constructor(
    private readonly board: Pick<PresenceBoard, 'save' | 'watch'>,
    timers: Timers,
    report: ReportProblem,
  ) {
    const run = async () => {
      await board.save();
      return null;
    };
    const recurrence = { name: this.name, firstDelayMs: SAVE_MS, retryDelayMs: SAVE_MS, run };
    this.worker = new RecurringWorker(recurrence, timers, report);
    board.watch(() => this.worker.wakeIn(SAVE_MS));
  }

  start(): void {
    this.worker.start();
  }

  async stop(): Promise<void> {
    await this.worker.stop();
    await this.board.save();
  }
}
