import type { Clock, DomainEvent, EventListener, PromoteFullMembers, StoredEvent } from '@parley/domain';
import type { Logger } from '@parley/http';

/** Longer sleeps than a timer can hold are slept in parts. */
const MAX_SLEEP_MS = 86_400_000;
/** After a failure, or when somebody new may be waiting. */
const SOON_MS = 1000;

const changesWhoWaits = (event: DomainEvent): boolean =>
  event.type === 'user.created' ||
  event.type === 'user.role_changed' ||
  (event.type === 'realm.setting_changed' && event.setting === 'waitingPeriodThreshold');

/** Promotes members whose waiting period ends, when it ends: it sleeps until then, and keeps no process alive. */
export class Promotion implements EventListener {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly promote: Pick<PromoteFullMembers, 'execute'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.sleep(SOON_MS);
  }

  onEvents(events: readonly StoredEvent[]): void {
    if (events.some(({ event }) => changesWhoWaits(event))) this.sleep(SOON_MS);
  }

  /** Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.isStopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  private sleep(ms: number): void {
    if (this.isStopped) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      this.running = this.running.then(() => this.run());
    }, ms).unref();
  }

  private async run(): Promise<void> {
    try {
      const next = await this.promote.execute();
      if (next !== null && this.timer === null) {
        this.sleep(Math.min(Math.max(0, next * 1000 - this.clock.nowMs()), MAX_SLEEP_MS));
      }
    } catch (error) {
      this.logger.error({ err: error }, 'promoting members failed');
      this.sleep(MAX_SLEEP_MS / 24);
    }
  }
}
