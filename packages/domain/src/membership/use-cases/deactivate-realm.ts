import { wholeRealm } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { enforce } from '../../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { callOffDeletion, planDeletion } from '../../realms/delete-realm-data.js';
import type { Realm } from '../../realms/realm.js';
import { isReachable } from '../../realms/realm-data.js';
import { canDeactivateRealm } from '../../realms/realm-permissions.js';

export interface DeactivateRealmInput {
  /** After so many days everything of the organization is deleted; null: never. */
  readonly deletionDelayDays: number | null;
}

/** As register answers it. */
export const MIN_DELETION_DELAY_DAYS = 14;
const SECONDS_PER_DAY = 86_400;

const SESSIONS_AT_A_TIME = 500;

/** Nobody signs in any more, and no key is good; everything stays until its deletion is due (organization §3). */
export class DeactivateRealm {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError MUST_BE_OWNER, INVALID_DELETION_DELAY */
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
      }
      const realm = await tx.realms.get(caller.realmId);
      if ((await deactivate(tx, realm)) && deletionDelayDays !== null) {
        await planDeletion(tx, realm.id, this.clock.now() + deletionDelayDays * SECONDS_PER_DAY);
      }
    });
  }
}

export interface SuspendRealmInput {
  readonly stringId: string;
}

/** For the operator. Whether the organization was in use. */
export class SuspendRealm {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_REALM */
  execute({ stringId }: SuspendRealmInput): Promise<boolean> {
    return this.uow.write(async (tx) => deactivate(tx, await realmNamed(tx, stringId)));
  }
}

async function deactivate(tx: Transaction, realm: Realm): Promise<boolean> {
  if (realm.isDeactivated) return false;
  await tx.realms.update({ ...realm, isDeactivated: true });
  while ((await tx.sessions.removeOfRealm(realm.id, SESSIONS_AT_A_TIME)) === SESSIONS_AT_A_TIME) await tx.yield();
  await tx.events.append(realm.id, { event: { type: 'realm.deactivated' }, audience: wholeRealm });
  return true;
}

export interface ReactivateRealmInput {
  readonly stringId: string;
}

/** For the operator: the organization goes on where it was, and nothing of it is deleted. Whether it was deactivated. */
export class ReactivateRealm {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_REALM */
  execute({ stringId }: ReactivateRealmInput): Promise<boolean> {
    return this.uow.write(async (tx) => {
      const realm = await realmNamed(tx, stringId);
      if (realm.isDeactivated) {
        await tx.realms.update({ ...realm, isDeactivated: false });
        await callOffDeletion(tx, realm.id);
      }
      return realm.isDeactivated;
    });
  }
}

async function realmNamed({ realms }: Transaction, stringId: string): Promise<Realm> {
  const realm = await realms.findByStringId(stringId);
  if (!realm || !isReachable(realm)) {
    throw new DomainError('UNKNOWN_REALM', `There is no organization '${stringId}'.`);
  }
  return realm;
}
