import type { Clock } from '../../kernel/clock.js';
import type { RealmId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { User } from '../../users/user.js';
import { deactivateWithBots } from '../deactivate-user.js';
import { getHostUser, type HostUserReference } from '../find-host-user.js';
import { reactivateWithGroups, requireComplete } from '../reactivate-user.js';

export interface SetHostUserActiveInput {
  readonly realmId: RealmId;
  readonly user: HostUserReference;
  readonly isActive: boolean;
}

/**
 * Somebody leaves the host application, or comes back to it. For the host: nobody's permission is asked, and the last owner may
 * go, since the host can name another.
 */
export class SetHostUserActive {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Once more: without effect. @throws DomainError UNKNOWN_USER; for bots BOT_NAME_TAKEN, NOT_PERMITTED */
  execute({ realmId, user: by, isActive }: SetHostUserActiveInput): Promise<User> {
    return this.uow.write(async (tx) => {
      const user = await getHostUser(tx, realmId, by);
      if (user.isActive === isActive) return user;
      const realm = await tx.realms.get(realmId);
      const now = this.clock.now();
      if (isActive) {
        await requireComplete(tx, user);
        return reactivateWithGroups(tx, realm, user, now);
      }
      await deactivateWithBots(tx, realm, user, now);
      return (await tx.users.find(realmId, user.id))!;
    });
  }
}
