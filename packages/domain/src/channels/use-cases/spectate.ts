import type { UserId } from '../../kernel/ids.js';
import { type Loaded, loadAll, type SnapshotLoaders, takeSnapshot } from '../../kernel/snapshot.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { type PresentUsers, presentKnownUsers } from '../../users/present-known-users.js';
import type { User } from '../../users/user.js';
import { loadOwnUser, loadViewer } from '../../users/user-loaders.js';
import { type Channel, isWebPublic } from '../channel.js';
import type { WebPublicOption } from '../channel-access.js';
import { loadKnownChannels } from '../channel-loaders.js';
import { enterAsSpectator, SPECTATOR_ID, type Spectator } from '../spectators.js';

/** What clients begin with whose user has not logged in (events §1). There is no queue for them. */
export class LoadSpectatorState {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly option: WebPublicOption,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED */
  execute<L extends SnapshotLoaders>(
    spectator: Spectator & { readonly clientName: string },
    { loaders }: { readonly loaders: L },
  ): Promise<Loaded<L>> {
    return this.uow.read(async (repositories) => {
      const { realm, actor } = await enterAsSpectator(repositories, spectator, this.option);
      const caller = { realmId: realm.id, userId: actor.id, clientName: spectator.clientName };
      const snapshot = takeSnapshot(repositories, caller, [
        [loadViewer, actor],
        [loadOwnUser, spectatorUser(realm)],
        [loadKnownChannels, (await repositories.channels.listAll(realm.id)).filter(isOpenToSpectators)],
      ]);
      return loadAll(snapshot, loaders);
    });
  }
}

/** Whom those may know of who have not logged in (users §2, protocol §9). */
export class SpectateUsers {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly option: WebPublicOption,
  ) {}

  /** `ids`: only these; null: all. @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED */
  execute<T>(
    spectator: Spectator,
    { ids }: { readonly ids: readonly UserId[] | null },
    present: PresentUsers<T>,
  ): Promise<T> {
    return this.uow.read(async (repositories) => {
      const { realm, actor } = await enterAsSpectator(repositories, spectator, this.option);
      return presentKnownUsers(repositories, { viewer: actor, realm, ids }, present);
    });
  }
}

const isOpenToSpectators = (channel: Channel): boolean => isWebPublic(channel) && !channel.isArchived;

/** As nobody is stored, for what shows clients their own user. */
const spectatorUser = (realm: Realm): User => ({
  id: SPECTATOR_ID,
  realmId: realm.id,
  email: '',
  fullName: 'Anonymous User',
  role: 'guest',
  isActive: true,
  isDeleted: false,
  joinedAt: 0,
  bot: null,
  avatar: { source: 'generated', version: 1 },
  specialPermissions: [],
  settings: realm.userDefaults,
  editedSettings: [],
  version: 1,
});
