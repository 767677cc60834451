import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import { type Loaded, loadAll, type SnapshotLoaders, takeSnapshot } from '../kernel/register-queue.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { canSeeEmail, inaccessibleUserIds, type PresentUsers, presentVisibleUsers } from '../users/accessible-users.js';
import type { User } from '../users/user.js';
import { loadOwnUser, loadViewer } from '../users/users.use-cases.js';
import { type Channel, isWebPublic } from './channel.js';
import { canSpectate, SPECTATOR_ID, type SpectatorAccess, type WebPublicOption } from './channel-access.js';
import { loadVisibleChannels } from './channels.use-cases.js';

/** Anonymous caller; the realm is null if the host name belongs to no organization. */
export interface Spectator {
  readonly realmId: RealmId | null;
}

/** Returns an actor with minimal permissions and no data. Anonymous callers may see all users if guests may. */
async function spectatorActor({ groups }: Pick<Repositories, 'groups'>, realm: Realm): Promise<Actor> {
  const { everyone } = await groups.systemGroupIds(realm.id);
  return {
    id: SPECTATOR_ID,
    realmId: realm.id,
    role: 'guest',
    isBot: false,
    botOwnerId: null,
    groups: new Set(realm.permissions.canAccessAllUsers === everyone ? [everyone] : []),
  };
}

export const loginRequired = () =>
  new DomainError('UNAUTHENTICATED', 'Not logged in: API authentication or user session required');

interface SpectatorEntry {
  readonly realm: Realm;
  readonly actor: Actor;
  readonly spectators: SpectatorAccess;
}

/**
 * Reads as an anonymous caller (protocol §9).
 * @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED if nothing is readable without logging in
 */
export async function readAsSpectator<T>(
  uow: UnitOfWork,
  { realmId }: Spectator,
  option: WebPublicOption,
  work: (reads: Repositories, entry: SpectatorEntry) => Promise<T>,
): Promise<T> {
  if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
  return uow.read(realmId, async (reads) => work(reads, await enterAsSpectator(reads, realmId, option)));
}

async function enterAsSpectator(
  repositories: Pick<Repositories, 'realms' | 'channels' | 'groups'>,
  realmId: RealmId,
  { webPublicEnabled }: WebPublicOption,
): Promise<SpectatorEntry> {
  const { realms, channels } = repositories;
  const realm = await realms.get(realmId);
  const spectators = { webPublicEnabled, hasWebPublicChannel: await channels.hasWebPublic(realmId) };
  if (realm.isDeactivated) throw loginRequired();
  enforce(canSpectate(realm, spectators));
  return { realm, actor: await spectatorActor(repositories, realm), spectators };
}

/** Loads the initial state for an anonymous caller (events §1), who gets no queue. */
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
    return readAsSpectator(this.uow, spectator, this.option, async (repositories, { realm, actor }) => {
      const { channels } = repositories;
      const webPublic = await channels.list(realm.id, await channels.listWebPublicIds(realm.id));
      const caller = { realmId: realm.id, userId: actor.id, clientName: spectator.clientName };
      const snapshot = takeSnapshot(repositories, caller, [
        [loadViewer, async () => actor],
        [loadOwnUser, async () => spectatorUser(realm)],
        [loadVisibleChannels, async () => webPublic.filter(isOpenToSpectators)],
      ]);
      return loadAll(snapshot, loaders);
    });
  }
}

/** Decides if a browser without an account gets the application (protocol §9). */
export class CheckSpectatorAccess {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly option: WebPublicOption,
  ) {}

  execute(realm: Realm): Promise<boolean> {
    return this.uow.read(realm.id, async ({ channels }) => {
      const spectators = { ...this.option, hasWebPublicChannel: await channels.hasWebPublic(realm.id) };
      return !realm.isDeactivated && canSpectate(realm, spectators).allowed;
    });
  }
}

/** Loads the users visible to an anonymous caller (users §2, protocol §9). */
export class SpectateUsers {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly option: WebPublicOption,
  ) {}

  /** Loads only `ids`, or all users if null. @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED */
  execute<T>(
    spectator: Spectator,
    { ids }: { readonly ids: readonly UserId[] | null },
    present: PresentUsers<T>,
  ): Promise<T> {
    return readAsSpectator(this.uow, spectator, this.option, async (repositories, { realm, actor }) => {
      return presentVisibleUsers(repositories, { viewer: actor, realm, ids }, present);
    });
  }
}

const isOpenToSpectators = (channel: Channel): boolean => isWebPublic(channel) && !channel.isArchived;

/** Placeholder user that is not stored, for parts of the state that contain the client's own user. */
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

export interface FoundAvatar {
  readonly realm: Realm;
  /** Null if the user does not exist or is hidden from the caller. */
  readonly user: User | null;
  /** True if the caller may see the email address, which some avatars are derived from. */
  readonly seesEmail: boolean;
}

/** Finds the avatar of a user, for clients that know only the user's id (users §1.3). */
export class FindAvatar {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(caller: Caller, { userId }: { readonly userId: UserId }): Promise<FoundAvatar> {
    return this.uow.read(caller.realmId, async (reads) => {
      const viewer = await reads.actors.get(caller);
      const realm = await reads.realms.get(caller.realmId);
      const user = await findVisible(reads, viewer, realm, userId);
      return { realm, user, seesEmail: user !== null && canSeeEmail(viewer, user) };
    });
  }
}

/** Finds an avatar for an anonymous caller, who sees no email addresses (protocol §9). */
export class SpectateAvatar {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly option: WebPublicOption,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED */
  execute(spectator: Spectator, { userId }: { readonly userId: UserId }): Promise<FoundAvatar> {
    return readAsSpectator(this.uow, spectator, this.option, async (reads, { realm, actor }) => {
      return { realm, user: await findVisible(reads, actor, realm, userId), seesEmail: false };
    });
  }
}

async function findVisible(reads: Repositories, viewer: Actor, realm: Realm, userId: UserId): Promise<User | null> {
  const [user = null] = await reads.users.list(realm.id, [userId]);
  return user && (await inaccessibleUserIds(reads, viewer, realm, [userId])).has(userId) ? null : user;
}
