import type { UnitOfWork } from '../../shared/unit-of-work.js';
import type { QueueOwner } from '../event-queue.js';

/** Somebody of each organization whose clients wait for events; the one that was there last comes first. */
export class ListClientsInUse {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ limit }: { readonly limit: number }): Promise<readonly QueueOwner[]> {
    return this.uow.read(({ queues }) => queues.listOwnersInUse(limit));
  }
}
