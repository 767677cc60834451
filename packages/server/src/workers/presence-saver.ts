import type { ReportProblem, Timers } from '@parley/domain/kernel';
import { PresenceBoard } from '@parley/domain/users';
import { periodic, RecurringWorker } from './recurring-worker.js';
import type { Worker } from './worker.js';

/** What a crash loses of who was there. */
const SAVE_MS = 1000;

/** Stores who is there: once a second at most, and at the end. */
export class PresenceSaver implements Worker {
  static readonly inject = [PresenceBoard, 'timers', 'report'] as const;

  readonly name = 'storing who is there';
  private readonly worker: RecurringWorker;

  constructor(
    private readonly board: Pick<PresenceBoard, 'save'>,
    timers: Timers,
    report: ReportProblem,
  ) {
    this.worker = new RecurringWorker(
      periodic(this.name, SAVE_MS, () => board.save()),
      timers,
      report,
    );
  }

  start(): void {
    this.worker.start();
  }

  async stop(): Promise<void> {
    await this.worker.stop();
    await this.board.save();
  }
}
