import type { Caller } from '../../kernel/caller.js';
import type { DraftId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { mustSynchronizeDrafts } from '../draft.js';
import { publishDrafts } from '../draft-events.js';
import { unknownDraft } from './change-draft.js';

/** Deletes a draft of one's own (users §17). */
export class DeleteDraft {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError DRAFTS_NOT_SYNCHRONIZED, UNKNOWN_DRAFT */
  execute(caller: Caller, { id }: { readonly id: DraftId }): Promise<void> {
    const { realmId, userId } = caller;
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustSynchronizeDrafts((await tx.users.find(realmId, userId))!));
      if (!(await tx.drafts.find(realmId, userId, id))) throw unknownDraft();
      await tx.drafts.remove(realmId, userId, id);
      await publishDrafts(tx, actor, { type: 'draft.removed', id });
    });
  }
}
