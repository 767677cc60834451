import type { StoredEvent } from '../kernel/event-log.js';
import type { UnitChanges } from '../kernel/feature-types.js';
import type { RealmId } from '../kernel/ids.js';
import type { ScheduledJob } from '../kernel/jobs.js';

/** Record that a storage keeps for each writing unit until commit or rollback. */
export class UnitRecord implements UnitChanges {
  readonly events: StoredEvent[] = [];
  readonly jobs: ScheduledJob[] = [];
  private readonly undoing: (() => void)[] = [];

  /** `realmId`: organization of the unit; null for a unit across organizations. */
  constructor(private readonly realmId: RealmId | null = null) {}

  /** Throws if a unit publishes or schedules for an organization other than its own. */
  requireRealm(realmId: RealmId): void {
    if (this.realmId !== null && realmId !== this.realmId)
      throw new Error(`A unit of realm ${this.realmId} tried to change realm ${realmId}`);
  }

  onRollback(undo: () => void): void {
    this.undoing.push(undo);
  }

  /** Called by the storage once the unit can no longer be committed. */
  rollBack(): void {
    for (const undo of this.undoing.splice(0).reverse()) undo();
  }
}
