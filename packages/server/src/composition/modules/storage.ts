import { PublishingUnitOfWork } from '@parley/domain/composition';
import type { EventLimits, UnitOfWork } from '@parley/domain/kernel';
import { Adapter } from '../adapter.js';

export interface StorageOptions {
  readonly unitOfWork: UnitOfWork;
  /** Size limits of the event log and of a lagging queue; default: `DEFAULT_SWEEP_OPTIONS`. */
  readonly eventLimits?: EventLimits;
  /** True to start neither workers nor deliveries, for commands that only call a few use cases. Default: false. */
  readonly isOneOff?: boolean;
}

/** Database: SQLite, PostgreSQL or the application's own. */
export const storage = ({ unitOfWork, eventLimits, isOneOff = false }: StorageOptions) =>
  new Adapter({
    storage: () => unitOfWork,
    unitOfWork: ({ get }) => get('publishing'),
    publishing: ({ get }) =>
      new PublishingUnitOfWork(get('storage'), get('onListenerFailure'), {
        maxLogBytes: eventLimits?.maxLogBytes,
        open: get('openRealm'),
      }),
    // One-off commands run too briefly to cache realms.
    openRealm: ({ get }) => (isOneOff ? () => null : (realmId) => get('follower').open(realmId)),
    commitListeners: ({ get }) => [get('follower'), get('jobWorkers')],
  });
