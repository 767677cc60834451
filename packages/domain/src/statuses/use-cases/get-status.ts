import type { Caller } from '../../shared/caller.js';
import type { UserId } from '../../shared/ids.js';
import { enforce } from '../../shared/permission.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { conversationPartnerIds } from '../../users/accessible-users.js';
import { canAccessUser } from '../../users/user-permissions.js';
import { NO_STATUS, type ShownStatus, shownStatus } from '../user-status.js';

/** What somebody says of what they are doing (users §7). */
export class GetStatus {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED */
  execute(caller: Caller, { userId }: { readonly userId: UserId }): Promise<ShownStatus> {
    return this.uow.read(async (repositories) => {
      const viewer = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(caller.realmId);
      const user = await repositories.users.find(realm.id, userId);
      const sharesConversation = (await conversationPartnerIds(repositories, viewer, realm)).has(userId);
      enforce(canAccessUser(viewer, user, { realm, sharesConversation }));
      return shownStatus((await repositories.statuses.find(realm.id, userId)) ?? NO_STATUS, user!);
    });
  }
}
