import type { EventHub } from '@parley/domain/kernel';

/** Verifies that written data is still where other processes find it. */
export class StorageWatch {
  private isLost = false;

  constructor(
    private readonly verify: () => void,
    private readonly hub: Pick<EventHub, 'close'>,
  ) {}

  readonly run = async (): Promise<void> => {
    try {
      this.verify();
    } catch {
      // The storage reports the problem once. Pending polls end and fail the next time.
      if (this.isLost) return;
      this.isLost = true;
      this.hub.close();
    }
  };
}
