import type { Caller } from '../../kernel/caller.js';
import type { UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { conversationPartnerIds } from '../accessible-users.js';
import { canAccessUser } from '../user-permissions.js';
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
