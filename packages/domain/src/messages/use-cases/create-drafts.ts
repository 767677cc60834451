import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { DraftId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { type Draft, mustSynchronizeDrafts, requireRoomForDrafts, requireRoomForDraftText } from '../draft.js';
import { publishDrafts } from '../draft-events.js';
import { type DraftInput, parseDrafts } from '../parse-drafts.js';

/** Keeps drafts: all that are given, or none (users §17). Answers their ids in the order in which they are given. */
export class CreateDrafts {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError DRAFTS_NOT_SYNCHRONIZED, INVALID_DRAFT, INVALID_MESSAGE_CONTENT, UNKNOWN_CHANNEL, UNKNOWN_USER,
   * TOO_MANY_DRAFTS
   */
  execute(caller: Caller, inputs: readonly DraftInput[]): Promise<readonly DraftId[]> {
    const { realmId, userId } = caller;
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustSynchronizeDrafts((await tx.users.find(realmId, userId))!));
      const parsed = await parseDrafts(tx, actor, inputs, this.clock.nowMs() / 1000);
      requireRoomForDrafts((await tx.drafts.count(realmId, userId)) + parsed.length);
      const contents = parsed.map(({ content }) => content);
      requireRoomForDraftText(await tx.drafts.countBytes(realmId, userId), contents);
      const drafts: Draft[] = [];
      for (const draft of parsed) {
        drafts.push(await tx.drafts.add(draft));
        await tx.yield();
      }
      await publishDrafts(tx, actor, { type: 'draft.added', drafts });
      return drafts.map(({ id }) => id);
    });
  }
}
