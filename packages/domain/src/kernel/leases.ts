import { isDue } from './clock-watch.js';
import type { UnixSeconds } from './ids.js';
import type { Clock } from './ports.js';
import type { UnitOfWork } from './unit-of-work.js';

/** Exclusive right of one server to perform recurring work until a given time. */
export interface Lease {
  readonly holder: string;
  readonly until: UnixSeconds;
}

export interface LeaseReads {
  /** Returns the holders of leases, also of expired ones, in ascending order. */
  listHolders(): Promise<readonly string[]>;
}

/** Every implementation passes lease-repository.contract.ts. */
export interface LeaseRepository extends LeaseReads {
  /**
   * Takes or extends the lease unless another holder has it at `now`, until a time that is not too far away for such a
   * lease (`isDue`). Returns the lease then in force.
   */
  take(name: string, lease: Lease, now: UnixSeconds): Promise<Lease>;
  /** Ends all leases of the holder. */
  release(holder: string): Promise<void>;
}

declare module './feature-types.js' {
  interface RepositoryMap {
    leases: [reads: LeaseReads, repository: LeaseRepository];
  }
}

export const LEASE_FEATURE = {
  notExported: {
    leases: 'They belong to running servers.',
  },
};

const SHARED = { shared: { kind: 'leases' } } as const;

/** Returns the servers that hold leases of jobs or recurring work. */
export const listLeaseHolders = (uow: UnitOfWork): Promise<ReadonlySet<string>> =>
  uow.readAcross(async ({ jobs, leases }) => new Set([...(await jobs.listHolders()), ...(await leases.listHolders())]));

/** Ends the leases of a server that has stopped. */
export async function releaseLeases(uow: UnitOfWork, holder: string, now: UnixSeconds): Promise<void> {
  await uow.writeAcross(({ leases }) => leases.release(holder), SHARED);
  await uow.writeAcross(({ jobs }) => jobs.release(holder, now), { shared: { kind: 'jobs' } });
}

/** Leases of one server for recurring work that only one server at a time may perform. */
export class Leases {
  private readonly held = new Map<string, UnixSeconds>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    /** Unique per server start. */
    private readonly holder: string,
  ) {}

  /**
   * Takes the lease for at least half of `seconds`. Returns 0 if this server has it, otherwise the seconds until the
   * other holder's lease ends.
   */
  async take(name: string, seconds: number): Promise<number> {
    const now = this.clock.now();
    if (!isDue((this.held.get(name) ?? 0) - seconds / 2, now, seconds / 2)) return 0;
    const wanted = { holder: this.holder, until: now + seconds };
    const lease = await this.uow.writeAcross(({ leases }) => leases.take(name, wanted, now), SHARED);
    if (lease.holder !== this.holder) {
      this.held.delete(name);
      return Math.max(1, lease.until - now);
    }
    this.held.set(name, lease.until);
    return 0;
  }
}
