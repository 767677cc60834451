import type { Caller, DraftId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { DRAFT_LIST, type Draft, type DraftInput, mustSynchronizeDrafts, parseDrafts } from './drafts.js';

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
        await DRAFT_LIST.publish(tx, caller, { type: 'draft.added', drafts });
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
