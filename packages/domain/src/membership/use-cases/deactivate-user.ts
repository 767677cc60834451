import { mustBeHuman } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { isOnlyOwnerOf } from '../../users/owners.js';
import { canDeactivateSelf, canDeactivateUser } from '../../users/user-permissions.js';
import { type Deletions, deactivateWithBots } from '../deactivate-user.js';
import { planDeactivationLetter } from '../deactivation-letter.js';

export interface DeactivateUserInput {
  readonly userId: UserId;
  /** At most `MAX_DEACTIVATION_COMMENT_LENGTH`. Goes to the user by mail; absent: no mail is sent. */
  readonly comment?: string;
  /** What is deleted with the account; absent: nothing. */
  readonly deletions?: Omit<Deletions, 'byId'>;
}

/** An administrator ends an account; what it holds stays (users §4.1). */
export class DeactivateUser {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED, MUST_BE_OWNER, LAST_OWNER */
  execute(caller: Caller, { userId, comment, deletions }: DeactivateUserInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const user = await tx.users.find(caller.realmId, userId);
      const isOnlyOwner = user?.role === 'owner' && (await isOnlyOwnerOf(tx, caller.realmId, userId));
      enforce(canDeactivateUser(actor, user, isOnlyOwner));
      const realm = await tx.realms.get(caller.realmId);
      await deactivateWithBots(tx, realm, user!, this.clock.now(), deletions && { ...deletions, byId: actor.id });
      if (comment === undefined) return;
      await planDeactivationLetter(tx, realm, { userId, byId: actor.id, comment }, this.clock.now());
    });
  }
}

/** Users end their own accounts (users §4.2). */
export class DeactivateSelf {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError MUST_NOT_BE_BOT, CANNOT_DEACTIVATE_LAST_USER */
  execute(caller: Caller): Promise<void> {
    const { realmId, userId } = caller;
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustBeHuman(actor));
      const entries = await tx.users.listEntries(realmId);
      const isLastActive = !entries.some(({ id, isActive }) => isActive && id !== userId);
      const isOnlyOwner = actor.role === 'owner' && (await isOnlyOwnerOf(tx, realmId, userId));
      enforce(canDeactivateSelf(actor, { isLastActive, isOnlyOwner }));
      const user = (await tx.users.find(realmId, userId))!;
      await deactivateWithBots(tx, await tx.realms.get(realmId), user, this.clock.now());
    });
  }
}
