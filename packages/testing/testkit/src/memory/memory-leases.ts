import { isDue, type Lease, type LeaseRepository, type UnixSeconds } from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly leases: Map<string, Lease>;
  }
}

export class MemoryLeases implements LeaseRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async take(name: string, lease: Lease, now: UnixSeconds): Promise<Lease> {
    const present = this.unit.read('leases').get(name);
    if (present && present.holder !== lease.holder && !isDue(present.until, now, lease.until - now)) return present;
    this.unit.change('leases').set(name, lease);
    return lease;
  }

  async listHolders(): Promise<readonly string[]> {
    return [...new Set([...this.unit.read('leases').values()].map(({ holder }) => holder))].sort();
  }

  async release(holder: string): Promise<void> {
    for (const [name, lease] of this.unit.read('leases')) {
      if (lease.holder === holder) this.unit.change('leases').delete(name);
    }
  }
}
