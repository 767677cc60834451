import type { Realm } from '../../realms/realm.js';
import type { Caller } from '../../shared/caller.js';
import type { UserId } from '../../shared/ids.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { inaccessibleUserIds } from '../../users/accessible-users.js';
import { canSeeEmail } from '../../users/email-visibility.js';
import type { User } from '../../users/user.js';

export interface FoundAvatar {
  readonly realm: Realm;
  /** Null: there is nobody of this id, or nobody whom the caller may know. */
  readonly user: User | null;
  /** Whether the caller may see the address, which some avatars follow from. */
  readonly seesEmail: boolean;
}

/** Whose avatar it is, for clients that know no more than an id (users §1.3). */
export class FindAvatar {
  constructor(private readonly uow: UnitOfWork) {}

  execute(caller: Caller, { userId }: { readonly userId: UserId }): Promise<FoundAvatar> {
    return this.uow.read(async (reads) => {
      const viewer = await reads.actors.get(caller);
      const realm = await reads.realms.get(caller.realmId);
      const [user = null] = await reads.users.list(realm.id, [userId]);
      const isHidden = user === null || (await inaccessibleUserIds(reads, viewer, realm, [userId])).has(userId);
      return isHidden ? { realm, user: null, seesEmail: false } : { realm, user, seesEmail: canSeeEmail(viewer, user) };
    });
  }
}
