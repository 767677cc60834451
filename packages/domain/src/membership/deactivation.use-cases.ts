import { type Actor, mustBeHuman } from '../access/actor.js';
import type { Caller, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';
import {
  canDeactivateSelf,
  canDeactivateUser,
  canReactivateUser,
  isBotNameTaken,
  isOnlyOwnerOf,
} from '../users/user-permissions.js';
import { giveOwner } from './bots.js';
import { type Deletions, deactivateWithBots, reactivateWithGroups } from './deactivation.js';
import { planDeactivationEmail } from './deactivation-email.js';

export interface DeactivateUserInput {
  readonly userId: UserId;
  /** At most `MAX_DEACTIVATION_COMMENT_LENGTH` characters. Emailed to the user; no email is sent if absent. */
  readonly comment?: string;
  /** Data to delete together with the account; nothing if absent. */
  readonly deletions?: Omit<Deletions, 'byId'>;
}

/** Deactivates an account on behalf of an administrator and keeps its data (users §4.1). */
export class DeactivateUser {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED, MUST_BE_OWNER, LAST_OWNER */
  execute(caller: Caller, { userId, comment, deletions }: DeactivateUserInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const user = await tx.users.find(caller.realmId, userId);
      const isOnlyOwner = user?.role === 'owner' && (await isOnlyOwnerOf(tx, caller.realmId, userId));
      enforce(canDeactivateUser(actor, user, isOnlyOwner));
      const realm = await tx.realms.get(caller.realmId);
      await deactivateWithBots(tx, realm, user!, this.clock.now(), deletions ? { ...deletions, byId: actor.id } : null);
      if (comment === undefined) return;
      await planDeactivationEmail(tx, realm, { userId, byId: actor.id, comment }, this.clock.now());
    });
  }
}

/** Deactivates the caller's own account (users §4.2). */
export class DeactivateSelf {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError MUST_NOT_BE_BOT, CANNOT_DEACTIVATE_LAST_USER */
  execute(caller: Caller): Promise<void> {
    const { realmId, userId } = caller;
    return this.uow.write(realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustBeHuman(actor));
      const entries = await tx.users.listEntries(realmId);
      const isLastActive = !entries.some(({ id, isActive }) => isActive && id !== userId);
      const isOnlyOwner = actor.role === 'owner' && (await isOnlyOwnerOf(tx, realmId, userId));
      enforce(canDeactivateSelf(actor, { isLastActive, isOnlyOwner }));
      const user = await tx.users.get(realmId, userId);
      await deactivateWithBots(tx, await tx.realms.get(realmId), user, this.clock.now());
    });
  }
}

/** Reactivates a user or bot with their former data (users §4.3). */
export class ReactivateUser {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Idempotent. @throws DomainError UNKNOWN_USER, NOT_PERMITTED, BOT_NAME_TAKEN, TOO_MANY_BOTS */
  execute(caller: Caller, userId: UserId): Promise<void> {
    const { realmId } = caller;
    return this.uow.write(realmId, async (tx) => {
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

/** Makes the acting user the owner of a bot if its owner is deactivated. */
async function withOwner(tx: Transaction, actor: Actor, user: User): Promise<User> {
  if (!user.bot) return user;
  const { ownerId } = user.bot;
  const owner = ownerId === null ? null : await tx.users.find(user.realmId, ownerId);
  return owner?.isActive ? user : giveOwner(tx, user, actor.id);
}
