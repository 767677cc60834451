import type { Caller } from '../../kernel/caller.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { type Draft, MAX_DRAFTS, mustSynchronizeDrafts } from '../draft.js';

/** One's own, the last edited last (users §17). */
export class ListDrafts {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError DRAFTS_NOT_SYNCHRONIZED */
  execute({ realmId, userId }: Caller): Promise<readonly Draft[]> {
    return this.uow.read(async ({ users, drafts }) => {
      enforce(mustSynchronizeDrafts((await users.find(realmId, userId))!));
      return [...(await drafts.list(realmId, userId, MAX_DRAFTS))].reverse();
    });
  }
}
