import type { QueuePosition } from '@parley/client';
import type { Clock } from '../kernel/ports.js';

/** Time limit for events since the stored state, after which messages are fetched instead. */
const CATCH_UP_MS = 2000;

/** Start from the cache, which waits for the events since the cached snapshot. */
export class CatchUp {
  /** Queue position of the cached snapshot; all later events are applied. Null after a registration. */
  private readonly resumed: Promise<QueuePosition | null>;
  private resume!: (since: QueuePosition | null) => void;
  private cancelWaiting: (() => void) | null = null;

  constructor(private readonly clock: Clock) {
    this.resumed = new Promise((resolve) => {
      this.resume = resolve;
    });
  }

  /** Starts the time limit. */
  begin(): void {
    this.cancelWaiting = this.clock.after(CATCH_UP_MS, () => this.resume(null));
  }

  /** Called when all events since a position were applied; null after a registration. */
  finish(since: QueuePosition | null): void {
    this.stop();
    this.resume(since);
  }

  /** Resolves to true if the cached snapshot is not newer than a position, so that all later events were applied. */
  async includes({ queueId, lastEventId }: QueuePosition): Promise<boolean> {
    const since = await this.resumed;
    return since !== null && since.queueId === queueId && since.lastEventId <= lastEventId;
  }

  stop(): void {
    this.cancelWaiting?.();
  }
}
