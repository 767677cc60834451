import type { RealmId, UserId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { User } from '../../users/user.js';
import { findHostUser, getHostUser, type HostUserReference } from '../find-host-user.js';

export interface HostUser {
  readonly user: User;
  /** Null: the host application has given them none. */
  readonly externalId: string | null;
}

/** Looks users up by the ids of the host application. */
export class FindHostUsers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Null: nobody has it. */
  findId(realmId: RealmId, externalId: string): Promise<UserId | null> {
    return this.uow.read(({ externalIds }) => externalIds.find(realmId, externalId));
  }

  /** Null: there is no such user. */
  find(realmId: RealmId, by: HostUserReference): Promise<HostUser | null> {
    return this.uow.read(async (repositories) => {
      const user = await findHostUser(repositories, realmId, by);
      if (!user) return null;
      return { user, externalId: (await repositories.externalIds.listByUser(realmId, [user.id])).get(user.id) ?? null };
    });
  }

  /** @throws DomainError UNKNOWN_USER */
  get(realmId: RealmId, by: HostUserReference): Promise<User> {
    return this.uow.read((repositories) => getHostUser(repositories, realmId, by));
  }

  /** In the order of the external ids. @throws DomainError UNKNOWN_USER for the first that is nobody's */
  getIds(realmId: RealmId, externalIds: readonly string[]): Promise<readonly UserId[]> {
    return this.uow.read(async (repositories) => {
      const found = await repositories.externalIds.listUserIds(realmId, externalIds);
      const ids: UserId[] = [];
      for (const externalId of externalIds) {
        ids.push(found.get(externalId) ?? (await getHostUser(repositories, realmId, { externalId })).id);
      }
      return ids;
    });
  }

  /** Unknown ones are absent. */
  describe(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, HostUser>> {
    return this.uow.read(async ({ users, externalIds }) => {
      const found = await users.list(realmId, userIds);
      const ids = await externalIds.listByUser(realmId, userIds);
      return new Map(found.map((user) => [user.id, { user, externalId: ids.get(user.id) ?? null }]));
    });
  }

  /** Everybody of the organization, bots and those who were deactivated too; ascending id. */
  async listIds(realmId: RealmId): Promise<readonly UserId[]> {
    const entries = await this.uow.read(({ users }) => users.listEntries(realmId));
    return entries.map(({ id }) => id);
  }

  /** Those who have none are absent. */
  externalIdsOf(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    return this.uow.read(({ externalIds }) => externalIds.listByUser(realmId, userIds));
  }
}
