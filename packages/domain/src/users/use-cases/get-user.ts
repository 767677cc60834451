import type { Actor } from '../../access/actor.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import { enforce } from '../../kernel/permission.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { conversationPartnerIds } from '../accessible-users.js';
import { findReferencedUser, type UserReference } from '../find-user.js';
import type { UserWithProfile } from '../profile-value.js';
import { canAccessUser } from '../user-permissions.js';
import { withProfiles } from '../user-profiles.js';

export interface GetUserOutput {
  readonly user: UserWithProfile;
  readonly viewer: Actor;
  readonly realm: Realm;
}

/** One user of the realm, deactivated ones and bots too (users §2). */
export class GetUser {
  static readonly inject = ['unitOfWork', 'realmUrls'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
  ) {}

  /** @throws DomainError UNKNOWN_USER, NOT_PERMITTED */
  execute(caller: Caller, by: UserReference): Promise<GetUserOutput> {
    return this.uow.read(async (repositories) => {
      const viewer = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(caller.realmId);
      const user = await findReferencedUser(repositories, viewer, realm, this.realmUrls, by);
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
      const [shown] = await withProfiles(repositories, realm.id, [user]);
      return { user: shown!, viewer, realm };
    });
  }
}
