import type { EventHub, ReportProblem, Timers } from '@parley/domain/kernel';
import { periodic, RecurringWorker } from './recurring-worker.js';

/** How soon it is noticed that somebody has taken the files away. */
const VERIFY_MS = 1000;

/** Looks whether what is written is still where others find it. Beside the rest, which may be waiting for the very storage. */
export class StorageWatch extends RecurringWorker {
  constructor(verify: () => void, hub: Pick<EventHub, 'close'>, timers: Timers, report: ReportProblem) {
    let isLost = false;
    const look = () => {
      try {
        verify();
      } catch {
        // The storage itself reports what is wrong, once. Whoever waits for events is let go, and refused the next time.
        if (isLost) return;
        isLost = true;
        hub.close();
      }
    };
    super(periodic('letting go of those who wait for events', VERIFY_MS, look), timers, report);
  }
}
