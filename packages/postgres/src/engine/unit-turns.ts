import type { RealmId } from '@parley/domain/kernel';

/** Order of this process's writing units: one at a time per organization, and units across organizations alone. */
export class UnitTurns {
  private readonly lastOf = new Map<RealmId, Promise<unknown>>();
  private lastAcross: Promise<unknown> = Promise.resolve();
  private waitingCount = 0;

  /** Number of units that have not begun. */
  get waiting(): number {
    return this.waitingCount;
  }

  /** @param realmId null for a unit across organizations */
  run<T>(realmId: RealmId | null, unit: () => Promise<T>): Promise<T> {
    this.waitingCount++;
    const earlier =
      realmId === null ? [this.lastAcross, ...this.lastOf.values()] : [this.lastAcross, this.lastOf.get(realmId)];
    const result = Promise.all(earlier).then(() => {
      this.waitingCount--;
      return unit();
    });
    const settled = result.then(ignore, ignore);
    if (realmId === null) this.lastAcross = settled;
    else {
      this.lastOf.set(realmId, settled);
      void settled.then(() => {
        if (this.lastOf.get(realmId) === settled) this.lastOf.delete(realmId);
      });
    }
    return result;
  }
}

const ignore = (): void => {};
