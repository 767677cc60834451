import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Clock, listLeaseHolders, releaseLeases, type UnitOfWork } from '@parley/domain/kernel';

/** Servers started in this process. */
const ownIds = new Set<string>();

/** Returns an id for one start of a server: machine, process and a random part. */
export function newServerId(): string {
  const id = `${hostname()} ${process.pid} ${randomUUID()}`;
  ownIds.add(id);
  return id;
}

/** True if the server was started on this machine, by a process that has ended. False if that is unknown. */
export function hasEnded(id: string): boolean {
  const [host, pid] = id.split(' ');
  if (host !== hostname() || !/^\d+$/.test(pid ?? '')) return false;
  if (Number(pid) === process.pid) return !ownIds.has(id);
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Ends the leases of servers that have stopped, so that their jobs and recurring work continue immediately. */
export class EndedLeases {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Ends the leases of processes of this machine that no longer exist. */
  async releaseLocal(): Promise<void> {
    await this.release([...(await listLeaseHolders(this.uow))].filter(hasEnded));
  }

  async release(holders: readonly string[]): Promise<void> {
    for (const holder of holders) await releaseLeases(this.uow, holder, this.clock.now());
  }
}
