import type { Actor } from '../../access/actor.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { User } from '../../users/user.js';
import { canReactivateUser, isBotNameTaken } from '../../users/user-permissions.js';
import { giveOwner } from '../give-owner.js';
import { reactivateWithGroups } from '../reactivate-user.js';

/** Brings back somebody who was deactivated, bots too, with what they had (users §4.3). */
export class ReactivateUser {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Again: without effect. @throws DomainError UNKNOWN_USER, NOT_PERMITTED, BOT_NAME_TAKEN, TOO_MANY_BOTS */
  execute(caller: Caller, userId: UserId): Promise<void> {
    const { realmId } = caller;
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(realmId);
      const user = await tx.users.find(realmId, userId);
      const namesakes = user?.bot ? await tx.users.listByName(realmId, [user.fullName]) : [];
      enforce(canReactivateUser(actor, realm, user, user !== null && isBotNameTaken(user, namesakes)));
      if (user!.isActive) return;
      await reactivateWithGroups(tx, realm, await withOwner(tx, actor, user!), this.clock.now());
    });
  }
}

/** A bot whose owner is gone becomes whoever's brings it back. */
async function withOwner(tx: Transaction, actor: Actor, user: User): Promise<User> {
  if (!user.bot) return user;
  const { ownerId } = user.bot;
  const owner = ownerId === null ? null : await tx.users.find(user.realmId, ownerId);
  return owner?.isActive ? user : giveOwner(tx, user, actor.id);
}
