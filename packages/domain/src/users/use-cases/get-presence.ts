import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import { enforce } from '../../kernel/permission.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { conversationPartnerIds } from '../accessible-users.js';
import { findByPublicAddress } from '../find-by-address.js';
import type { UserReference } from '../find-user.js';
import { PresenceBoard, type PresenceEntry } from '../presence-board.js';
import { canAccessUser } from '../user-permissions.js';

/** When somebody was there last (users §8.3). */
export class GetPresence {
  static readonly inject = ['unitOfWork', PresenceBoard, 'realmUrls'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly board: PresenceBoard,
    private readonly realmUrls: RealmUrls,
  ) {}

  /** @throws DomainError UNKNOWN_USER, NO_PRESENCE_OF_BOTS, NOT_PERMITTED, UNKNOWN_PRESENCE */
  async execute(caller: Caller, by: UserReference): Promise<PresenceEntry> {
    const { realmId } = caller;
    const { userId, isShown } = await this.uow.read(async (repositories) => {
      const viewer = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(realmId);
      const user =
        'id' in by
          ? await repositories.users.find(realmId, by.id)
          : await this.findByAddress(repositories, realm, by.email);
      if (!user?.isActive || user.bot?.isSystem) throw new DomainError('UNKNOWN_USER', 'No such user');
      if (user.bot) throw new DomainError('NO_PRESENCE_OF_BOTS', 'Presence is not supported for bot users.');
      const sharesConversation = (await conversationPartnerIds(repositories, viewer, realm)).has(user.id);
      enforce(canAccessUser(viewer, user, { realm, sharesConversation }));
      return { userId: user.id, isShown: !realm.settings.presenceDisabled };
    });
    const entry = isShown ? await this.board.find(realmId, userId) : null;
    if (entry) return entry;
    throw new DomainError('UNKNOWN_PRESENCE', `No presence data for ${'id' in by ? by.id : by.email}`);
  }

  /** By what the user is known to everybody. */
  private async findByAddress(
    repositories: Parameters<typeof findByPublicAddress>[0],
    realm: Parameters<RealmUrls['emailDomainOf']>[0] & { readonly id: Caller['realmId'] },
    email: string,
  ) {
    const host = this.realmUrls.emailDomainOf(realm);
    return (await findByPublicAddress(repositories, realm.id, [email], host)).get(email) ?? null;
  }
}
