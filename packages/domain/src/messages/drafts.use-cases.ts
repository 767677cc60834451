import { DomainError } from '../kernel/errors.js';
import type { Caller, DraftId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import {
  type Draft,
  type DraftInput,
  MAX_DRAFTS,
  mustSynchronizeDrafts,
  parseDrafts,
  publishDrafts,
  requireRoomForDrafts,
  requireRoomForDraftText,
} from './drafts.js';

/** Lists the caller's drafts, last edited last (users §17). */
export class ListDrafts {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError DRAFTS_NOT_SYNCHRONIZED */
  execute({ realmId, userId }: Caller): Promise<readonly Draft[]> {
    return this.uow.read(realmId, async ({ users, drafts }) => {
      enforce(mustSynchronizeDrafts((await users.find(realmId, userId))!));
      return [...(await drafts.list(realmId, userId, MAX_DRAFTS))].reverse();
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
        enforce(mustSynchronizeDrafts((await tx.users.find(realmId, userId))!));
        const parsed = await parseDrafts(tx, actor, inputs, this.clock.nowMs() / 1000);
        requireRoomForDrafts((await tx.drafts.count(realmId, userId)) + parsed.length);
        const contents = parsed.map(({ content }) => content);
        requireRoomForDraftText(await tx.drafts.countBytes(realmId, userId), contents);
        const drafts = await Promise.all(parsed.map((draft) => tx.drafts.add(draft)));
        await publishDrafts(tx, actor, { type: 'draft.added', drafts });
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

export const unknownDraft = () => new DomainError('UNKNOWN_DRAFT', 'Draft does not exist');

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
        enforce(mustSynchronizeDrafts((await tx.users.find(realmId, userId))!));
        const before = await tx.drafts.find(realmId, userId, id);
        if (!before) throw unknownDraft();
        const [parsed] = await parseDrafts(tx, actor, [input], this.clock.nowMs() / 1000);
        const draft: Draft = { id, ...parsed! };
        requireRoomForDraftText(await tx.drafts.countBytes(realmId, userId), [draft.content], [before.content]);
        await tx.drafts.update(draft);
        await publishDrafts(tx, actor, { type: 'draft.changed', draft });
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
        const actor = await tx.actors.get(caller);
        enforce(mustSynchronizeDrafts((await tx.users.find(realmId, userId))!));
        if (!(await tx.drafts.find(realmId, userId, id))) throw unknownDraft();
        await tx.drafts.remove(realmId, userId, id);
        await publishDrafts(tx, actor, { type: 'draft.removed', id });
      },
      { shared: { kind: 'drafts', userId } },
    );
  }
}
