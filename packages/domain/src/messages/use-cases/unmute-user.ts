import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { UserId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { publishMutedUsers } from '../muted-user-events.js';
import { requireMutable } from '../muted-users.js';

/** What somebody writes arrives unread again (users §10). */
export class UnmuteUser {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, NOT_PERMITTED, USER_NOT_MUTED */
  execute(caller: Caller, { userId: senderId }: { readonly userId: UserId }): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      await requireMutable(tx, actor, senderId);
      const muted = await tx.personal.listMutedSenders(caller);
      if (!muted.some(({ userId }) => userId === senderId)) {
        throw new DomainError('USER_NOT_MUTED', 'User is not muted');
      }
      await tx.personal.unmuteSender(caller, senderId);
      await publishMutedUsers(tx, actor);
    });
  }
}
