import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, MessageId, RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { RealmUrls } from '../kernel/ports.js';
import type { Snapshot, SnapshotLoader } from '../kernel/register-queue.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { loadRealm } from '../realms/realm-loaders.js';
import {
  accessibleUserIds,
  conversationPartnerIds,
  type PresentUsers,
  presentVisibleUsers,
} from './accessible-users.js';
import { findReferencedUser, type UserReference } from './find-user.js';
import { type UserWithProfile, withProfiles } from './profiles.js';
import type { SpecialPermission, User, UserListEntry } from './user.js';
import { canAccessUser } from './user-permissions.js';

/** Returns the actor of the snapshot. */
export const loadViewer = ({ caller, repositories }: Snapshot): Promise<Actor> => repositories.actors.get(caller);

/** Returns the viewer's own user. */
export const loadOwnUser = async ({ caller, repositories }: Snapshot): Promise<User> =>
  await repositories.users.get(caller.realmId, caller.userId);

/** Loads the ids of the users in the client's state; null for all. Substituted for partial states. */
export const loadHeldUserIds: SnapshotLoader<readonly UserId[] | 'members' | null> = async () => null;

export interface LoadedPeople {
  /** Held, visible users by ascending id, including deactivated users and bots. */
  readonly entries: readonly UserListEntry[];
  readonly systemBots: readonly User[];
  /** Valid only within the snapshot read. */
  readonly hydrate: (ids: readonly UserId[]) => Promise<readonly UserWithProfile[]>;
}

export async function loadPeople(snapshot: Snapshot): Promise<LoadedPeople> {
  const { repositories } = snapshot;
  const { users } = repositories;
  const realm = await snapshot.load(loadRealm);
  const accessible = await snapshot.load(loadAccessibleIds);
  const held = await snapshot.load(loadHeldUserIds);
  const list = (): Promise<readonly UserListEntry[]> => {
    if (held === 'members') return users.listMemberEntries(realm.id);
    if (held) return users.listSomeEntries(realm.id, accessible ? held.filter((id) => accessible.has(id)) : held);
    return accessible ? users.listSomeEntries(realm.id, [...accessible]) : users.listEntries(realm.id);
  };
  return {
    entries: await list(),
    systemBots: await users.listSystemBots(realm.id),
    hydrate: async (ids) => {
      return withProfiles(repositories, realm.id, await users.list(realm.id, ids));
    },
  };
}

/** Loads the hidden users, ascending; none unless the viewer is a limited guest (users §1.4). */
export async function loadInaccessibleIds(snapshot: Snapshot): Promise<readonly UserId[]> {
  const accessible = await snapshot.load(loadAccessibleIds);
  if (!accessible) return [];
  const entries = await snapshot.repositories.users.listEntries(snapshot.caller.realmId);
  return entries.map(({ id }) => id).filter((id) => !accessible.has(id));
}

const loadAccessibleIds = async (snapshot: Snapshot): Promise<ReadonlySet<UserId> | null> =>
  accessibleUserIds(snapshot.repositories, await snapshot.load(loadViewer), await snapshot.load(loadRealm));

export interface GetOwnUserOutput {
  readonly user: UserWithProfile;
  readonly realm: Realm;
  /** Null if the user has no messages. */
  readonly newestMessageId: MessageId | null;
}

/** Returns the caller's own user. */
export class GetOwnUser {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(caller: Caller): Promise<GetOwnUserOutput> {
    return this.uow.read(caller.realmId, async (repositories) => {
      await repositories.actors.get(caller);
      const realm = await repositories.realms.get(caller.realmId);
      const user = await repositories.users.find(caller.realmId, caller.userId);
      const [shown] = await withProfiles(repositories, caller.realmId, [user!]);
      return { user: shown!, realm, newestMessageId: await repositories.personal.newestId(caller) };
    });
  }
}

export interface GetUserOutput {
  readonly user: UserWithProfile;
  readonly viewer: Actor;
  readonly realm: Realm;
}

/** Returns a user of the realm, possibly deactivated or a bot (users §2). */
export class GetUser {
  static readonly inject = ['unitOfWork', 'realmUrls'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
  ) {}

  /** @throws DomainError UNKNOWN_USER, NOT_PERMITTED */
  execute(caller: Caller, by: UserReference): Promise<GetUserOutput> {
    return this.uow.read(caller.realmId, async (repositories) => {
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

/** Lists the users of the realm that the caller can see (users §2). */
export class ListUsers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** `ids`: users to include, null for all. Unknown ids are ignored. */
  execute<T>(
    caller: Caller,
    { ids }: { readonly ids: readonly UserId[] | null },
    present: PresentUsers<T>,
  ): Promise<T> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const viewer = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(caller.realmId);
      return presentVisibleUsers(repositories, { viewer, realm, ids }, present);
    });
  }
}

export interface GrantSpecialPermissionInput {
  readonly realmId: RealmId;
  readonly email: string;
  readonly permission: SpecialPermission;
}

/** Grants a permission that is not part of any role, on behalf of the operator. */
export class GrantSpecialPermission {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Idempotent. @throws DomainError UNKNOWN_USER if no user has the email. */
  execute({ realmId, email, permission }: GrantSpecialPermissionInput): Promise<User> {
    return this.uow.write(realmId, async (tx) => {
      const user = await tx.users.findByEmail(realmId, email);
      if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
      if (user.specialPermissions.includes(permission)) return user;
      return tx.users.update({ ...user, specialPermissions: [...user.specialPermissions, permission] });
    });
  }
}
