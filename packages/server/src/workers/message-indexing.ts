import type { EventListener, ReportProblem, StoredEvent, Timers } from '@parley/domain/kernel';
import { IndexMessages } from '@parley/domain/messages';
import { RecurringWorker, together, type Worker } from './recurring-worker.js';

/** Pause between two units of indexing, which leaves others most of the time. */
const PAUSE_MS = 10;
/** Interval of looking for messages without terms. */
const IDLE_MS = 60_000;

/** Indexes messages for search. Runs at once when an organization changes its search languages. */
export class MessageIndexing implements Worker, EventListener {
  static readonly inject = [IndexMessages, 'timers', 'report'] as const;

  readonly name = 'indexing messages for search';
  private readonly worker: RecurringWorker;

  constructor(index: Pick<IndexMessages, 'execute'>, timers: Timers, report: ReportProblem) {
    const run = async () => ((await index.execute()) ? PAUSE_MS : together(timers, IDLE_MS));
    this.worker = new RecurringWorker({ name: this.name, firstDelayMs: PAUSE_MS, run }, timers, report);
  }

  start(): void {
    this.worker.start();
  }

  onEvents(events: readonly StoredEvent[]): void {
    const isPending = ({ event }: StoredEvent) =>
      event.type === 'realm.setting_changed' && event.setting === 'searchLanguages';
    if (events.some(isPending)) this.worker.wakeIn(0);
  }

  stop(): Promise<void> {
    return this.worker.stop();
  }
}
