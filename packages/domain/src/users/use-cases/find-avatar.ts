import type { Actor } from '../../access/actor.js';
import type { WebPublicOption } from '../../channels/channel-access.js';
import { enterAsSpectator, type Spectator } from '../../channels/spectators.js';
import type { Caller } from '../../kernel/caller.js';
import type { UserId } from '../../kernel/ids.js';
import type { Repositories, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { inaccessibleUserIds } from '../accessible-users.js';
import { canSeeEmail } from '../email-visibility.js';
import type { User } from '../user.js';

export interface FoundAvatar {
  readonly realm: Realm;
  /** Null: there is nobody of this id, or nobody whom the caller may know. */
  readonly user: User | null;
  /** Whether the caller may see the address, which some avatars follow from. */
  readonly seesEmail: boolean;
}

/** Whose avatar it is, for clients that know no more than an id (users §1.3). */
export class FindAvatar {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(caller: Caller, { userId }: { readonly userId: UserId }): Promise<FoundAvatar> {
    return this.uow.read(async (reads) => {
      const viewer = await reads.actors.get(caller);
      const realm = await reads.realms.get(caller.realmId);
      const user = await findKnown(reads, viewer, realm, userId);
      return { realm, user, seesEmail: user !== null && canSeeEmail(viewer, user) };
    });
  }
}

/** The same for those who have not logged in: they see nobody's address (protocol §9). */
export class SpectateAvatar {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly option: WebPublicOption,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED */
  execute(spectator: Spectator, { userId }: { readonly userId: UserId }): Promise<FoundAvatar> {
    return this.uow.read(async (reads) => {
      const { realm, actor } = await enterAsSpectator(reads, spectator, this.option);
      return { realm, user: await findKnown(reads, actor, realm, userId), seesEmail: false };
    });
  }
}

async function findKnown(reads: Repositories, viewer: Actor, realm: Realm, userId: UserId): Promise<User | null> {
  const [user = null] = await reads.users.list(realm.id, [userId]);
  return user && (await inaccessibleUserIds(reads, viewer, realm, [userId])).has(userId) ? null : user;
}
