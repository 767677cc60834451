import type { Caller } from '../../shared/caller.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { type Loaded, loadAll, type SnapshotLoaders, takeSnapshot } from '../snapshot.js';

/** What a client of the user would begin with, as `RegisterQueue` answers it; but no queue is opened. */
export class LoadClientState {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute<L extends SnapshotLoaders>(caller: Caller, { loaders }: { readonly loaders: L }): Promise<Loaded<L>> {
    return this.uow.read((repositories) => loadAll(takeSnapshot(repositories, caller), loaders));
  }
}
