import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { DraftId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { type Draft, mustSynchronizeDrafts, requireRoomForDraftText } from '../draft.js';
import { publishDrafts } from '../draft-events.js';
import { type DraftInput, parseDrafts } from '../parse-drafts.js';

export interface ChangeDraftInput {
  readonly id: DraftId;
  readonly draft: DraftInput;
}

export const unknownDraft = () => new DomainError('UNKNOWN_DRAFT', 'Draft does not exist');

/** Puts another draft in the place of one (users §17). */
export class ChangeDraft {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError DRAFTS_NOT_SYNCHRONIZED, UNKNOWN_DRAFT, INVALID_DRAFT, INVALID_MESSAGE_CONTENT, UNKNOWN_CHANNEL,
   * UNKNOWN_USER, TOO_MANY_DRAFTS
   */
  execute(caller: Caller, { id, draft: input }: ChangeDraftInput): Promise<void> {
    const { realmId, userId } = caller;
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustSynchronizeDrafts((await tx.users.find(realmId, userId))!));
      const before = await tx.drafts.find(realmId, userId, id);
      if (!before) throw unknownDraft();
      const [parsed] = await parseDrafts(tx, actor, [input], this.clock.nowMs() / 1000);
      const draft: Draft = { id, ...parsed! };
      requireRoomForDraftText(await tx.drafts.countBytes(realmId, userId), [draft.content], [before.content]);
      await tx.drafts.update(draft);
      await publishDrafts(tx, actor, { type: 'draft.changed', draft });
    });
  }
}
