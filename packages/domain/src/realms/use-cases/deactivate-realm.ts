import { wholeRealm } from '../../events/audience.js';
import type { Caller } from '../../shared/caller.js';
import { DomainError } from '../../shared/errors.js';
import { enforce } from '../../shared/permission.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { canDeactivateRealm } from '../realm-permissions.js';

export interface DeactivateRealmInput {
  /** After so many days everything of the organization is deleted; null: never. */
  readonly deletionDelayDays: number | null;
}

/** What clients are told with register. */
export const MIN_DELETION_DELAY_DAYS = 14;

const SESSIONS_AT_A_TIME = 500;

/** Nobody signs in any more, and no key is good; everything stays (organization §3). */
export class DeactivateRealm {
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_OWNER, INVALID_DELETION_DELAY, DATA_DELETION_UNAVAILABLE */
  execute(caller: Caller, { deletionDelayDays }: DeactivateRealmInput): Promise<void> {
    return this.uow.write(async (tx) => {
      enforce(canDeactivateRealm(await tx.actors.get(caller)));
      if (deletionDelayDays !== null) {
        if (deletionDelayDays < MIN_DELETION_DELAY_DAYS) {
          throw new DomainError(
            'INVALID_DELETION_DELAY',
            `Data deletion time must be at least ${MIN_DELETION_DELAY_DAYS} days in the future.`,
          );
        }
        // Rather than a promise that nobody keeps.
        throw new DomainError('DATA_DELETION_UNAVAILABLE', 'This server does not delete data of organizations.');
      }
      const realm = await tx.realms.get(caller.realmId);
      if (realm.isDeactivated) return;
      await tx.realms.update({ ...realm, isDeactivated: true });
      while ((await tx.sessions.removeOfRealm(realm.id, SESSIONS_AT_A_TIME)) === SESSIONS_AT_A_TIME) await tx.yield();
      await tx.events.append(realm.id, { event: { type: 'realm.deactivated' }, audience: wholeRealm });
    });
  }
}

export interface ReactivateRealmInput {
  readonly stringId: string;
}

/** For the operator: the organization goes on where it was. Whether it was deactivated. */
export class ReactivateRealm {
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_REALM */
  execute({ stringId }: ReactivateRealmInput): Promise<boolean> {
    return this.uow.write(async (tx) => {
      const realm = await tx.realms.findByStringId(stringId);
      if (!realm) throw new DomainError('UNKNOWN_REALM', `There is no organization '${stringId}'.`);
      if (realm.isDeactivated) await tx.realms.update({ ...realm, isDeactivated: false });
      return realm.isDeactivated;
    });
  }
}
