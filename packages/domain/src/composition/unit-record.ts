import type { StoredEvent } from '../kernel/event-log.js';
import type { RealmId } from '../kernel/ids.js';
import type { ScheduledJob } from '../kernel/jobs.js';
import type { UnitChanges } from '../kernel/unit-of-work.js';

/** Kept by a storage for each writing unit until the unit is committed or rolled back. */
export class UnitRecord implements UnitChanges {
  readonly events: StoredEvent[] = [];
  readonly jobs: ScheduledJob[] = [];
  private readonly undoing: (() => void)[] = [];

  /** `realmId`: organization that the unit names; null for a unit across organizations. */
  constructor(private readonly realmId: RealmId | null = null) {}

  /** Fails a unit that publishes or schedules for another organization than the one it names. */
  requireRealm(realmId: RealmId): void {
    if (this.realmId !== null && realmId !== this.realmId)
      throw new Error(`A unit of realm ${this.realmId} tried to change realm ${realmId}`);
  }

  onRollback(undo: () => void): void {
    this.undoing.push(undo);
  }

  /** Called by the storage once nothing of the unit will be committed. */
  rollBack(): void {
    for (const undo of this.undoing.splice(0).reverse()) undo();
  }
}
