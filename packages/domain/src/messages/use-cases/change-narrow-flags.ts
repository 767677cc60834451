import type { Caller } from '../../kernel/caller.js';
import type { ChannelId, MessageId } from '../../kernel/ids.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { SearchWords } from '../../markdown/markdown.js';
import { changeFlags, type FlagChangeInput } from '../change-flags.js';
import { checkRange, clampRange, type PageRange, selectPage } from '../message-page.js';
import { resolveNarrow } from '../narrow.js';
import type { NarrowTerm } from '../narrow-operators.js';

export interface ChangeNarrowFlagsInput extends FlagChangeInput {
  readonly narrow: readonly NarrowTerm[];
  readonly range: PageRange;
}

export interface ChangeNarrowFlagsOutput {
  readonly processedCount: number;
  readonly updatedCount: number;
  readonly firstProcessedId: MessageId | null;
  readonly lastProcessedId: MessageId | null;
  readonly foundOldest: boolean;
  readonly foundNewest: boolean;
  readonly ignoredChannelIds: readonly ChannelId[];
}

/** Marks a range of a narrow (messages §13.2). */
export class ChangeNarrowFlags {
  static readonly inject = ['unitOfWork', 'realmUrls', 'renderedMessages'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly words: SearchWords,
  ) {}

  /** @throws DomainError UNKNOWN_FLAG, FLAG_NOT_EDITABLE, INVALID_FLAG_OPERATION, INVALID_MESSAGE_RANGE, INVALID_NARROW */
  execute(caller: Caller, { narrow, range, ...change }: ChangeNarrowFlagsInput): Promise<ChangeNarrowFlagsOutput> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      checkRange(range);
      const resolved = await resolveNarrow({ reads: tx, actor, realmUrls: this.realmUrls, words: this.words }, narrow);
      const page = await selectPage(tx, actor, resolved, clampRange(range));
      const ids = page.entries.map((entry) => entry.id);
      const { changedIds, ignoredChannelIds } = await changeFlags(tx, actor, ids, change);
      return {
        processedCount: ids.length,
        updatedCount: changedIds.length,
        firstProcessedId: ids[0] ?? null,
        lastProcessedId: ids.at(-1) ?? null,
        foundOldest: page.foundOldest,
        foundNewest: page.foundNewest,
        ignoredChannelIds,
      };
    });
  }
}
