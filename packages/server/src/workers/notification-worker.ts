import {
  EventConsumption,
  type EventListener,
  type RealmId,
  type ReportProblem,
  type StoredEvent,
  type Timers,
  type UnitOfWork,
} from '@parley/domain/kernel';
import { FindDue, NOTIFICATION_CONSUMER } from '@parley/domain/push';
import { RecurringWorker, type Worker } from './recurring-worker.js';

/** Delay for collecting events of several commits. */
const COLLECT_MS = 10;
/** Delay for events without notifications, which only advance the log position. */
const IDLE_MS = 5000;
const EVENTS_AT_A_TIME = 100;

/** Follows the log and finds users who are due a notification. Never delays a commit. */
export class NotificationWorker implements Worker, EventListener {
  static readonly inject = [FindDue, 'unitOfWork', 'timers', 'report'] as const;

  readonly name = 'finding due notifications';
  private readonly worker: RecurringWorker;
  private consumption: EventConsumption | null = null;
  private readonly realmIds = new Set<RealmId>();

  constructor(
    private readonly findDue: FindDue,
    private readonly uow: UnitOfWork,
    private readonly timers: Timers,
    private readonly report: ReportProblem,
  ) {
    const run = () => this.run();
    this.worker = new RecurringWorker({ name: this.name, firstDelayMs: 0, run }, timers, report);
  }

  start(): void {
    this.worker.start();
  }

  onEvents(events: readonly StoredEvent[]): void {
    let delayMs = IDLE_MS;
    for (const event of events) {
      this.realmIds.add(event.realmId);
      this.consumption?.offer(event);
      if (this.findDue.isWanted(event)) delayMs = COLLECT_MS;
    }
    this.worker.wakeIn(delayMs);
  }

  async stop(): Promise<void> {
    await this.worker.stop();
    await this.consumption?.stop();
  }

  private async run(): Promise<null> {
    if (this.consumption) {
      const realmIds = [...this.realmIds];
      this.realmIds.clear();
      this.consumption.wake(realmIds);
      return null;
    }
    const { isWanted, consume } = this.findDue;
    const options = {
      name: NOTIFICATION_CONSUMER,
      begins: 'now',
      maxEvents: EVENTS_AT_A_TIME,
      savesLazily: true,
    } as const;
    const { uow, timers, report } = this;
    this.consumption = await EventConsumption.start({ ...options, isWanted, consume }, { uow, timers, report });
    return null;
  }
}
