import type { Caller, DraftId, MessageId, RealmId } from '../kernel/ids.js';
import type { Job, JobHandler, JobWork } from '../kernel/jobs.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { lastOf } from '../kernel/work.js';
import { cutContent, MAX_MESSAGE_LENGTH } from '../messages/message.js';
import {
  DELETED_QUOTE_JOB,
  DRAFT_LIST,
  type Draft,
  type DraftInput,
  mustSynchronizeDrafts,
  parseDrafts,
} from './drafts.js';
import { withoutQuotesOf } from './quotes.js';

/** Lists the caller's drafts, last edited last (users §17). */
export class ListDrafts {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError DRAFTS_NOT_SYNCHRONIZED */
  execute({ realmId, userId }: Caller): Promise<readonly Draft[]> {
    return this.uow.read(realmId, async (reads) => {
      enforce(mustSynchronizeDrafts(await reads.users.get(realmId, userId)));
      return [...(await DRAFT_LIST.list(reads, { realmId, userId }))].reverse();
    });
  }
}

/** Stores drafts atomically (users §17). Returns their ids in request order. */
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
    return this.uow.write(
      realmId,
      async (tx) => {
        const actor = await tx.actors.get(caller);
        enforce(mustSynchronizeDrafts(await tx.users.get(realmId, userId)));
        const parsed = await parseDrafts(tx, actor, inputs, this.clock.nowMs() / 1000);
        await DRAFT_LIST.requireRoom(tx, caller, parsed.length);
        await DRAFT_LIST.requireRoomForTexts(tx, caller, parsed);
        const drafts = await Promise.all(parsed.map((draft) => tx.drafts.add(draft)));
        const only = drafts.length === 1 ? drafts[0] : undefined;
        await DRAFT_LIST.publish(tx, caller, { type: 'draft.added', drafts }, only);
        return drafts.map(({ id }) => id);
      },
      { shared: { kind: 'drafts', userId } },
    );
  }
}

export interface ChangeDraftInput {
  readonly id: DraftId;
  readonly draft: DraftInput;
}

/** Replaces a draft (users §17). */
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
    return this.uow.write(
      realmId,
      async (tx) => {
        const actor = await tx.actors.get(caller);
        enforce(mustSynchronizeDrafts(await tx.users.get(realmId, userId)));
        const before = await DRAFT_LIST.get(tx, caller, id);
        const [parsed] = await parseDrafts(tx, actor, [input], this.clock.nowMs() / 1000);
        await DRAFT_LIST.change(tx, before, { id, ...parsed! });
      },
      { shared: { kind: 'drafts', userId } },
    );
  }
}

/** Deletes one of the caller's drafts (users §17). */
export class DeleteDraft {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError DRAFTS_NOT_SYNCHRONIZED, UNKNOWN_DRAFT */
  execute(caller: Caller, { id }: { readonly id: DraftId }): Promise<void> {
    const { realmId, userId } = caller;
    return this.uow.write(
      realmId,
      async (tx) => {
        await tx.actors.get(caller);
        enforce(mustSynchronizeDrafts(await tx.users.get(realmId, userId)));
        await DRAFT_LIST.remove(tx, await DRAFT_LIST.get(tx, caller, id));
      },
      { shared: { kind: 'drafts', userId } },
    );
  }
}

/** Drafts per unit of work. */
const AT_ONCE = 20;

/** Removes the text of a deleted message from the drafts that quote it, even if the message was restored (users §17). */
export class RemoveQuotesFromDrafts implements JobHandler<{ readonly id: number }> {
  static readonly inject = ['unitOfWork'] as const;

  readonly kind = DELETED_QUOTE_JOB;

  constructor(private readonly uow: UnitOfWork) {}

  async prepare({ realmId, payload }: Job<{ readonly id: number }>): Promise<JobWork> {
    const messageId = payload.id as MessageId;
    for (let after: number | null = 0; after !== null; ) after = await this.changeSome(realmId, messageId, after);
    return async () => {};
  }

  /** Returns the id of the draft to continue after, or null when finished. */
  private changeSome(realmId: RealmId, messageId: MessageId, after: number): Promise<number | null> {
    return this.uow.write(realmId, async (tx) => {
      const drafts = await tx.drafts.listQuoting(realmId, messageId, after, AT_ONCE);
      for (const draft of drafts) {
        const content = cutContent(withoutQuotesOf(messageId, draft.content), MAX_MESSAGE_LENGTH);
        // Published even if it has not changed, because the deletion may have removed earlier events with it.
        await tx.drafts.update({ ...draft, content });
        await DRAFT_LIST.publishChanged(tx, { ...draft, content });
      }
      return drafts.length < AT_ONCE ? null : lastOf(drafts).id;
    });
  }
}
