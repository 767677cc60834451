import type { Realm } from '../../realms/realm.js';
import type { Caller } from '../../shared/caller.js';
import { DomainError } from '../../shared/errors.js';
import type { UserId } from '../../shared/ids.js';
import { enforce } from '../../shared/permission.js';
import type { RealmUrls } from '../../shared/realm-urls.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { conversationPartnerIds } from '../accessible-users.js';
import type { Actor } from '../actor.js';
import { canFindByEmail } from '../email-visibility.js';
import { idInDummyAddress } from '../find-by-address.js';
import type { User } from '../user.js';
import { canAccessUser } from '../user-permissions.js';

export interface GetUserOutput {
  readonly user: User;
  readonly viewer: Actor;
  readonly realm: Realm;
}

/** One user of the realm, deactivated ones and bots too (users §2). */
export class GetUser {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
  ) {}

  /** @throws DomainError UNKNOWN_USER, NOT_PERMITTED */
  execute(caller: Caller, by: { readonly id: UserId } | { readonly email: string }): Promise<GetUserOutput> {
    return this.uow.read(async (repositories) => {
      const viewer = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(caller.realmId);
      const id = 'id' in by ? by.id : idInDummyAddress(by.email, this.realmUrls.emailDomainOf(realm));
      const found =
        id !== null || !('email' in by)
          ? await repositories.users.find(realm.id, id as UserId)
          : await repositories.users.findByEmail(realm.id, by.email.trim());
      // Who hides their address is not found by it, and nobody can tell that from an address that is nobody's.
      const user = id === null && found && !canFindByEmail(viewer, found) ? null : found;
      const partners = await conversationPartnerIds(repositories, viewer, realm);
      enforce(
        canAccessUser(viewer, user, {
          realm,
          sharesConversation: user !== null && partners.has(user.id),
          allowBots: true,
          allowDeactivated: true,
        }),
      );
      if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
      return { user, viewer, realm };
    });
  }
}
