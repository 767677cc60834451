import { PublishingUnitOfWork } from '@parley/domain/composition';
import type { EventLimits, UnitOfWork } from '@parley/domain/kernel';
import type { OpenRealm } from '../../kernel/realm-resolver.js';
import { AuditTrail } from '../../observation/audit-trail.js';
import { Adapter } from '../adapter.js';
import type { Get } from '../services.js';

export interface StorageOptions {
  readonly unitOfWork: UnitOfWork;
  /** Size limits of the event log and of a lagging queue; default: `DEFAULT_SWEEP_OPTIONS`. */
  readonly eventLimits?: EventLimits;
  /** True to start neither workers nor deliveries, for commands that only call a few use cases. Default: false. */
  readonly isOneOff?: boolean;
  /** True if the audit log contains names and addresses of people; default: false. */
  readonly auditNames?: boolean;
}

/** Database: SQLite, PostgreSQL or the application's own. */
export const storage = ({ unitOfWork, eventLimits, isOneOff = false, auditNames = false }: StorageOptions) =>
  new Adapter({
    storage: () => unitOfWork,
    unitOfWork: ({ get }) => get('auditTrail'),
    auditTrail: ({ get }) =>
      new AuditTrail(get('publishing'), {
        digest: get('contentDigest'),
        clock: get('clock'),
        randomness: get('randomness'),
        keepsNames: auditNames,
      }),
    publishing: ({ get }) =>
      new PublishingUnitOfWork(get('storage'), get('onListenerFailure'), {
        maxLogBytes: eventLimits?.maxLogBytes,
        open: get('openRealm'),
      }),
    // One-off commands run too briefly to cache realms.
    openRealm: ({ get }) => (isOneOff ? () => null : openingOf(get)),
    commitListeners: ({ get }) => [get('follower'), get('jobWorkers')],
  });

/** Opens organizations before their units of work. After a quiet time, commits of other processes are read first. */
function openingOf(get: Get): OpenRealm {
  const [activity, follower] = [get('activity'), get('follower')];
  let catchingUp: Promise<void> | null = null;
  activity.onResume(() => {
    catchingUp = follower
      .catchUp()
      // The unit of work fails for the same reason.
      .catch(() => {})
      .finally(() => {
        catchingUp = null;
      });
  });
  return (realmId) => {
    activity.record();
    return catchingUp ? catchingUp.then(() => follower.open(realmId) ?? undefined) : follower.open(realmId);
  };
}
