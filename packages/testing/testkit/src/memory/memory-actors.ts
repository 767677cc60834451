import type { Actor, ActorReads, UserInRealm } from '@parley/domain/access';
import { DomainError, type RealmId, type UserId } from '@parley/domain/kernel';
import type { User } from '@parley/domain/users';
import { groupsOf } from './group-closure.js';
import type { MemoryUnit } from './tables.js';

export class MemoryActors implements ActorReads {
  constructor(private readonly unit: MemoryUnit) {}

  async get({ realmId, userId }: UserInRealm): Promise<Actor> {
    const actor = (await this.list(realmId, [userId])).get(userId);
    if (!actor) throw new DomainError('USER_DEACTIVATED', 'Account is deactivated');
    return actor;
  }

  async getAuthor({ realmId, userId }: UserInRealm): Promise<Actor> {
    const user = this.unit.read('users').get(userId)?.user;
    if (user?.realmId !== realmId) throw new DomainError('USER_DEACTIVATED', 'Account is deactivated');
    return this.toActor(user);
  }

  async list(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Actor>> {
    const actors = new Map<UserId, Actor>();
    for (const id of userIds) {
      const user = this.unit.read('users').get(id)?.user;
      if (user?.realmId === realmId && user.isActive) actors.set(id, this.toActor(user));
    }
    return actors;
  }

  private toActor({ id, realmId, role, bot }: User): Actor {
    return {
      id,
      realmId,
      role,
      isBot: bot !== null,
      botOwnerId: bot?.ownerId ?? null,
      groups: groupsOf(this.unit, realmId, id),
    };
  }
}
