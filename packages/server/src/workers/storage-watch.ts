import type { EventHub, ReportProblem, Timers } from '@parley/domain/kernel';
import { periodic, RecurringWorker } from './recurring-worker.js';

/** Interval at which missing database files are detected. */
const VERIFY_MS = 1000;

/**
 * Verifies that written data is still where other processes find it. Separate from other work, which may be blocked
 * by the storage.
 */
export class StorageWatch extends RecurringWorker {
  constructor(verify: () => void, hub: Pick<EventHub, 'close'>, timers: Timers, report: ReportProblem) {
    let isLost = false;
    const look = () => {
      try {
        verify();
      } catch {
        // The storage reports the problem once. Pending polls end and fail the next time.
        if (isLost) return;
        isLost = true;
        hub.close();
      }
    };
    super(periodic('checking the database file', VERIFY_MS, look), timers, report);
  }
}
