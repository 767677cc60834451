import { PromoteFullMembers } from '@parley/domain/groups';
import type { Clock, DomainEvent, EventListener, ReportProblem, StoredEvent, Timers } from '@parley/domain/kernel';
import { RecurringWorker, type Worker } from './recurring-worker.js';

/** Maximum delay, since the clock may be changed. */
const MAX_SLEEP_MS = 3_600_000;
/** Minimum delay after the start or when more users may be waiting. */
const SOON_MS = 1000;

const changesWhoWaits = (event: DomainEvent): boolean =>
  event.type === 'user.created' ||
  event.type === 'user.role_changed' ||
  (event.type === 'realm.setting_changed' && event.setting === 'waitingPeriodThreshold');

/**
 * Promotes members at the end of their waiting period. Computed instead of scheduled as jobs, since it depends on
 * current users and settings.
 */
export class Promotion implements Worker, EventListener {
  static readonly inject = [PromoteFullMembers, 'clock', 'timers', 'report'] as const;

  readonly name = 'promoting members';
  private readonly worker: RecurringWorker;

  constructor(promote: Pick<PromoteFullMembers, 'execute'>, clock: Clock, timers: Timers, report: ReportProblem) {
    const run = async () => {
      const next = await promote.execute();
      return next === null ? null : Math.min(Math.max(SOON_MS, next * 1000 - clock.nowMs()), MAX_SLEEP_MS);
    };
    const recurrence = { name: this.name, firstDelayMs: SOON_MS, retryDelayMs: MAX_SLEEP_MS, run };
    this.worker = new RecurringWorker(recurrence, timers, report);
  }

  start(): void {
    this.worker.start();
  }

  onEvents(events: readonly StoredEvent[]): void {
    if (events.some(({ event }) => changesWhoWaits(event))) this.worker.wakeIn(SOON_MS);
  }

  stop(): Promise<void> {
    return this.worker.stop();
  }
}
