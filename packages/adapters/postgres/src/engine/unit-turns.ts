import type { RealmId } from '@parley/domain/kernel';

/** Position of a writing unit among the others of this process. */
export interface Turn {
  /** Null for a unit across organizations. */
  readonly realmId: RealmId | null;
  /** Units with the same key run sequentially, but concurrently with other keys; null for an exclusive unit. */
  readonly sharedKey: string | null;
}

/** Running and waiting units of one organization. */
interface Waiting {
  alone: Promise<unknown> | null;
  /** Shared units that began after the last exclusive one. */
  readonly shared: Set<Promise<unknown>>;
}

/**
 * Order of this process's writing units: one at a time per organization, shared ones concurrently, and units across
 * organizations exclusively.
 */
export class UnitTurns {
  private readonly realms = new Map<RealmId, Waiting>();
  private readonly across: Waiting = { alone: null, shared: new Set() };
  private readonly lastOfKey = new Map<string, Promise<unknown>>();
  private waitingCount = 0;

  /** Number of units that have not begun. */
  get waiting(): number {
    return this.waitingCount;
  }

  run<T>({ realmId, sharedKey }: Turn, unit: () => Promise<T>): Promise<T> {
    this.waitingCount++;
    const own = realmId === null ? this.across : this.waitingOf(realmId);
    const earlier: (Promise<unknown> | null | undefined)[] = [this.across.alone, own.alone];
    if (sharedKey === null) {
      const rivals = realmId === null ? [this.across, ...this.realms.values()] : [own];
      for (const { alone, shared } of rivals) earlier.push(alone, ...shared);
    } else earlier.push(this.lastOfKey.get(sharedKey));
    const result = Promise.all(earlier).then(() => {
      this.waitingCount--;
      return unit();
    });
    const settled = result.then(ignore, ignore);
    if (sharedKey === null) {
      own.alone = settled;
      own.shared.clear();
    } else {
      own.shared.add(settled);
      this.lastOfKey.set(sharedKey, settled);
    }
    void settled.then(() => this.leave(own, realmId, sharedKey, settled));
    return result;
  }

  private waitingOf(realmId: RealmId): Waiting {
    const existing = this.realms.get(realmId);
    if (existing) return existing;
    const waiting: Waiting = { alone: null, shared: new Set() };
    this.realms.set(realmId, waiting);
    return waiting;
  }

  private leave(own: Waiting, realmId: RealmId | null, sharedKey: string | null, settled: Promise<unknown>): void {
    own.shared.delete(settled);
    if (own.alone === settled) own.alone = null;
    if (sharedKey !== null && this.lastOfKey.get(sharedKey) === settled) this.lastOfKey.delete(sharedKey);
    if (realmId !== null && own.shared.size === 0 && own.alone === null) this.realms.delete(realmId);
  }
}

const ignore = (): void => {};
