import type { BlankedMessages, StoredEvent } from '../kernel/event-log.js';
import type { ScheduledJob } from '../kernel/jobs.js';
import type { UnitChanges } from '../kernel/unit-of-work.js';

/** Kept by a storage for each writing unit until the unit is committed or rolled back. */
export class UnitRecord implements UnitChanges {
  readonly events: StoredEvent[] = [];
  readonly blanked: BlankedMessages[] = [];
  readonly jobs: ScheduledJob[] = [];
  private readonly undoing: (() => void)[] = [];

  onRollback(undo: () => void): void {
    this.undoing.push(undo);
  }

  /** Called by the storage once nothing of the unit will be committed. */
  rollBack(): void {
    for (const undo of this.undoing.splice(0).reverse()) undo();
  }
}
